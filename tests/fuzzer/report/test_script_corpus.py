"""The text of scripts changes only on purpose.

After a change that is meant, `PYTHONPATH=.:tests:tests/generators python tests/script_corpus.py` writes the digests.
With a folder as argument it writes all scripts, which `diff -r` compares with those of the version before.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import script_corpus

from fuzzer.findings.record import read
from fuzzer.report import repro

CRASHES = Path(__file__).parents[3] / "crashes"
SHIPPED = sorted((CRASHES / "SHIPPED").read_text().split())


@pytest.mark.slow
@pytest.mark.long
def test_scripts_of_every_lane_and_evidence_are_what_they_were() -> None:
    lines = script_corpus.DIGESTS.read_text().splitlines()
    assert script_corpus.digests() == {lane: digest for digest, _, lane in (line.partition("  ") for line in lines)}


@pytest.mark.parametrize("slug", SHIPPED)
def test_a_shipped_finding_gives_the_script_that_it_ships_with(slug: str) -> None:
    assert repro.script(read(CRASHES / slug)) == (CRASHES / slug / "repro.py").read_text()
