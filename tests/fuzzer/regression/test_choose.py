"""Which cases a regression corpus keeps."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from regression_by_hand import candidate

from fuzzer.regression.choose import SHARE_OF_FINDINGS, Limits, chosen

PLENTY = Limits(100, 10**9, 10**9)


def sources(found: object) -> list[str]:
    return [each.source for each in found]  # type: ignore[attr-defined]


def test_tests_that_add_nothing_are_left_out_and_the_rest_comes_by_gain() -> None:
    tests = [candidate(0, "a"), candidate(1, "a b c"), candidate(2, "c d"), candidate(3, "b")]
    assert sources(chosen([], tests, PLENTY)) == ["test 1", "test 2"]


def test_what_counts_is_the_gain_per_cpu_second() -> None:
    tests = [candidate(0, "a b c", cpu_seconds=9.0), candidate(1, "a", cpu_seconds=1.0)]
    assert sources(chosen([], tests, Limits(1, 10**9, 100.0))) == ["test 1"]


def test_findings_come_first_in_their_order_and_count_as_covered() -> None:
    findings = [candidate(7, "a"), candidate(8, "a")]
    assert sources(chosen(findings, [candidate(0, "a"), candidate(1, "b")], PLENTY)) == ["test 7", "test 8", "test 1"]


def test_findings_take_a_part_of_each_limit() -> None:
    findings = [candidate(number, "a") for number in range(10)]
    assert len(chosen(findings, [], Limits(10, 10**9, 10**9))) == int(10 * SHARE_OF_FINDINGS)
    assert len(chosen(findings, [], Limits(100, 1000, 10**9))) == int(10 * SHARE_OF_FINDINGS)
    assert len(chosen(findings, [], Limits(100, 10**9, 10.0))) == int(10 * SHARE_OF_FINDINGS)


def test_a_case_is_kept_once() -> None:
    assert sources(chosen([candidate(1, "a")], [candidate(1, "b")], PLENTY)) == ["test 1"]


def test_a_test_that_does_not_fit_leaves_room_for_a_smaller_one() -> None:
    tests = [candidate(0, "a b c", size=900), candidate(1, "a", size=90)]
    assert sources(chosen([], tests, Limits(100, 100, 10**9))) == ["test 1"]


@given(
    st.lists(st.tuples(st.sets(st.sampled_from("abcdefgh"), min_size=1), st.integers(1, 9)), min_size=1, max_size=12),
    st.integers(1, 12),
    st.integers(1, 40),
)
def test_limits_hold_and_all_is_covered_where_there_is_room(
    drawn: list[tuple[set[str], int]], cases: int, seconds: int
) -> None:
    tests = [candidate(n, " ".join(sorted(names)), float(cost)) for n, (names, cost) in enumerate(drawn)]
    kept = chosen([], tests, Limits(cases, 10**9, float(seconds)))
    assert len(kept) <= cases
    assert sum(each.cpu_seconds for each in kept) <= seconds
    for before, each in enumerate(kept):
        assert each.features - frozenset().union(*(other.features for other in kept[:before]))
    everything = chosen([], tests, PLENTY)
    assert frozenset().union(*(each.features for each in everything)) == frozenset().union(*(a for a, _ in drawn))
