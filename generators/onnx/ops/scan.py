"""Running sums."""

from __future__ import annotations

from generators.choice import ChoiceSource
from generators.graph import HALVES, Attrs, TensorType
from generators.onnx.call import Call
from generators.onnx.operator import Constant, Operator
from generators.onnx.ops.axes import axis_in
from generators.onnx.ops.operands import one
from generators.op import INT, Arithmetic


def _running(call: Call) -> TensorType:
    axis_in(call)
    return call.first


MOST_IN_HALF = 64
"""How many numbers of half precision are added: the interpreter of onnx rounds each sum to it."""


def _attributes(source: ChoiceSource, call: Call) -> Attrs | None:
    x = call.first
    axis = source.integer(-x.rank, x.rank - 1)
    if x.dtype in HALVES and x.sizes[axis] > MOST_IN_HALF:
        return None
    return {
        "axis": axis,
        "exclusive": source.choice((0, 0, 1)),
        "reverse": source.choice((0, 0, 1)),
    }


def _terms(call: Call) -> int:
    return max(1, call.first.sizes[axis_in(call)])


OPERATORS: tuple[Operator, ...] = (
    Operator(
        "CumSum",
        one((1, 5)),
        _running,
        _attributes,
        {"axis": Constant(INT, scalar=True, free=True)},
        terms=_terms,
        arithmetic=Arithmetic.SUM_IN_ANY,
    ),
)
