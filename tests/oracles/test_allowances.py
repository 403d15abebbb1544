"""Passes that change the rounding: how much more their programs may be off, and what is judged as for other lanes."""

from __future__ import annotations

import numpy as np
import pytest
from fakes import expect

from oracles.against_torch import judge
from oracles.finding import Kind
from oracles.reference import Expected
from oracles.tolerance import ALLOWANCES, MAX_RELATIVE, Allowance, C, mismatch, tolerance, uncertainty
from oracles.transforms import TRANSFORMS, TRANSFORMS_BY_NAME, Rounding, rounding_of

RIGHT = expect([1.0, -4.0, 0.25], envelope=1e-7)
OTHERS = [rounding for rounding in Rounding if rounding is not Rounding.SAME]


def off_by(right: Expected, rounding: Rounding, factor: float) -> np.ndarray:
    return (right.truth + factor * tolerance(right, rounding)).astype(np.float64)


@pytest.mark.parametrize("rounding", Rounding)
def test_an_element_is_wrong_from_the_allowance_on(rounding: Rounding) -> None:
    wide = expect(RIGHT.eager, envelope=1e-7, dtype="float64")
    assert mismatch(0, off_by(wide, rounding, 0.99), wide, rounding) is None
    assert mismatch(0, off_by(wide, rounding, 1.01), wide, rounding) is not None


@pytest.mark.parametrize("rounding", Rounding)
def test_the_terms_of_an_allowance(rounding: Rounding) -> None:
    allowed = ALLOWANCES[rounding]
    np.testing.assert_allclose(
        tolerance(RIGHT, rounding),
        C * (allowed.growth * uncertainty(RIGHT) + min(allowed.units * 2.0**-23, MAX_RELATIVE) * 4.0),
        rtol=1e-15,
    )


def test_the_allowances_are_those_that_were_chosen() -> None:
    """A change here needs a reason in docs/tolerance.md."""
    assert (C, MAX_RELATIVE) == (2.0, 1 / 32)
    assert {
        Rounding.SAME: Allowance(1.0, 0.0, False, True),
        Rounding.OTHER_ORDER: Allowance(8.0, 32.0, False, True),
        Rounding.FAST_MATH: Allowance(8.0, 8.0, True, False),
        Rounding.HALF: Allowance(8192.0, 262144.0, True, False),
    } == ALLOWANCES


def test_each_allowance_is_larger_than_the_plain_tolerance() -> None:
    assert tolerance(RIGHT).tolist() == tolerance(RIGHT, Rounding.SAME).tolist()
    for rounding in OTHERS:
        assert (tolerance(RIGHT, rounding) > tolerance(RIGHT)).all()
    assert (tolerance(RIGHT, Rounding.HALF) > tolerance(RIGHT, Rounding.OTHER_ORDER)).all()


@pytest.mark.parametrize("rounding", Rounding)
@pytest.mark.parametrize("numbers", [[1.0, -4.0, 1.25], [1.0, 4.0, 0.25], [0.0, 0.0, 0.0]])
def test_a_wrong_number_is_found_under_each_allowance(rounding: Rounding, numbers: list[float]) -> None:
    assert mismatch(0, np.array(numbers, np.float32), RIGHT, rounding) is not None


@pytest.mark.parametrize("rounding", Rounding)
def test_the_evidence_has_the_tolerance_of_the_allowance(rounding: Rounding) -> None:
    found = mismatch(0, np.array([1.0, 4.0, 0.25], np.float32), RIGHT, rounding)
    assert found is not None
    assert found.worst is not None
    assert (found.worst.index, found.worst.tolerance) == ((1,), float(tolerance(RIGHT, rounding)[1]))


@pytest.mark.parametrize("rounding", Rounding)
def test_number_shapes_and_dtypes_of_outputs_are_judged_under_each_allowance(rounding: Rounding) -> None:
    for outputs, kind in (
        ((), Kind.WRONG_ARITY),
        ((RIGHT.eager[None],), Kind.WRONG_SHAPE),
        ((RIGHT.eager.astype(np.float16),), Kind.WRONG_DTYPE),
    ):
        found = judge(outputs, (RIGHT,), rounding)
        assert found is not None
        assert found[0] is kind


@pytest.mark.parametrize("rounding", OTHERS)
@pytest.mark.parametrize("odd", [np.inf, np.nan])
def test_only_finite_numbers_are_compared_where_a_pass_may_overflow(rounding: Rounding, odd: float) -> None:
    lane = np.array([1.0, odd, 0.25], np.float32)
    assert (mismatch(0, lane, RIGHT, rounding) is None) is ALLOWANCES[rounding].overflow
    saturated = mismatch(0, np.array([1.0, 3e38], np.float32), expect([1.0, np.inf]), rounding)
    assert (saturated is None) is ALLOWANCES[rounding].overflow


@pytest.mark.parametrize("rounding", Rounding)
def test_integers_are_judged_unless_a_pass_rounds_much_differently(rounding: Rounding) -> None:
    right = expect([1, 2], dtype="int64")
    assert (mismatch(0, np.array([1, 3], np.int64), right, rounding) is not None) is ALLOWANCES[rounding].integers
    assert ALLOWANCES[rounding].integers is (rounding <= Rounding.OTHER_ORDER)


@pytest.mark.parametrize("rounding", [Rounding.OTHER_ORDER, Rounding.FAST_MATH])
def test_sums_of_float64_numbers_in_float32_are_found(rounding: Rounding) -> None:
    right = expect([1.0, -4.0, 0.25], envelope=1e-15, dtype="float64")
    assert mismatch(0, right.truth * (1 + 2.0**-24), right, rounding) is not None


def test_the_pass_that_rounds_most_decides_the_rounding_of_a_lane() -> None:
    assert rounding_of(()) is Rounding.SAME
    assert rounding_of(("FoldConstant", "FuseTIR")) is Rounding.SAME
    assert rounding_of(("ExpandMatmulOfSum", "FoldConstant")) is Rounding.OTHER_ORDER
    assert rounding_of(("ToMixedPrecision", "FastMathTransform", "FoldConstant")) is Rounding.HALF


def test_which_passes_round_much_differently() -> None:
    coarse = {row.name for row in TRANSFORMS if row.rounding > Rounding.OTHER_ORDER}
    assert coarse == {"FastMathTransform", "ToMixedPrecision", "ToMixedPrecision-float16"}
    assert TRANSFORMS_BY_NAME["ConvertLayout-NHWC"].rounding is Rounding.SAME
