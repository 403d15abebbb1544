"""Comparisons of floats that rounding may make equal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuzzer.lanes.envelope.measure import envelope
from fuzzer.lanes.envelope.program import Program
from fuzzer.lanes.onnx.kernel import ONNX
from fuzzer.lanes.torch.envelope import TORCH
from generators.graph import Case, Graph, Input, Node, TensorType, Value


def is_open(comparison: str, other: float) -> bool:
    """Whether `FastGelu(-4) == other` may be either, in bfloat16: the function is 0 where its tanh is rounded to -1."""
    number, truth = TensorType.parse("bfloat16[1]"), TensorType.parse("bool[1]")
    nodes = (
        Node("FastGelu-1", ("x0",), {"inputs": (True,)}, (Value("v0", number),)),
        Node(comparison, ("x1", "v0"), {}, (Value("v1", truth),)),
    )
    inputs = (Input(Value("x0", number)), Input(Value("x1", number)))
    tensors = {"x0": np.full(1, -4, number.dtype.numpy), "x1": np.full(1, other, number.dtype.numpy)}
    _, ill = envelope(Program(Case(Graph(inputs, nodes, ("v1",), "onnx", opset=17), tensors), ONNX))
    return bool(ill.all())


@pytest.mark.parametrize("comparison", ["Equal-13", "Less-13", "LessOrEqual-16"])
def test_two_floats_are_open_where_rounding_may_make_them_equal(comparison: str) -> None:
    assert is_open(comparison, 0.0)
    assert not is_open(comparison, 1.0)


NEAR_ZERO = (
    Node("sub", ("x0", "x1"), {"alpha": 1}, (Value("v0", TensorType.parse("float32[2]")),)),
    Node("exp", ("v0",), {}, (Value("v1", TensorType.parse("float32[2]")),)),
    Node("sub_scalar", ("v1",), {"other": 1.0}, (Value("v2", TensorType.parse("float32[2]")),)),
)
"""exp(1.2e-7) - 1 is 1.2e-7 in float64; in float32 the exponential may be off by four units, so that it is 0."""


@pytest.mark.parametrize(
    ("op", "attrs", "result", "expected"),
    [
        ("eq_scalar", {"other": 0.0}, "bool[2]", True),
        ("eq_scalar", {"other": 1.0}, "bool[2]", False),
        ("logical_not", {}, "bool[2]", True),
        ("any", {"dim": 0, "keepdim": False}, "bool[]", True),
        ("isinf", {}, "bool[2]", False),
    ],
)
def test_a_float_is_open_where_rounding_may_make_it_another_answer(
    op: str, attrs: dict[str, Any], result: str, expected: bool
) -> None:
    nodes = (*NEAR_ZERO, Node(op, ("v2",), attrs, (Value("v3", TensorType.parse(result)),)))
    inputs = tuple(Input(Value(name, TensorType.parse("float32[2]"))) for name in ("x0", "x1"))
    tensors = {"x0": np.full(2, 1 + 1e-7, np.float32), "x1": np.full(2, 1, np.float32)}
    _, ill = envelope(Program(Case(Graph(inputs, nodes, ("v3",)), tensors), TORCH))
    assert bool(ill.all()) is expected
