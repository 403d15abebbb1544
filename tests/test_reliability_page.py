"""What docs/reliability.md quotes is what its commands print."""

from __future__ import annotations

import re
from pathlib import Path

from fuzzer.lanes.abuses import ABUSES

PAGE = (Path(__file__).parents[1] / "docs" / "reliability.md").read_text()


def test_each_abuse_has_a_line() -> None:
    assert re.findall(r"^(?:ok |BAD) (\w+) ", PAGE, re.M) == sorted(ABUSES)
    assert f"\n0 of {len(ABUSES)} abuses did harm\n" in PAGE
    assert "BAD" not in PAGE
