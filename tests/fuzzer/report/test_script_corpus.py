"""The text of scripts changes only on purpose. `make docs` writes script_corpus.sha256: a digest for each lane."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzer.findings.record import read
from fuzzer.report import repro

CRASHES = Path(__file__).parents[3] / "crashes"
SHIPPED = sorted((CRASHES / "SHIPPED").read_text().split())


@pytest.mark.parametrize("slug", SHIPPED)
def test_a_shipped_finding_gives_the_script_that_it_ships_with(slug: str) -> None:
    assert repro.script(read(CRASHES / slug)) == (CRASHES / slug / "repro.py").read_text()
