"""The lines that docs/upkeep.md quotes."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROW = re.compile(
    r"^\| (?P<part>[^|]+) \| (?P<code>`[^|]+`) \| (?P<lines>[\d,]+) \| (?P<tests>`[^|]+`) \| (?P<of_tests>[\d,]+) \|",
    re.M,
)


def lines_of(patterns: str) -> int:
    found = [sorted(ROOT.glob(pattern)) for pattern in re.findall(r"`([^`]+)`", patterns)]
    assert all(found), f"a pattern of {patterns} names no file"
    return sum(len(path.read_text().splitlines()) for paths in found for path in paths)


def test_lines_are_within_a_fifth() -> None:
    rows = list(ROW.finditer((ROOT / "docs" / "upkeep.md").read_text()))
    assert len(rows) >= 7
    for row in rows:
        for patterns, quoted in ((row["code"], row["lines"]), (row["tests"], row["of_tests"])):
            assert abs(lines_of(patterns) / int(quoted.replace(",", "")) - 1) < 0.2, (row["part"], lines_of(patterns))
