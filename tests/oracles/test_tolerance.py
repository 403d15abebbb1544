"""The equation by which numbers are compared (`oracles.tolerance`), with numbers that can be checked by hand."""

from __future__ import annotations

import fakes
import ml_dtypes
import numpy as np
import pytest
from fakes import expect
from hypothesis import given
from hypothesis import strategies as st

from generators.graph import Array, DType
from oracles.finding import Mismatch, WorstElement
from oracles.identical import difference
from oracles.reference import MAX_PYTORCH_ERROR, ULPS, Expected, expected
from oracles.tolerance import C, mismatch, tolerance, uncertainty
from oracles.transforms import Rounding

EPS = {"float32": 2.0**-23, "float64": 2.0**-52, "float16": 2.0**-10, "bfloat16": 2.0**-7}
TINY = {"float32": 2.0**-126, "float64": 2.0**-1022, "float16": 2.0**-14, "bfloat16": 2.0**-126}
INF, NAN = np.inf, np.nan

FLOATS = pytest.mark.parametrize("dtype", sorted(EPS))
HALVES = pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
SPREADS = st.floats(0.001, 100.0)


def wrong(actual: object, right: Expected) -> int:
    """How many elements are outside their tolerance."""
    found = mismatch(0, np.array(actual, right.eager.dtype), right)
    return found.wrong if found else 0


# --- the equation


@FLOATS
def test_the_terms_of_the_equation(dtype: str) -> None:
    right = expect([2.0, -4.0], truth=[2.5, -4.0], envelope=[0.25, 1.0], dtype=dtype)
    assert uncertainty(right).tolist() == [0.25 + 0.5 + ULPS * EPS[dtype] * 2.5, 1.0 + ULPS * EPS[dtype] * 4.0]
    assert tolerance(right).tolist() == [C * number for number in uncertainty(right)]


def test_integers_and_booleans_have_no_tolerance() -> None:
    assert tolerance(expect([7, -3], envelope=1.0, dtype="int64")).tolist() == [0.0, 0.0]
    assert tolerance(expect([True], envelope=1.0, dtype="bool")).tolist() == [0.0]


@FLOATS
def test_zero_and_denormal_numbers_have_the_unit_of_the_smallest_normal_number(dtype: str) -> None:
    for number in (0.0, TINY[dtype] / 2):
        least = max(ULPS * EPS[dtype] * TINY[dtype], float(ml_dtypes.finfo(dtype).smallest_subnormal))
        assert tolerance(expect([number], dtype=dtype)).tolist() == [C * least]


def test_the_tolerance_is_infinite_where_pytorch_overflowed() -> None:
    assert tolerance(expect([INF, 1.0], truth=[1e39, 1.0]))[0] == INF
    assert tolerance(expect([INF, 1.0], truth=[7e4, 1.0], dtype="float16"))[0] == INF
    assert tolerance(expect([INF, 1.0], truth=[1e39, 1.0], dtype="bfloat16"))[0] == INF


def test_each_term_of_the_equation_alone_allows_a_difference() -> None:
    ulp = EPS["float32"]
    assert wrong([1.0 + 0.99 * C * 0.5], expect([1.0], envelope=0.5)) == 0
    assert wrong([1.0 + 0.99 * C * 0.5], expect([1.5], truth=[1.0])) == 0
    assert wrong([1.0 + C * ULPS * ulp], expect([1.0])) == 0
    assert wrong([1.0 + (C * ULPS + 1) * ulp], expect([1.0])) == 1


# --- the bound


@pytest.mark.parametrize("right", fakes.ALL_DTYPES, ids=lambda r: f"{r.eager.dtype}{list(r.eager.shape)}")
@pytest.mark.parametrize("factor", [0.99, -0.99, 0.0])
def test_results_within_the_tolerance_are_accepted(right: Expected, factor: float) -> None:
    assert mismatch(0, fakes.within(right, factor), right) is None


@pytest.mark.parametrize("right", fakes.FLOATS, ids=lambda r: f"{r.eager.dtype}{list(r.eager.shape)}")
@pytest.mark.parametrize("factor", [1.01, -1.01])
def test_elements_beyond_the_tolerance_are_all_counted(right: Expected, factor: float) -> None:
    found = mismatch(0, fakes.within(right, factor), right)
    assert found is not None
    assert (found.wrong, found.elements) == (right.eager.size, right.eager.size)


@pytest.mark.slow
@given(st.floats(-100, 100, width=32), SPREADS, st.floats(-0.99, 0.99), st.sampled_from([1.01, -1.01]))
def test_an_element_is_wrong_from_the_tolerance_on(value: float, spread: float, inside: float, outside: float) -> None:
    right = expect([value], envelope=spread)
    assert mismatch(0, fakes.within(right, inside), right) is None
    assert mismatch(0, fakes.within(right, outside), right) is not None


def test_pytorchs_own_result_is_always_accepted() -> None:
    for right in fakes.ALL_DTYPES:
        assert mismatch(0, right.eager, right) is None


def test_the_distance_is_measured_from_the_truth_and_not_from_pytorch() -> None:
    """PyTorch is 1 off. A lane that is C + 1/2 off to that side is within C of PyTorch but beyond C of the truth."""
    right = expect([1.0], truth=[0.0])
    assert wrong([C + 0.5], right) == 1
    assert wrong([0.5 - C], right) == 0


# --- half precision, with 10 or 7 bits of fraction


def half(numbers: object, dtype: str) -> Array:
    return np.array(numbers, np.float64).astype(DType(dtype).numpy)


def one_call(truth: Array, dtype: str) -> Expected:
    """One rounded result with the envelope that is measured for it: a push of one unit, and 1.5 units."""
    return expect(half(truth, dtype), truth=truth, envelope=2.5 * EPS[dtype] * np.abs(truth), dtype=dtype)


NUMBERS = np.random.default_rng(3).normal(size=2000) * 10.0 ** np.random.default_rng(4).uniform(-3, 3, 2000)
PLAIN = NUMBERS[np.abs(NUMBERS) > 0.1]
"""Numbers that are normal in float16 too."""


@HALVES
def test_neighbouring_numbers_are_accepted_in_half_precision(dtype: str) -> None:
    """The truth rounded down and up, and one unit further, as another order of evaluation may give it."""
    right = one_call(NUMBERS, dtype)
    for towards in (-np.inf, np.inf):
        lane = right.eager
        for _ in range(2):
            assert mismatch(0, lane, right) is None
            lane = np.nextafter(lane, half(towards, dtype))


@HALVES
def test_rounding_after_each_of_a_few_steps_is_accepted_in_half_precision(dtype: str) -> None:
    """PyTorch computes in float32 and rounds once; the lane rounds each of several products."""
    lane = half(NUMBERS, dtype)
    truth = lane.astype(np.float64)
    for numbers in np.random.default_rng(5).uniform(0.5, 2.0, (5, NUMBERS.size)):
        factor = half(numbers, dtype)
        truth, lane = truth * factor.astype(np.float64), lane * factor
    assert lane.dtype == DType(dtype).numpy
    assert mismatch(0, lane, one_call(truth, dtype)) is None


@pytest.mark.parametrize(("dtype", "relative"), [("float16", 0.01), ("bfloat16", 0.08)])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_difference_larger_than_any_rounding_is_found_in_half_precision(
    dtype: str, relative: float, sign: int
) -> None:
    """The tolerance is C x (2.5 units of envelope, half a unit of PyTorch's error, half a unit): 0.7 % and 5.5 %."""
    assert wrong(half(PLAIN * (1 + sign * relative), dtype), one_call(PLAIN, dtype)) == PLAIN.size


@HALVES
def test_zero_or_the_other_sign_in_place_of_a_number_is_found(dtype: str) -> None:
    right = one_call(PLAIN, dtype)
    assert wrong(half(0 * PLAIN, dtype), right) == PLAIN.size
    assert wrong(half(-PLAIN, dtype), right) == PLAIN.size


@HALVES
def test_the_payload_of_nan_does_not_count_in_half_precision(dtype: str) -> None:
    assert mismatch(0, half([NAN, 1.0], dtype), expect([NAN, 1.0], dtype=dtype)) is None
    assert wrong([1.0, NAN], expect([NAN, 1.0], dtype=dtype)) == 2


@HALVES
def test_evidence_in_half_precision(dtype: str) -> None:
    right = expect([1.0, 2.0], envelope=[0.0, 0.25], dtype=dtype)
    bound = C * (0.25 + ULPS * EPS[dtype] * 2.0)
    assert mismatch(0, half([1.0, -8.0], dtype), right) == Mismatch(
        0, "2.0 at [1]", "-8.0 (1 of 2 elements is wrong)", WorstElement((1,), 2.0, -8.0, bound, 0.25, 2.0), 2, 1, 0
    )


# --- integers and booleans


@pytest.mark.parametrize("dtype", [d.value for d in DType if d.is_integer])
def test_integers_of_every_dtype_are_compared_exactly(dtype: str) -> None:
    low, high = DType(dtype).range
    right = expect([low, high, 1], envelope=9.0, dtype=dtype)
    assert wrong([low, high, 1], right) == 0
    assert wrong([low + 1, high - 1, 1], right) == 2


def test_integers_are_exact() -> None:
    right = expect([1 << 62, -3], dtype="int64")
    assert wrong([1 << 62, -3], right) == 0
    assert wrong([(1 << 62) + 1, -3], right) == 1  # the same number in float64
    assert wrong([(1 << 62) + 1, -2], right) == 2


def test_an_envelope_does_not_excuse_integers() -> None:
    assert wrong([8], expect([7], envelope=10.0, dtype="int64")) == 1


def test_booleans_are_compared_exactly() -> None:
    right = expect([True, False], dtype="bool")
    assert wrong([True, False], right) == 0
    assert wrong([False, True], right) == 2


# --- ill-conditioned elements


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        *(("float32", NAN), ("float32", INF), ("float32", 9e9), ("float16", NAN), ("bfloat16", 9e9)),
        *(("int64", 99), ("uint8", 0), ("bool", 0)),
    ],
)
def test_ill_conditioned_elements_are_not_compared(dtype: str, value: float) -> None:
    right = expect([1, 1], ill=[False, True], dtype=dtype)
    assert wrong([1, value], right) == 0
    assert wrong([value, value], right) == 1


def test_ill_conditioned_elements_are_counted() -> None:
    found = mismatch(0, np.array([5, 5, 5], np.float32), expect([1, 1, 1], ill=[False, True, True]))
    assert found is not None
    assert (found.elements, found.wrong, found.ill_conditioned) == (3, 1, 2)


# --- NaN and infinity


@FLOATS
@pytest.mark.parametrize("value", [NAN, INF, -INF])
def test_nan_or_infinity_in_place_of_a_number_is_wrong(dtype: str, value: float) -> None:
    assert wrong([1.0, value], expect([1.0, 1.0], envelope=1e4, dtype=dtype)) == 1


@FLOATS
@pytest.mark.parametrize("right", [NAN, INF, -INF])
def test_nan_and_infinity_must_be_where_pytorch_has_them(dtype: str, right: float) -> None:
    expected = expect([right, 1.0], dtype=dtype)
    assert wrong([right, 1.0], expected) == 0
    for value in {0.0, INF, -INF} - {right}:
        assert wrong([value, 1.0], expected) == 1


def test_a_number_in_place_of_nan_is_wrong() -> None:
    assert wrong([3.0], expect([NAN])) == 1


def test_the_payload_of_nan_and_the_sign_of_zero_do_not_count() -> None:
    odd = np.array([0xFFC01234, 0x80000000], np.uint32).view(np.float32)
    assert mismatch(0, odd, expect([NAN, 0.0])) is None


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_truth_too_large_for_the_dtype_counts_as_infinite(dtype: str, sign: int) -> None:
    largest = float(np.finfo(dtype).max)
    right = expect([sign * INF], truth=[sign * 4.0 * largest], dtype=dtype)
    assert wrong([sign * INF], right) == 0
    for value in (sign * largest, -sign * INF, NAN, 0.0):
        assert wrong([value], right) == 1


@pytest.mark.parametrize("sign", [1, -1])
def test_a_number_near_the_largest_of_the_dtype_may_be_infinite(sign: int) -> None:
    largest = float(np.finfo(np.float16).max)
    right = expect([sign * largest], dtype="float16")
    assert wrong([sign * INF], right) == 0
    assert wrong([-sign * INF], right) == 1
    assert wrong([NAN], right) == 1
    assert wrong([sign * INF], expect([sign * largest / 2], dtype="float16")) == 1


@pytest.mark.parametrize("lane", [0.0, 3e38, INF, NAN])
@pytest.mark.parametrize(("eager", "truth"), [(INF, 1e37), (NAN, 1.0), (1.0, NAN), (INF, -INF), (INF, NAN)])
def test_nothing_is_compared_where_pytorch_and_the_truth_disagree(eager: float, truth: float, lane: float) -> None:
    assert wrong([lane, 1.0], expect([eager, 1.0], truth=[truth, 1.0])) == 0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("dtype", "largest"), [("float16", 65504.0), ("float32", 3e38), ("float64", 1.7e308)])
def test_numbers_at_the_end_of_a_dtype_and_beyond_give_no_warnings(dtype: str, largest: float) -> None:
    numbers = [INF, -INF, NAN, largest, -largest]
    truth = [INF, INF, 1.0, min(4 * largest, 1.7e308), largest]
    right = expect(numbers, truth=truth, envelope=largest, dtype=dtype)
    for rounding in Rounding:
        mismatch(0, right.eager[::-1], right, rounding)
    wrong(numbers[::-1], expect(numbers, dtype=dtype))
    judged(np.array(numbers, DType(dtype).numpy), np.array(truth))
    one, other = (np.array(each, DType(dtype).numpy) for each in (numbers, [*numbers[:3], -largest, largest]))
    assert difference((one,), (other,), "the first run") is not None


# --- evidence


def test_evidence_names_the_worst_element() -> None:
    right = expect([[1.0, 2.0], [4.0, 8.0]], envelope=[[0.5, 0.5], [0.125, 0.5]], ill=[[True, False], [False, False]])
    found = mismatch(3, np.array([[90.0, 12.0], [-4.0, 8.0]], np.float32), right)
    bound = C * (0.125 + ULPS * EPS["float32"] * 4.0)
    assert found == Mismatch(
        3,
        "4.0 at [1, 0]",
        "-4.0 (2 of 4 elements are wrong)",
        WorstElement((1, 0), 4.0, -4.0, bound, 0.125, 4.0),
        elements=4,
        wrong=2,
        ill_conditioned=1,
    )


def test_evidence_of_a_0d_integer() -> None:
    assert mismatch(0, np.array(8), expect(7, dtype="int64")) == Mismatch(
        0, "7.0 at []", "8.0", WorstElement((), 7.0, 8.0, 0.0, 0.0), 1, 1, 0
    )


def test_evidence_of_nan_has_a_finite_tolerance() -> None:
    found = mismatch(0, np.array([1.0, 2.0], np.float32), expect([1.0, NAN]))
    assert found is not None
    assert found.worst is not None
    assert (found.worst.index, found.worst.actual, found.worst.tolerance) == ((1,), 2.0, 0.0)


def test_empty_outputs_are_equal() -> None:
    assert mismatch(0, np.zeros((0, 3), np.float32), expect(np.zeros((0, 3)))) is None


# --- elements where PyTorch itself is wrong


def judged(eager: Array, truth: Array, envelope: float = 0.0) -> Expected:
    right = fakes.references(expect(eager, truth=truth, envelope=envelope, dtype=str(eager.dtype)))
    found = expected(right)
    assert found is not None
    return found[0]


@FLOATS
def test_elements_where_pytorch_is_far_from_the_truth_are_not_compared(dtype: str) -> None:
    own = DType(dtype).numpy
    for factor, left_out in ((0.9, False), (1.5, True)):
        off = MAX_PYTORCH_ERROR * (0.25 + ULPS * EPS[dtype] * 8.0) * factor
        right = judged(np.array([8.0 + off, 8.0], own), np.array([8.0, 8.0]), 0.25)
        assert right.ill.tolist() == [left_out, False]


def test_integers_where_pytorch_differs_from_the_truth_are_not_compared() -> None:
    right = judged(np.array([3, 7]), np.array([2, 7]))
    assert right.ill.tolist() == [True, False]
    assert wrong([2, 7], right) == 0
    assert wrong([3, 8], right) == 1
