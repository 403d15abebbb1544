"""The numeric equation, by hand: |lane - truth| > C x (envelope + |eager - truth| + ULPS ulps of the truth)."""

from __future__ import annotations

import fakes
import numpy as np
import pytest
from fakes import expect
from hypothesis import given
from hypothesis import strategies as st

from oracles.finding import Mismatch, Worst
from oracles.reference import Expected
from oracles.tolerance import ULPS, C, mismatch, tolerance

EPS = {"float32": 2.0**-23, "float64": 2.0**-52}
TINY = {"float32": 2.0**-126, "float64": 2.0**-1022}
INF, NAN = np.inf, np.nan

FLOATS = pytest.mark.parametrize("dtype", ["float32", "float64"])
SPREADS = st.floats(0.001, 100.0)


def wrong(actual: object, right: Expected) -> int:
    """How many elements are outside their tolerance."""
    found = mismatch(0, np.array(actual, right.eager.dtype), right)
    return found.wrong if found else 0


# --- the equation


@FLOATS
def test_equation(dtype: str) -> None:
    right = expect([2.0, -4.0], truth=[2.5, -4.0], envelope=[0.25, 1.0], dtype=dtype)
    bounds = [
        C * (0.25 + 0.5 + ULPS * EPS[dtype] * 2.5) + TINY[dtype],
        C * (1.0 + ULPS * EPS[dtype] * 4.0) + TINY[dtype],
    ]
    assert tolerance(right).tolist() == bounds


def test_integers_and_booleans_have_none() -> None:
    assert tolerance(expect([7, -3], envelope=1.0, dtype="int64")).tolist() == [0.0, 0.0]
    assert tolerance(expect([True], envelope=1.0, dtype="bool")).tolist() == [0.0]


def test_zero_has_the_smallest_normal_number() -> None:
    assert tolerance(expect([0.0])).tolist() == [TINY["float32"]]


def test_infinite_where_pytorch_overflowed() -> None:
    assert tolerance(expect([INF, 1.0], truth=[1e39, 1.0]))[0] == INF


def test_each_term_alone_is_enough() -> None:
    ulp = EPS["float32"]
    assert wrong([1.0 + 0.99 * C * 0.5], expect([1.0], envelope=0.5)) == 0
    assert wrong([1.0 + 0.99 * C * 0.5], expect([1.5], truth=[1.0])) == 0
    assert wrong([1.0 + 31 * ulp], expect([1.0])) == 0
    assert wrong([1.0 + 33 * ulp], expect([1.0])) == 1  # C x ULPS is 32


# --- honest lanes are left alone, lanes just beyond are not


@pytest.mark.parametrize("right", fakes.ALL_DTYPES, ids=lambda r: f"{r.eager.dtype}{list(r.eager.shape)}")
@pytest.mark.parametrize("factor", [0.99, -0.99, 0.0])
def test_honest(right: Expected, factor: float) -> None:
    assert mismatch(0, fakes.within(right, factor), right) is None


@pytest.mark.parametrize("right", fakes.ALL_DTYPES[:3], ids=lambda r: f"{r.eager.dtype}{list(r.eager.shape)}")
@pytest.mark.parametrize("factor", [1.01, -1.01])
def test_lying_at_every_element(right: Expected, factor: float) -> None:
    found = mismatch(0, fakes.within(right, factor), right)
    assert found is not None
    assert (found.wrong, found.elements) == (right.eager.size, right.eager.size)


@given(st.floats(-100, 100, width=32), SPREADS, st.floats(-0.99, 0.99), st.sampled_from([1.01, -1.01]))
def test_the_bound_lies_at_the_tolerance(value: float, spread: float, inside: float, outside: float) -> None:
    right = expect([value], envelope=spread)
    assert mismatch(0, fakes.within(right, inside), right) is None
    assert mismatch(0, fakes.within(right, outside), right) is not None


def test_eager_itself_is_always_honest() -> None:
    for right in fakes.ALL_DTYPES:
        assert mismatch(0, right.eager, right) is None


def test_the_truth_counts_not_eager() -> None:
    """eager is 1 off; a lane 8.5 off on eager's side is within 9 of eager, yet beyond 8 of the truth."""
    right = expect([1.0], truth=[0.0])
    assert wrong([8.5], right) == 1
    assert wrong([-7.5], right) == 0


# --- integers and booleans


def test_integers_are_exact() -> None:
    right = expect([1 << 62, -3], dtype="int64")
    assert wrong([1 << 62, -3], right) == 0
    assert wrong([(1 << 62) + 1, -3], right) == 1  # equal as float64
    assert wrong([(1 << 62) + 1, -2], right) == 2


def test_an_envelope_does_not_excuse_integers() -> None:
    assert wrong([8], expect([7], envelope=10.0, dtype="int64")) == 1


def test_booleans_are_exact() -> None:
    right = expect([True, False], dtype="bool")
    assert wrong([True, False], right) == 0
    assert wrong([False, True], right) == 2


# --- ill-conditioned elements


@pytest.mark.parametrize(
    ("dtype", "lie"), [("float32", NAN), ("float32", INF), ("float32", 9e9), ("int64", 99), ("bool", 0)]
)
def test_ill_conditioned_elements_are_not_compared(dtype: str, lie: float) -> None:
    right = expect([1, 1], ill=[False, True], dtype=dtype)
    assert wrong([1, lie], right) == 0
    assert wrong([lie, lie], right) == 1


def test_ill_conditioned_elements_are_counted() -> None:
    found = mismatch(0, np.array([5, 5, 5], np.float32), expect([1, 1, 1], ill=[False, True, True]))
    assert found is not None
    assert (found.elements, found.wrong, found.ill_conditioned) == (3, 1, 2)


# --- NaN and infinity


@FLOATS
@pytest.mark.parametrize("lie", [NAN, INF, -INF])
def test_no_number_where_a_number_belongs(dtype: str, lie: float) -> None:
    assert wrong([1.0, lie], expect([1.0, 1.0], envelope=1e6, dtype=dtype)) == 1


@FLOATS
@pytest.mark.parametrize("right", [NAN, INF, -INF])
def test_positions_must_agree(dtype: str, right: float) -> None:
    expected = expect([right, 1.0], dtype=dtype)
    assert wrong([right, 1.0], expected) == 0
    for lie in {0.0, INF, -INF} - {right}:
        assert wrong([lie, 1.0], expected) == 1


def test_a_number_where_nan_belongs() -> None:
    assert wrong([3.0], expect([NAN])) == 1


def test_payload_of_nan_and_sign_of_zero_do_not_count() -> None:
    odd = np.array([0xFFC01234, 0x80000000], np.uint32).view(np.float32)
    assert mismatch(0, odd, expect([NAN, 0.0])) is None


@pytest.mark.parametrize("lane", [0.0, 3e38, INF, NAN])
@pytest.mark.parametrize(("eager", "truth"), [(INF, 1e39), (NAN, 1.0), (1.0, NAN), (INF, -INF), (INF, NAN)])
def test_nothing_is_compared_where_pytorch_and_the_truth_disagree(eager: float, truth: float, lane: float) -> None:
    assert wrong([lane, 1.0], expect([eager, 1.0], truth=[truth, 1.0])) == 0


# --- evidence


def test_evidence_names_the_worst_element() -> None:
    right = expect([[1.0, 2.0], [4.0, 8.0]], envelope=[[0.5, 0.5], [0.125, 0.5]], ill=[[True, False], [False, False]])
    found = mismatch(3, np.array([[90.0, 12.0], [-4.0, 8.0]], np.float32), right)
    bound = C * (0.125 + ULPS * EPS["float32"] * 4.0) + TINY["float32"]
    assert found == Mismatch(
        3,
        "4.0 at [1, 0]",
        "-4.0 (2 of 4 elements are wrong)",
        Worst((1, 0), 4.0, -4.0, bound, 0.125),
        elements=4,
        wrong=2,
        ill_conditioned=1,
    )


def test_evidence_of_a_0d_integer() -> None:
    assert mismatch(0, np.array(8), expect(7, dtype="int64")) == Mismatch(
        0, "7.0 at []", "8.0 (1 of 1 elements are wrong)", Worst((), 7.0, 8.0, 0.0, 0.0), 1, 1, 0
    )


def test_evidence_of_nan_has_a_finite_tolerance() -> None:
    found = mismatch(0, np.array([1.0, 2.0], np.float32), expect([1.0, NAN]))
    assert found is not None
    assert found.worst is not None
    assert (found.worst.index, found.worst.actual, found.worst.tolerance) == ((1,), 2.0, 0.0)


def test_empty_outputs_are_equal() -> None:
    assert mismatch(0, np.zeros((0, 3), np.float32), expect(np.zeros((0, 3)))) is None
