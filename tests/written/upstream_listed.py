"""The table of docs/dialects.md of bugs that others reported, and what it counts."""

from __future__ import annotations

import re
from typing import NamedTuple

from upstream_forms import Bug, upstream
from written_text import ROOT, Written

PAGE = "docs/dialects.md"
COLUMNS = "| bug | what the model has | reported | fixed | of 200 | 0.27.0.post1 | 0.25.0.post1 |"
ROW = re.compile(r"^\| \[(\d+)\]\(https://github\.com/apache/tvm/issues/\1\) \|" + r" (.*?) \|" * 6 + "$", re.MULTILINE)
UNFIXED = "-"
NOT_RUN = "-"


class Cells(NamedTuple):
    """A row of the table."""

    number: str
    title: str
    reported: str
    fixed: str
    drawn: str
    in_newest: str
    in_oldest: str


def cells(page: str) -> list[Cells]:
    return [Cells(*found) for found in ROW.findall(page)]


def table(now: str) -> str:
    """A row for each bug of the file. What runs have shown stays; a bug that has not run yet has a hyphen there."""
    before = {row.number: row for row in cells(now)}
    return "\n".join([COLUMNS, "|---" * 7 + "|", *(_line(bug, before.get(str(bug.number))) for bug in upstream().bug)])


def _line(bug: Bug, before: Cells | None) -> str:
    measured = (before.drawn, before.in_newest, before.in_oldest) if before else (NOT_RUN,) * 3
    if bug.why_not:
        measured = (f"none: {bug.why_not}", NOT_RUN, NOT_RUN)
    link = f"[{bug.number}](https://github.com/apache/tvm/issues/{bug.number})"
    return f"| {' | '.join((link, bug.title, bug.reported, bug.fixed or UNFIXED, *measured))} |"


def rows() -> list[Cells]:
    return cells((ROOT / PAGE).read_text())


def drawn(_: str) -> str:
    return f"Of {len(rows())} bugs, cases have the form of {sum(row.drawn.isdigit() for row in rows())}."


def unfixed(_: str) -> str:
    found = [row for row in rows() if row.fixed == UNFIXED]
    return f"Of {len(found)} bugs without a fix, {sum('shown' in row.in_newest for row in found)} are"


def recent(_: str) -> str:
    found = [row for row in rows() if row.fixed in ("0.26", "0.27")]
    shown = sum("shown" in row.in_oldest for row in found)
    return f"Of {len(found)} bugs with a fix in 0.26 or 0.27, {shown} are"


ROWS = (
    Written("bugs-of-others", PAGE, table),
    Written("bugs-drawn", PAGE, drawn),
    Written("bugs-unfixed", PAGE, unfixed),
    Written("bugs-with-recent-fixes", PAGE, recent),
)
