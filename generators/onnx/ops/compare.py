"""Comparisons of two tensors that broadcast."""

from __future__ import annotations

from generators.graph import DType, TensorType
from generators.onnx.call import Call
from generators.onnx.operator import Operator
from generators.onnx.ops.operands import broadcast_of
from generators.onnx.ops.pairs import pair


def _truth(call: Call) -> TensorType:
    return broadcast_of(call).with_dtype(DType.BOOL)


def _comparison(name: str, plainer: str | None) -> Operator:
    return Operator(name, pair, _truth, plainer=plainer)


OPERATORS: tuple[Operator, ...] = (
    _comparison("Equal", None),
    _comparison("Less", "Equal"),
    _comparison("LessOrEqual", "Less"),
    _comparison("Greater", "Less"),
    _comparison("GreaterOrEqual", "Greater"),
)
