"""Parts of a tensor: slices, elements at indices, elements that a condition chooses."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import within
from generators.graph import Attrs, DType, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.operator import PATTERN, Constant, Operator
from generators.onnx.ops.axes import axes_in, axis_in, some_axis, with_size, written
from generators.onnx.ops.operands import one, tensor, tensor_of_model
from generators.onnx.schema import Schema
from generators.op import INTS, require
from generators.shared.draws import agreed, agreed_axis
from generators.shared.sizes import least, product, sliced

# --- Slice

FAR = {DType.INT64: 2**63 - 1, DType.INT32: 2**31 - 1}
"""The numbers that exporters write for the end of a dimension."""


def _slice(call: Call) -> TensorType:
    """The slice of each axis that is named. Without axes, they are the first ones."""
    x, starts, ends = call.first, call.integers("starts") or (), call.integers("ends") or ()
    named, steps = call.integers("axes"), call.integers("steps") if call.has("steps") else None
    axes = axes_in(call, tuple(range(len(starts))) if named is None else named, x.rank)
    steps = (1,) * len(axes) if steps is None else steps
    require(len(starts) == len(ends) == len(axes) == len(steps), "takes as many starts as ends, axes and steps")
    require(0 not in steps, "a step must not be 0")
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        x = with_size(x, axis, sliced(x.sizes[axis], start, end, step))
    return x


def _slice_attributes(source: ChoiceSource, call: Call) -> Attrs:
    x, stepped = call.first, call.has("steps") and source.chance(60)
    most = FAR[DType(call.text("Tind"))] if call.has("starts") and "Tind" in call.attrs else FAR[DType.INT64]
    leading = source.chance(30)
    axes = range(source.integer(1, x.rank)) if leading else source.some(range(x.rank), 1, min(x.rank, 3))
    parts = [_part(source, int(x.sizes[axis]), stepped, most) for axis in axes]
    starts, ends, steps = zip(*parts, strict=True)
    unnamed = leading and source.chance(60)
    return {
        "starts": starts,
        "ends": ends,
        "axes": None if unnamed else tuple(written(source, call, axis, x.rank) for axis in axes),
        "steps": steps if stepped else None,
    }


def _part(source: ChoiceSource, size: int, stepped: bool, most: int) -> tuple[int, int, int]:
    """A start, an end and a step: mostly inside the dimension, sometimes far outside, sometimes empty."""
    step = source.choice((1, 1, 2, 3, -1, -1, -2, -3, size + 1)) if stepped else 1
    if source.chance(10):
        return source.integer(-size - 2, size + 2), source.integer(-size - 2, size + 2), step
    low = source.integer(0, max(size - 1, 0)) if source.chance(70) else 0
    high = source.integer(min(low + 1, size), size) if source.chance(60) else size
    if step > 0:
        start, end = low, high
    else:
        start, end = high - 1, low - 1
    last = source.choice((most, size, size + 3)) if step > 0 else source.choice((-most, -size - 1, -most - 1))
    to_end = (step > 0 and high == size) or (step < 0 and low == 0)
    if to_end and (step < 0 or source.chance(70)):
        end = last
    elif end >= 0 and source.chance(30):
        end -= size
    if step < 0 and high == size and source.chance(40):
        start = source.choice((most, size, size + 2))
    elif source.chance(30):
        start -= size
    return start, end, step


# --- Gather, GatherElements, GatherND


def indices_into(b: Builder, schema: Schema, shape: tuple[int, ...], size: int) -> Value:
    """Indices of a dimension: sometimes from the end, often a constant of the model."""
    size = least(b, size)
    low = 0 if schema.since < 11 or b.source.chance(40) else -size
    return tensor_of_model(b, index_dtype(b, schema), *shape, domain=within(low, max(size - 1, low)))


def some_of(b: Builder, size: int) -> int:
    """The size, or mostly a smaller one: at least 1, unless the size is 0."""
    few = least(b, size)
    return size if not few or b.source.chance(60) else b.source.integer(1, few)


def index_dtype(b: Builder, schema: Schema) -> DType:
    dtypes = schema.dtypes("indices")
    return DType.INT64 if b.source.chance(60) else b.source.choice(dtypes)


def _gather(call: Call) -> TensorType:
    x, indices, axis = call["data"], call["indices"], axis_in(call)
    require(x.sizes[axis] > 0 or indices.numel == 0, "a dimension of size 0 has no positions")
    return x.with_shape(*x.sizes[:axis], *indices.sizes, *x.sizes[axis + 1 :])


def _gather_operands(b: Builder, schema: Schema) -> tuple[Value, ...]:
    x = tensor(b, schema, "data", (1, 4))
    shape = tuple(b.source.integer(1, 4) for _ in range(b.source.choice((0, 0, 1, 1, 2, 3))))
    if shape and b.source.rarely(5):
        shape = (0, *shape[1:])
    return x, indices_into(b, schema, shape, x.type.sizes[agreed_axis(x.type)])


def agreed_attributes(source: ChoiceSource, call: Call) -> Attrs:
    """The axis for which the indices were drawn."""
    return {"axis": written(source, call, agreed_axis(call.first), call.first.rank)}


def _gather_elements(call: Call) -> TensorType:
    x, indices, axis = call["data"], call["indices"], axis_in(call)
    require(x.rank == indices.rank, f"{indices} has not the rank of {x}")
    require(x.sizes[axis] > 0 or indices.numel == 0, "a dimension of size 0 has no positions")
    for place, size in enumerate(indices.sizes):
        require(place == axis or size <= x.sizes[place], f"{indices} is larger than {x}")
    return x.with_shape(*indices.sizes)


def _gather_elements_operands(b: Builder, schema: Schema) -> tuple[Value, ...]:
    """Indices may be smaller than the data beside the axis, and of any size along it."""
    x = tensor(b, schema, "data", (1, 4))
    axis = agreed_axis(x.type)
    sizes = [
        b.source.choice((1, 2, 3, 5, size)) if place == axis else some_of(b, size)
        for place, size in enumerate(x.type.sizes)
    ]
    return x, indices_into(b, schema, tuple(sizes), x.type.sizes[axis])


def _gather_nd(call: Call) -> TensorType:
    """The last dimension of the indices holds positions in as many dimensions after the batches."""
    x, indices = call["data"], call["indices"]
    batches = call.integer("batch_dims") if call.has("batch_dims") else 0
    require(0 <= batches < min(x.rank, indices.rank), f"batch_dims {batches} is too large")
    require(x.sizes[:batches] == indices.sizes[:batches], f"{x} and {indices} have other batches")
    depth = int(indices.sizes[-1])
    require(1 <= depth <= x.rank - batches, f"{x} has no {depth} dimensions to index")
    reached = x.sizes[batches : batches + depth]
    require(product(reached) > 0 or indices.numel == 0, "a dimension of size 0 has no positions")
    return x.with_shape(*indices.sizes[:-1], *x.sizes[batches + depth :])


def _agreed_batches(x: TensorType, schema: Schema) -> int:
    if "batch_dims" not in schema.attributes:
        return 0
    batches: int = agreed(x, "batches").choice((0, 0, *range(x.rank)))
    return batches


def _gather_nd_operands(b: Builder, schema: Schema) -> tuple[Value, ...] | None:
    x = tensor(b, schema, "data", (1, 4))
    batches = _agreed_batches(x.type, schema)
    depth = b.source.integer(1, x.type.rank - batches)
    reached = x.type.sizes[batches : batches + depth]
    if not all(x.type.sizes[: batches + depth]):  # the interpreter of onnx does not take 0 batches
        return None
    middle = tuple(b.source.integer(1, 4) for _ in range(b.source.choice((0, 1, 1, 2))))
    return x, indices_into(
        b, schema, (*x.type.sizes[:batches], *middle, depth), min(least(b, size) for size in reached)
    )


def _gather_nd_attributes(source: ChoiceSource, call: Call) -> Attrs:
    return {"batch_dims": _agreed_batches(call.first, call.schema)}


# --- Compress


def _compress(call: Call) -> TensorType:
    """The slices along the axis where the condition holds; without an axis, elements of the flat tensor."""
    x, condition, axis = call.first, call.attr("condition"), call.attr("axis")
    assert isinstance(condition, tuple)
    size = x.numel if axis is None else x.sizes[axis_in(call)]
    require(len(condition) <= size, f"the condition is longer than {size}")
    kept = sum(item is True for item in condition)
    return x.with_shape(kept) if axis is None else with_size(x, axis_in(call), kept)


def _compress_attributes(source: ChoiceSource, call: Call) -> Attrs:
    """A condition may be shorter than the axis."""
    x = call.first
    axis = some_axis(source, call) if source.chance(65) else None
    size = min(x.numel if axis is None else int(x.sizes[axis]), 64)
    length = size if source.chance(60) else source.integer(min(size, 1), size)
    often = source.choice((20, 50, 50, 80, 100))
    return {"axis": axis, "condition": tuple(source.chance(often) for _ in range(length))}


OPERATORS: tuple[Operator, ...] = (
    Operator(
        "Slice",
        one((1, 5)),
        _slice,
        _slice_attributes,
        {name: Constant(INTS, free=True) for name in ("starts", "ends", "axes", "steps")},
        moves=True,
    ),
    Operator("Gather", _gather_operands, _gather, agreed_attributes, moves=True),
    Operator("GatherElements", _gather_elements_operands, _gather_elements, agreed_attributes, moves=True),
    Operator("GatherND", _gather_nd_operands, _gather_nd, _gather_nd_attributes, moves=True),
    Operator(
        "Compress",
        one((1, 4)),
        _compress,
        _compress_attributes,
        {"condition": Constant(PATTERN, DType.BOOL)},
        moves=True,
    ),
)
