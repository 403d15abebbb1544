"""Guards: computed values are clipped into the range that a call is defined for, or an input takes their place."""

from __future__ import annotations

import pytest

from generators.builder import Builder
from generators.choice import NumpySource
from generators.domain import NONZERO, POSITIVE, within
from generators.graph import DType, Profile, TensorType, Value
from generators.onnx import guard
from generators.onnx.rows import at_opset
from generators.zero_sensitivity import zeros_agree


def builder(opset: int, seed: int = 0, profile: Profile = Profile.NORMAL) -> Builder:
    return Builder(NumpySource(1, seed), profile=profile, dialect="onnx", opset=opset)


def computed(b: Builder, text: str) -> Value:
    """The result of a node of this type."""
    given = b.fresh_input(TensorType.parse(text))
    return b.emit(at_opset("Identity", b.opset), (given,), {})[0]


def domain_of(b: Builder, value: Value) -> object:
    return next(item.domain for item in b.inputs if item.value == value)


def test_a_float_is_clipped_or_replaced_by_an_input_of_the_domain() -> None:
    ways = set()
    for seed in range(40):
        b = builder(13, seed)
        result = guard.bounded(b, computed(b, "float32[2]"), 0.5, 4.0, within(1, 4))
        assert result.type == TensorType.parse("float32[2]")
        if b.nodes[-1].op == "Clip-13":
            assert b.nodes[-1].results == (result,)
            assert b.nodes[-1].attrs == {"min": 0.5, "max": 4.0}
        else:
            assert domain_of(b, result) == within(1, 4)
        ways.add(b.nodes[-1].op)
    assert ways == {"Clip-13", "Identity-13"}


@pytest.mark.parametrize(("opset", "text"), [(7, "float64[2]"), (11, "int32[2]"), (12, "int16[2]")])
def test_an_input_takes_the_place_where_the_opset_has_no_clip_for_the_dtype(opset: int, text: str) -> None:
    for seed in range(10):
        b = builder(opset, seed)
        result = guard.finite(b, computed(b, text), -3, 3)
        assert domain_of(b, result) == within(-3, 3)


def test_bounds_are_numbers_of_the_dtype() -> None:
    for seed in range(20):
        b = builder(13, seed)
        guard.bounded(b, computed(b, "float16[2]"), 0.125, 2.0**20, POSITIVE)
        guard.finite(b, computed(b, "uint8[2]"), -100, 100)
        bounds = [(node.attrs["min"], node.attrs["max"]) for node in b.nodes if node.op == "Clip-13"]
        assert set(bounds) <= {(0.125, 2.0**15), (0, 100)}


def test_the_special_profile_keeps_its_numbers_where_functions_are_defined_for_them() -> None:
    b = builder(13, profile=Profile.SPECIAL)
    value = computed(b, "float32[2]")
    assert guard.bounded(b, value, 0.5, 4.0, POSITIVE) is value
    assert guard.nonzero(b, value, value) is value


def test_the_special_profile_converts_no_nan() -> None:
    for seed in range(10):
        b = builder(13, seed, Profile.SPECIAL)
        assert domain_of(b, guard.finite(b, computed(b, "float32[2]"), -100, 100)) == within(-100, 100)


def test_a_divisor_of_a_computed_integer_is_positive() -> None:
    """The smallest integer divided by -1 is none of the dtype."""
    for seed in range(20):
        b = builder(14, seed)
        dividend, divisor = computed(b, "int32[2]"), computed(b, "int32[2]")
        result = guard.nonzero(b, divisor, dividend)
        if b.nodes[-1].op.startswith("Clip"):
            assert b.nodes[-1].attrs == {"min": 1, "max": 8}
        else:
            assert domain_of(b, result) == POSITIVE
    b = builder(14)
    dividend, divisor = (b.fresh_input(TensorType(DType.INT32, (2,))) for _ in range(2))
    assert domain_of(b, guard.nonzero(b, divisor, dividend)) == NONZERO


def test_a_clip_away_from_zero_makes_zeros_agree() -> None:
    b = builder(13)
    value = b.emit(at_opset("Exp", 13), (b.fresh_input(TensorType.parse("float32[2]")),), {})[0]
    clip = at_opset("Clip", 13)
    above, around = (b.emit(clip, (value,), {"min": low, "max": 8.0})[0] for low in (0.5, -0.5))
    assert [zeros_agree(b, each) for each in (value, above, around)] == [False, True, False]
