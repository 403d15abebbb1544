"""A quotient of two long sums: what is rounded in them need not cancel."""

from __future__ import annotations

import numpy as np
import pytest

from fuzzer.lanes.envelope.measure import envelope
from fuzzer.lanes.envelope.program import Program
from fuzzer.lanes.onnx.kernel import ONNX
from generators.graph import Attrs, Case, Form, Graph, Input, Node, TensorType, Value


def mean_with_weights(count: int) -> Program:
    """sum(x w) / sum(w), as ONNX's function for NegativeLogLikelihoodLoss computes it."""
    scalar, vector = TensorType.parse("float32[]"), TensorType.parse(f"float32[{count}]")
    total: Attrs = {"axes": (0,), "keepdims": 0, "noop_with_empty_axes": None}
    nodes = (
        Node("Mul-14", ("x0", "x1"), {}, (Value("v0", vector),)),
        Node("ReduceSum-13", ("v0",), total, (Value("v1", scalar),), Form.CONSTANT),
        Node("ReduceSum-13", ("x1",), total, (Value("v2", scalar),), Form.CONSTANT),
        Node("Div-14", ("v1", "v2"), {}, (Value("v3", scalar),)),
    )
    inputs = (Input(Value("x0", vector)), Input(Value("x1", vector)))
    tensors = {name: np.full(count, number, np.float32) for name, number in (("x0", 0.7), ("x1", 0.3))}
    return Program(Case(Graph(inputs, nodes, ("v3",), "onnx", opset=17), tensors), ONNX)


@pytest.mark.parametrize(("count", "is_long"), [(100, False), (4000, True)])
def test_a_quotient_of_long_sums_may_be_off_as_its_sums(count: int, is_long: bool) -> None:
    program = mean_with_weights(count)
    assert program.has_many_sums is is_long
    spread, ill = envelope(program)
    assert not ill.any()
    from_the_left = 0.7 * np.sqrt(count) * np.finfo(np.float32).eps
    assert bool(spread > from_the_left) is is_long
