"""The envelope of gradients: the spread of the float64 gradients."""

from __future__ import annotations

import numpy as np
import pytest
from graphs_by_hand import Call, case_of

from fuzzer.lanes import GRADIENT_REFERENCES
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.envelope.measure import LAST_UNITS
from fuzzer.lanes.torch.gradient import ULPS, TorchGradientLane
from generators.graph import Case, DType, Input
from oracles.reference import GRADIENT, Expected, expected

EVERY_DTYPE = pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.FLOAT64])


def references(case: Case) -> tuple[Expected, ...]:
    lane = TorchGradientLane()
    right = expected(
        {spec: lane.run(PreparedCase(case, Quiet()), spec, Quiet()) for spec in GRADIENT_REFERENCES}, GRADIENT
    )
    assert right is not None
    return right[1:]


def in_units(right: Expected, dtype: DType) -> np.ndarray:
    return np.asarray(right.envelope / (dtype.eps * np.abs(right.truth)))


@EVERY_DTYPE
def test_the_spread_of_every_gradient_exceeds_its_last_roundings(dtype: DType) -> None:
    calls: list[Call] = [("v0", "add", "x0 x1"), ("v1", "mul", "v0 x0")]
    case = case_of({"x0": f"{dtype}[40]", "x1": f"{dtype}[40]"}, calls, "v1", lambda item: numbers(item, 1.5))
    for right in references(case):
        found = in_units(right, dtype)
        assert (found > 1.5 * LAST_UNITS).all()
        assert (found < 8 * ULPS).all()
        assert not right.ill.any()


@EVERY_DTYPE
@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan])
def test_the_gradient_of_an_argument_that_is_not_finite_is_pushed_too(dtype: DType, number: float) -> None:
    case = case_of({"x0": f"{dtype}[40]"}, [("v0", "neg", "x0")], "v0", lambda item: numbers(item, number))
    (right,) = references(case)
    assert np.isfinite(right.eager).all()
    assert (in_units(right, dtype) > 1.5 * LAST_UNITS).all()


def numbers(item: Input, number: float) -> np.ndarray:
    return np.full(item.value.type.sizes, number, item.value.type.dtype.numpy)
