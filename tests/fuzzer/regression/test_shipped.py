"""The regression corpus that ships with difftvm."""

from __future__ import annotations

import pytest

from fuzzer.regression import record
from fuzzer.regression.record import CASES, DESCRIPTION, EXPECTED, Corpus, name_of
from fuzzer.regression.shipped import KEPT, shipped_cases


@pytest.fixture(scope="module")
def kept() -> Corpus:
    return record.read(KEPT)


@pytest.mark.slow
def test_it_is_small_and_whole(kept: Corpus) -> None:
    assert len(kept.entries) <= 2000
    assert sum((KEPT / name).stat().st_size for name in (DESCRIPTION, EXPECTED, CASES)) < 5_000_000
    assert all(name_of(case) == name for name, case in kept.cases.items())
    assert {lane for entry in kept.entries for lane in (*entry.right, *entry.unsupported, *entry.fails)} == set(
        kept.lanes
    )
    assert {name for entry in kept.entries for name in entry.fails.values()} == set(kept.description.failures)


@pytest.mark.slow
def test_only_cases_of_the_given_operators_are_taken(kept: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "read", {KEPT: kept}.__getitem__)  # once: it takes most of a second
    everything = {op for case in kept.cases.values() for op in case.graph.ops}
    assert len(shipped_cases(everything)) == len(kept.entries)
    relu = shipped_cases({"relu", "add"})
    assert relu
    assert {op for case in relu for op in case.graph.ops} <= {"relu", "add"}
