"""docs/upkeep.md: how many lines parts have that a user may never call."""

from __future__ import annotations

import re

from written_text import ROOT, Written

MOST_OFF = 0.2
"""A figure that is off by more is written anew, so that not each change of a part changes the page."""

CELLS = re.compile(r"(?P<before>\| )(?P<patterns>`[^|]+`) \| (?P<lines>[\d,]+) \|")


def lines_of(patterns: str) -> int:
    """The lines of the files of some patterns. Raise `ValueError` where one names no file."""
    found = {pattern: sorted(ROOT.glob(pattern)) for pattern in re.findall(r"`([^`]+)`", patterns)}
    if empty := [pattern for pattern, paths in found.items() if not paths]:
        raise ValueError(f"{', '.join(empty)} names no file")
    return sum(len(path.read_text().splitlines()) for paths in found.values() for path in paths)


def table(now: str) -> str:
    def counted(match: re.Match[str]) -> str:
        before, lines = int(match["lines"].replace(",", "")), lines_of(match["patterns"])
        number = before if abs(lines / before - 1) < MOST_OFF else round(lines, -1)
        return f"{match['before']}{match['patterns']} | {number:,} |"

    return CELLS.sub(counted, now)


ROWS = (Written("lines-of-parts", "docs/upkeep.md", table),)
