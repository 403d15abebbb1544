"""What docs/diff.md says of the planted changes, against the table."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from changes_of_tvm.table import HARMLESS, WORSE, Part

PAGE = " ".join((Path(__file__).parents[2] / "docs" / "diff.md").read_text().split())


def test_the_page_says_how_many_changes_of_each_part_there_are() -> None:
    parts = Counter(change.part for change in WORSE)
    assert f"has {len(WORSE)} changes of TVM for the worse: {parts[Part.FRONTEND]} in frontends" in PAGE
    assert f"{parts[Part.LEGALIZATION]} in legalizations and {parts[Part.PASS]} in passes" in PAGE
    assert f"{sum(change.rare for change in WORSE)} of them show in few programs only" in PAGE
    assert f"| without effect | 0 of {len(HARMLESS)} |" in PAGE


def test_the_page_has_the_figures_of_them_all() -> None:
    found = re.search(r"\| for the worse \| (\d+) of (\d+) \| after \d+ s in the median; (\d+) within", PAGE)
    assert found
    assert (int(found[2]), int(found[3]) + 1) == (len(WORSE), int(found[1]))
    assert f"of them the rare ones | {sum(change.rare for change in WORSE)} of" in PAGE
