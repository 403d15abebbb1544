"""Extremes and where they are."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import NONZERO, distinct
from generators.graph import Attr, Attrs, DType, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.operator import Constant, Operator
from generators.onnx.ops.axes import axis_in, with_size, written
from generators.onnx.ops.operands import dtype_for, tensor
from generators.onnx.schema import Schema
from generators.op import INT, AttrKind, require
from generators.shared.draws import ranked_axis

HELD = {DType.INT8: 256, DType.UINT8: 256, DType.BFLOAT16: 256, DType.FLOAT16: 2048}
"""How many different whole numbers small dtypes hold."""


def _mostly_without_ties(b: Builder, schema: Schema) -> tuple[Value, ...]:
    """ONNX says which of equal numbers is chosen, but not how they are rounded: few of the numbers are equal."""
    name = schema.inputs[0].name
    if b.source.chance(50):
        return (tensor(b, schema, name, (1, 5)),)
    type = TensorType(dtype_for(b, schema, name), b.shape(b.source.integer(1, 5)))
    axis = ranked_axis(type)
    size = int(type.sizes[axis])
    if size > HELD.get(type.dtype, size):
        type = type.with_dtype(DType.FLOAT32)
    low = 0 if type.dtype is DType.UINT8 else -(size // 2)
    return (b.fresh_input(type, domain=distinct(low, low + max(size - 1, 0), axis)),)


def _some_axis(source: ChoiceSource, call: Call) -> int:
    """Mostly the axis along which the numbers differ."""
    x = call.first
    return ranked_axis(x) if source.chance(70) else source.integer(0, x.rank - 1)


# --- ArgMax, ArgMin


def _index(call: Call) -> TensorType:
    x, axis = call.first, axis_in(call)
    require(x.sizes[axis] > 0, f"there is no such element, for {x} is empty there")
    kept = (1,) if call.integer("keepdims") else ()
    return TensorType(DType.INT64, (*x.sizes[:axis], *kept, *x.sizes[axis + 1 :]))


def _index_attributes(source: ChoiceSource, call: Call) -> Attrs:
    """onnxruntime takes no axis from the end for a tensor without elements."""
    x, axis = call.first, _some_axis(source, call)
    return {
        "axis": written(source, call, axis, x.rank) if x.numel else axis,
        "keepdims": source.choice((0, 1)),
        "select_last_index": source.choice((0, 0, 1)),
    }


# --- TopK


def _is_count(value: Attr) -> bool:
    return isinstance(value, tuple) and len(value) == 1 and INT.accepts(value[0])


COUNT = AttrKind("a list of one integer", _is_count)


def _top(call: Call) -> tuple[TensorType, ...]:
    """The k largest or smallest elements, and their positions. The first version needs a positive k, says the inference
    of onnx."""
    given = call.attr("k") if call.has("k") else (call.integers("K") or (None,))[0]
    axis = _top_axis(call)
    require(isinstance(given, int), "k is needed")
    assert isinstance(given, int)
    require(call.has("K") or given > 0, "k must be positive")
    require(0 <= given <= call.first.sizes[axis], f"{call.first} has no {given} elements along {axis}")
    values = with_size(call.first, axis, given)
    return values, values.with_dtype(DType.INT64)


def _top_axis(call: Call) -> int:
    """The default of old versions is -1, although they take no other axes from the end."""
    if call.integer("axis") == -1:
        require(call.first.rank > 0, "takes ranks above 0")
        return call.first.rank - 1
    return axis_in(call)


def _top_attributes(source: ChoiceSource, call: Call) -> Attrs | None:
    x, axis = call.first, _some_axis(source, call)
    size = int(x.sizes[axis])
    k = source.choice((1, size, source.integer(min(1, size), size)))
    k = 0 if call.has("K") and source.rarely(4) else min(k, size)
    last = axis == x.rank - 1 and source.chance(50)
    return {
        "axis": -1 if last else written(source, call, axis, x.rank),
        "k": k,
        "K": (k,),
        "largest": source.choice((0, 1)),
        "sorted": source.choice((0, 1)) if k <= 1 else 1,
    }


# --- Unique


def _unique(call: Call) -> tuple[TensorType | None, ...]:
    """For each element, or each slice along the axis, the place of its value among the different ones. The number of
    these depends on the data, so no case reads the other outputs."""
    x = call.first
    size = x.numel if call.attr("axis") is None else x.sizes[axis_in(call)]
    require(x.numel > 0, f"{x} has no elements")
    return None, None, TensorType(DType.INT64, (size,)), None


def _values(b: Builder, schema: Schema) -> tuple[Value, ...]:
    """Computed floats are never chosen: rounding would decide which of them are equal."""
    dtypes = schema.dtypes("X")
    if b.source.chance(60):
        return (b.tensor([dtype for dtype in dtypes if dtype.is_integer], (0, 4)),)
    type = TensorType(b.dtype(dtypes), b.shape(b.source.integer(0, 4)))
    return (b.fresh_input(type, domain=NONZERO),)


def _unique_attributes(source: ChoiceSource, call: Call) -> Attrs:
    rank = call.first.rank
    axis = source.integer(-rank, rank - 1) if rank and source.chance(40) else None
    return {"axis": axis, "sorted": source.choice((0, 1, 1))}


OPERATORS: tuple[Operator, ...] = (
    Operator("ArgMax", _mostly_without_ties, _index, _index_attributes),
    Operator("ArgMin", _mostly_without_ties, _index, _index_attributes, plainer="ArgMax"),
    Operator("TopK", _mostly_without_ties, _top, _top_attributes, {"K": Constant(COUNT)}),
    Operator("Unique", _values, _unique, _unique_attributes),
)
