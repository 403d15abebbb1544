"""Choices between numbers: Where, bounds, the triangle of a matrix."""

from __future__ import annotations

from collections.abc import Sequence

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attr, Attrs, DType, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.operator import Constant, Operator
from generators.onnx.ops.operands import FLAG, one, tensor
from generators.onnx.ops.pairs import another
from generators.onnx.schema import Schema
from generators.op import INT, NUMBER, require
from generators.operator_class import OperatorClass
from generators.shared.sizes import broadcast

MIN_ABOVE_MAX = 13


def _condition_and_branches(b: Builder, schema: Schema) -> Sequence[Value]:
    """In half of the calls the condition has the largest shape."""
    if b.source.chance(50):
        x = tensor(b, schema, "X")
        return another(b, x, DType.BOOL), x, another(b, x, x.type.dtype)
    condition = tensor(b, schema, "condition")
    dtype = b.dtype(schema.dtypes("X"))
    return condition, another(b, condition, dtype), another(b, condition, dtype)


def _where(call: Call) -> TensorType:
    return call["X"].with_shape(*broadcast(*(type.sizes for type in call.types)))


def _clip(call: Call) -> TensorType:
    """The bounds of integers are integers that the dtype holds. Version 13 is the first that says what a min above max
    means."""
    dtype, low, high = call.first.dtype, call.attr("min"), call.attr("max")
    if call.schema.since < MIN_ABOVE_MAX and isinstance(low, int | float) and isinstance(high, int | float):
        require(low <= high, f"min must not be above max before opset {MIN_ABOVE_MAX}")
    for bound in (low, high):
        if bound is not None and not dtype.is_float:
            least, most = dtype.range
            require(isinstance(bound, int) and least <= bound <= most, f"{dtype} cannot hold the bound {bound}")
    return call.first


def _bounds(source: ChoiceSource, call: Call) -> Attrs:
    """A bound may be missing, and min may be above max: then all elements become max."""
    low, high = source.integer(-8, 8), source.integer(-8, 8)
    if low > high and (call.schema.since < MIN_ABOVE_MAX or source.chance(80)):
        low, high = high, low
    dtype = call.first.dtype
    if dtype is DType.UINT8:
        low, high = abs(low), abs(high)
    bounds: dict[str, Attr] = {"min": low / 2, "max": high / 2} if dtype.is_float else {"min": low, "max": high}
    missing = source.choice(((), (), (), ("min",), ("max",), ("min", "max")))
    return {key: value for key, value in bounds.items() if key not in missing}


def _trilu_attributes(source: ChoiceSource, call: Call) -> Attrs:
    """The diagonal may lie outside of the matrix."""
    rows, columns = call.first.sizes[-2:]
    k = source.choice((None, 0, 1, -1, source.integer(-int(rows) - 1, int(columns) + 1)))
    return {"upper": source.integer(0, 1), "k": k}


def _trilu(call: Call) -> TensorType:
    require(call.first.rank >= 2, "takes matrices")
    return call.first


_BOUND = Constant(NUMBER, None, scalar=True)

OPERATORS: tuple[Operator, ...] = (
    Operator("Where", _condition_and_branches, _where),
    Operator("Clip", one(), _clip, _bounds, {"min": _BOUND, "max": _BOUND}, plainer="Relu").of_class(
        OperatorClass.GUARD, OperatorClass.CLAMP
    ),
    Operator(
        "Trilu",
        one((2, 5)),
        _trilu,
        _trilu_attributes,
        {"k": Constant(INT, scalar=True)},
        {"upper": FLAG},
        plainer="Relu",
    ),
)
