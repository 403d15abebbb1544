"""Running sums."""

from __future__ import annotations

from generators.choice import ChoiceSource
from generators.graph import Attrs, TensorType
from generators.onnx.call import Call
from generators.onnx.operator import Constant, Operator
from generators.onnx.ops.axes import axis_in
from generators.onnx.ops.operands import one
from generators.op import INT, Arithmetic


def _running(call: Call) -> TensorType:
    axis_in(call)
    return call.first


def _attributes(source: ChoiceSource, call: Call) -> Attrs:
    rank = call.first.rank
    return {
        "axis": source.integer(-rank, rank - 1),
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
        arithmetic=Arithmetic.SUM,
    ),
)
