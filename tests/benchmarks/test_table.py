"""The table of benchmarks/README.md has each program, and the pages that quote it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
ROW = re.compile(r"^\| `(\w+\.py)` \| [A-Z].*[.?] \| (.*) \|$", re.MULTILINE)
PAGES = [*ROOT.glob("docs/*.md"), ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "crashes" / "README.md"]


def quoted() -> dict[str, list[str]]:
    """For each program, the pages that name it, relative to the table."""
    texts = {os.path.relpath(page, BENCHMARKS): page.read_text() for page in PAGES}
    programs = [path.name for path in BENCHMARKS.glob("*.py")]
    return {
        name: sorted(
            page for page, text in texts.items() if re.search(rf"(benchmarks/|(?<![\w/])){re.escape(name)}\b", text)
        )
        for name in programs
    }


@pytest.mark.slow
def test_the_table_has_each_program_and_the_pages_that_quote_it() -> None:
    rows = ROW.findall((BENCHMARKS / "README.md").read_text())
    assert len(rows) == len(dict(rows))
    assert {name: sorted(re.findall(r"\]\(([^)]*)\)", links)) for name, links in rows} == quoted()
