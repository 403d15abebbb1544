"""How much of the results of a campaign's tests is judged, as it is counted and shown."""

from __future__ import annotations

from collections import Counter

from fuzzer.campaign.store.judged_counts import JudgedCounts
from fuzzer.watching.judged_lines import judged_lines
from oracles.judged_elements import JudgedElements, Unjudged

FOUND = (
    JudgedElements(10, Counter({Unjudged.ILL: 2, Unjudged.WIDE: 1}), "", True, 6, 5),
    JudgedElements(3, Counter({Unjudged.WIDE: 3}), "", True, 0, 0),
    JudgedElements(1, Counter(), "", True, 1, 1),
    JudgedElements(6, Counter(), "", True, 6, 1),
    JudgedElements(4, Counter(), "", False, 0, 0),
)


def counted(*found: JudgedElements) -> JudgedCounts:
    counts = JudgedCounts()
    for each in found:
        counts.add(each)
    return counts


def test_tests_with_floats_are_counted_by_what_they_judge() -> None:
    assert counted(*FOUND) == JudgedCounts(
        elements=24,
        unjudged={str(Unjudged.ILL): 2, str(Unjudged.WIDE): 4},
        with_floats=4,
        no_float=1,
        few_floats=2,
        equal_floats=3,
    )
    assert counted(*FOUND).judged == 18


def test_the_lines() -> None:
    assert list(judged_lines(counted(*FOUND))) == [
        "18 of 24 elements are judged; 16.67% not: the tolerance is as wide as the number; "
        "8.33% not: rounding decides it",
        "4 tests with floats in their results: in 1 no float is judged, "
        "in 2 at most 2 are judged, in 3 all judged ones are equal",
    ]
    assert list(judged_lines(counted(FOUND[4]))) == ["4 of 4 elements are judged"]
    assert list(judged_lines(JudgedCounts())) == []
