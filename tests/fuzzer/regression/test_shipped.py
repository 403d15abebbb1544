"""The regression corpus that ships with difftvm, and what docs/regression.md says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzer.regression.known import shown_again
from fuzzer.regression.record import CASES, DESCRIPTION, EXPECTED, name_of, read
from fuzzer.regression.shipped import KEPT, shipped_cases

PAGE = Path(__file__).parents[3] / "docs" / "regression.md"


@pytest.mark.slow
def test_it_is_small_and_whole() -> None:
    kept = read(KEPT)
    assert len(kept.entries) <= 2000
    assert sum((KEPT / name).stat().st_size for name in (DESCRIPTION, EXPECTED, CASES)) < 5_000_000
    assert all(name_of(case) == name for name, case in kept.cases.items())
    assert {lane for entry in kept.entries for lane in (*entry.right, *entry.unsupported, *entry.fails)} == set(
        kept.lanes
    )
    assert {name for entry in kept.entries for name in entry.fails.values()} == set(kept.description.failures)


@pytest.mark.slow
def test_the_page_has_its_figures() -> None:
    kept, page = read(KEPT), PAGE.read_text()
    size = sum((KEPT / name).stat().st_size for name in (DESCRIPTION, EXPECTED, CASES)) / 1e6
    findings = sum(not entry.source.startswith("test ") for entry in kept.entries)
    tests = len(kept.entries) - findings
    assert f"{len(kept.entries):,} cases in corpus/kept, {size:.1f} MB: {findings:,} of findings, {tests:,} of" in page
    for kind, each in kept.description.coverage.items():
        share = 100 * each.covered / each.of
        assert f"{kind}: {each.covered:,} of {each.of:,} features ({share:.0f} %)" in page
    lanes = sum(len(entry.right) + len(entry.unsupported) + len(entry.fails) for entry in kept.entries)
    assert f"{len(kept.entries):,} cases, {lanes:,} lanes in host" in page
    assert f"{len(kept.description.failures):,} failures are expected" in page
    shown = shown_again(kept, set(kept.lanes), ())
    assert (
        f"\n{len(shown):,} known failures as expected, in {len({each.family for each in shown}):,} families\n" in page
    )
    explained = {each.family for each in kept.description.failures.values()} - {""}
    assert f"In the shipped corpus, {len(explained)} families are those of findings" in " ".join(page.split())


@pytest.mark.slow
def test_only_cases_of_the_given_operators_are_taken() -> None:
    everything = {op for case in read(KEPT).cases.values() for op in case.graph.ops}
    assert len(shipped_cases(everything)) == len(read(KEPT).entries)
    relu = shipped_cases({"relu", "add"})
    assert relu
    assert {op for case in relu for op in case.graph.ops} <= {"relu", "add"}
