"""What README.md, .gitignore and crashes/ have of the findings that ship with the project."""

from __future__ import annotations

import ast
import re
from functools import partial

from written_text import ROOT, Written, code_block

from fuzzer.findings import record
from fuzzer.report import issue
from fuzzer.report.title import plain_title

CRASHES = ROOT / "crashes"


def shipped() -> list[str]:
    return (CRASHES / "SHIPPED").read_text().split()


def count(_: str) -> str:
    return f"{len(shipped())}"


def titles(now: str) -> str:
    """The rows of a table, each with the title of its finding."""

    def titled(row: re.Match[str]) -> str:
        return f"| [{plain_title(record.read(CRASHES / row[1]))}](crashes/{row[1]}/issue.md) |"

    return re.sub(r"^\| \[.*\]\(crashes/(\S+)/issue.md\) \|", titled, now, flags=re.MULTILINE)


def model(_: str) -> str:
    """The model in the script of the finding that the page replays."""
    (slug,) = set(re.findall(r"^\$ fuzz --replay crashes/(\S+)", (ROOT / "README.md").read_text(), re.MULTILINE))
    script = (CRASHES / slug / "repro.py").read_text()
    (found,) = (node for node in ast.parse(script).body if isinstance(node, ast.ClassDef) and node.name == "Model")
    return code_block("\n".join(script.splitlines()[found.lineno - 1 : found.end_lineno]), "python")


def tracked(now: str) -> str:
    """Git ignores what campaigns put into crashes/, but for the findings that ship with the project."""
    kept = [f"!/crashes/{name}\n" for name in ("README.md", "SHIPPED", *(f"{slug}/" for slug in shipped()))]
    lines = [line for line in now.splitlines(keepends=True) if not line.startswith("!/crashes/")]
    place = lines.index("/crashes/*\n") + 1
    return "".join([*lines[:place], *kept, *lines[place:]])


def report(slug: str, _: str) -> str:
    """The report of a finding. Lists take its title from there."""
    return issue.text(record.read(CRASHES / slug))


ROWS = (
    *(
        Written(f"report-of-{slug}", f"crashes/{slug}/issue.md", partial(report, slug), whole=True)
        for slug in shipped()
    ),
    Written("tracked-findings", ".gitignore", tracked, whole=True),
    Written("shipped-findings", "README.md", count),
    Written("shipped-findings", "crashes/README.md", count),
    Written("titles-of-findings", "README.md", titles),
    Written("model-of-a-finding", "README.md", model),
)
