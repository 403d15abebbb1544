"""Covering arrays: each tuple that is possible occurs, and none that is excluded."""

from __future__ import annotations

import math
from itertools import combinations, product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fuzzer.campaign.plan.covering import Exclusions, Row, Value, covering_array, possible_tuples, tuples_of
from generators.choice import NumpySource

NONE = ()


def array(
    sizes: tuple[int, ...], n: int, pairs: tuple[tuple[Value, Value], ...] = NONE, seed: int = 1
) -> tuple[Row, ...]:
    return covering_array(NumpySource(seed), sizes, n, Exclusions(sizes, pairs))


def legal_rows(sizes: tuple[int, ...], pairs: tuple[tuple[Value, Value], ...]) -> list[Row]:
    rows = product(*map(range, sizes))
    return [row for row in rows if not any({one, other} <= set(enumerate(row)) for one, other in pairs)]


@st.composite
def problems(draw: st.DrawFn) -> tuple[tuple[int, ...], int, tuple[tuple[Value, Value], ...]]:
    sizes = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=5)))
    values = [(factor, value) for factor, size in enumerate(sizes) for value in range(size)]
    possible = [(one, other) for one, other in combinations(values, 2) if one[0] != other[0]]
    pairs = tuple(draw(st.lists(st.sampled_from(possible), max_size=4))) if possible else NONE
    return sizes, draw(st.integers(1, min(3, len(sizes)))), pairs


@pytest.mark.slow
@given(problems(), st.integers(0, 3))
def test_exactly_the_tuples_of_all_legal_rows_occur(
    problem: tuple[tuple[int, ...], int, tuple[tuple[Value, Value], ...]], seed: int
) -> None:
    """Compared with all rows, one by one."""
    sizes, n, pairs = problem
    legal = legal_rows(sizes, pairs)
    assume(legal)
    rows = array(sizes, n, pairs, seed)
    wanted = {found for row in legal for found in tuples_of(row, n)}
    assert {found for row in rows for found in tuples_of(row, n)} == wanted
    assert set(possible_tuples(sizes, n, Exclusions(sizes, pairs))) == wanted
    assert set(rows) <= set(legal)
    assert len(rows) <= len(wanted)


@pytest.mark.parametrize(
    ("sizes", "n", "most"),
    [
        ((2,) * 4, 2, 7),  # the smallest has 5
        ((3,) * 4, 2, 13),  # the smallest has 9
        ((2,) * 30, 2, 14),
        ((2,) * 20 + (3, 4, 5), 2, 28),  # the smallest has at least 20
        ((2,) * 10, 3, 24),  # the smallest has 12
        ((5,), 1, 5),
    ],
)
def test_arrays_are_small(sizes: tuple[int, ...], n: int, most: int) -> None:
    rows = array(sizes, n)
    assert math.prod(sorted(sizes)[-n:]) <= len(rows) <= most


def test_no_row_is_there_where_no_value_is_legal() -> None:
    everything = tuple(((0, a), (1, b)) for a in range(2) for b in range(2))
    assert array((2, 2), 2, everything) == ()


def test_the_first_rows_cover_the_most() -> None:
    covered, new = set[object](), []
    for row in array((2,) * 12, 2):
        found = set(tuples_of(row, 2))
        new.append(len(found - covered))
        covered |= found
    assert new[0] == math.comb(12, 2)
    assert sum(new[:4]) > sum(new) * 0.75


def test_the_choices_decide() -> None:
    assert array((2,) * 8, 2) == array((2,) * 8, 2)
    assert array((2,) * 8, 2) != array((2,) * 8, 2, seed=2)
