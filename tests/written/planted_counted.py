"""How many hostile files and planted changes there are, as docs/reliability.md and docs/diff.md say."""

from __future__ import annotations

from collections import Counter
from functools import cache

from changes_of_tvm.table import HARMLESS, WORSE, Part
from hostile.rows import rows
from written_text import Written


@cache
def hostile() -> tuple[int, int]:
    """Rows, and runs: each row goes through several commands."""
    made = list(rows())
    return len({row.name for row in made}), sum(len(row.commands) for row in made)


def changes(_: str) -> str:
    parts = Counter(change.part for change in WORSE)
    return (
        f"{len(WORSE)} changes of TVM for the worse: {parts[Part.FRONTEND]} in frontends, "
        f"{parts[Part.LEGALIZATION]} in legalizations and {parts[Part.PASS]} in passes"
    )


ROWS = (
    Written("hostile-rows", "docs/reliability.md", lambda _: f"{hostile()[0]} rows"),
    Written("hostile-runs", "docs/reliability.md", lambda _: f"{hostile()[1]:,} runs"),
    Written("planted-changes", "docs/diff.md", changes),
    Written("rare-changes", "docs/diff.md", lambda _: f"{sum(change.rare for change in WORSE)} show"),
    Written("harmless-changes", "docs/diff.md", lambda _: f"{len(HARMLESS)} changes alter"),
)
