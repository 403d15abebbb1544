"""benchmarks/README.md: each program, and the pages that quote it."""

from __future__ import annotations

import ast
import os
import re
from functools import cache

from written_text import ROOT, Written

BENCHMARKS = ROOT / "benchmarks"
PAGES = [*sorted(ROOT.glob("docs/*.md")), ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "crashes" / "README.md"]
ROW = re.compile(r"^\| `(\w+\.py)` \| (.*) \| .*\|\n", re.MULTILINE)


def table(now: str) -> str:
    """The rows keep their places and what they say of a program. A new one comes last, with the beginning of its
    docstring."""
    programs = [path.name for path in sorted(BENCHMARKS.glob("*.py"))]

    def row(name: str, what: str) -> str:
        return f"| `{name}` | {what} | {_links(name)} |\n" if name in programs else ""

    known = [match[1] for match in ROW.finditer(now)]
    text = ROW.sub(lambda match: row(match[1], match[2]), now)
    return text + "".join(row(name, _beginning(name)) for name in programs if name not in known)


def _links(name: str) -> str:
    """Links to the pages that name a program: [scope](../docs/scope.md)."""
    quoting = re.compile(rf"(benchmarks/|(?<![\w/])){re.escape(name)}\b")
    pages = sorted(os.path.relpath(page, BENCHMARKS) for page, text in _texts().items() if quoting.search(text))
    return ", ".join(f"[{_title(page)}]({page})" for page in pages)


def _title(page: str) -> str:
    return page.removeprefix("../").removeprefix("docs/").removesuffix(".md")


@cache
def _texts() -> dict[str, str]:
    return {str(page): page.read_text() for page in PAGES}


def _beginning(name: str) -> str:
    docstring = ast.get_docstring(ast.parse((BENCHMARKS / name).read_text())) or ""
    return " ".join(docstring.partition("\n\n")[0].split())


ROWS = (Written("programs", "benchmarks/README.md", table, whole=True, marks=("slow",)),)
