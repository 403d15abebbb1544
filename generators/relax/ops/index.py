"""Parts of tensors, elements at indices, and elements written to indices."""

from __future__ import annotations

from collections.abc import Sequence

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import distinct, within
from generators.graph import Attr, Attrs, DType, TensorType, Value
from generators.op import BOOL, INT, INTS, NUMBER, POSITIVE, Types, int_of, ints_of, one_of, optional, require
from generators.relax.ops.axes import some_axis
from generators.relax.ops.operands import (
    ALL,
    FLOATS,
    INDICES,
    NUMERIC,
    axes_in,
    axis_in,
    one,
    with_size,
)
from generators.relax.row import Given, row
from generators.shared.sizes import least, sliced
from generators.symbolic import formula

FAR = 2**31 - 1
"""The number that frontends write for the end of a dimension."""

# --- slices


def _sliced(types: Types, attrs: Attrs) -> TensorType:
    x, steps = types[0], attrs["strides"]
    axes, begin, end = axes_in(ints_of(attrs, "axes"), x.rank), ints_of(attrs, "begin"), ints_of(attrs, "end")
    strides = (1,) * len(axes) if steps is None else ints_of(attrs, "strides")
    require(0 < len(axes) == len(begin) == len(end) == len(strides), "takes as many bounds as axes")
    require(min(strides) > 0, "goes forwards")
    for axis, first, last, step in zip(axes, begin, end, strides, strict=True):
        x = with_size(x, axis, sliced(x.sizes[axis], first, last, step))
    return x


def _draw_slices(source: ChoiceSource, types: Types) -> Attrs:
    x = types[0]
    axes = source.some(range(x.rank), 1, min(x.rank, 3))
    begin, end, strides = [], [], []
    for axis in axes:
        size = int(x.sizes[axis])
        low = source.integer(0, size - 1) if source.chance(60) else 0
        high = source.integer(low + 1, size) if source.chance(60) else size
        begin.append(low - size if source.chance(20) else low)
        end.append(high if high < size or source.chance(70) else FAR)
        strides.append(source.choice((1, 1, 2, 3)))
    stepped = source.chance(50)
    return {
        "axes": tuple(axes),
        "begin": tuple(begin),
        "end": tuple(end),
        "strides": tuple(strides) if stepped else None,
    }


_SLICES = {"axes": INTS, "begin": INTS, "end": INTS, "strides": optional(INTS)}


def _cut(types: Types, attrs: Attrs) -> TensorType:
    """Bounds and steps of all axes are tensors, here constants."""
    x, found = types[0], []
    begin, end, strides = (ints_of(attrs, key) for key in ("begin", "end", "strides"))
    require(x.rank == len(begin) == len(end) == len(strides), "takes as many bounds as axes")
    require(all(strides), "a step of 0")
    for size, first, last, step in zip(x.sizes, begin, end, strides, strict=True):
        if step > 0:
            found.append(sliced(size, first, last, step))
        else:
            require(size.__class__ is int or formula(size).constant is not None, "an open size from its end")
            found.append(len(range(*slice(first, last, step).indices(int(size)))))
    return x.with_shape(*found)


def _draw_cut(source: ChoiceSource, types: Types) -> Attrs:
    begin, end, strides = [], [], []
    for size in map(int, types[0].sizes):
        low = source.integer(0, size - 1) if source.chance(50) else 0
        high = source.integer(low + 1, size) if source.chance(50) else size
        step = source.choice((1, 1, 1, 2, 3))
        if source.chance(20):  # backwards, from the last to the first
            begin.append(high - 1)
            end.append(low - 1 if low else -size - 1)
            strides.append(-step)
            continue
        begin.append(low - size if source.chance(20) else low)
        end.append(high - size if high < size and source.chance(20) else high)
        strides.append(step)
    return {"begin": tuple(begin), "end": tuple(end), "strides": tuple(strides)}


def _constant(value: Attr) -> str:
    """A tensor of integers."""
    assert isinstance(value, tuple)
    return f'R.const({list(value)}, "int64")'


def _written(types: Types, attrs: Attrs) -> TensorType:
    x, part = types
    axis = axis_in(int_of(attrs, "axis"), x.rank)
    start, end, step = int_of(attrs, "start"), int_of(attrs, "end"), int_of(attrs, "step")
    require(0 <= start < end <= x.sizes[axis] and step > 0, f"no part of {x.sizes[axis]} begins at {start}")
    require(part == with_size(x, axis, (end - start + step - 1) // step), f"{part} does not fit")
    return x


def _part_to_write(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(ALL, (1, 4))
    axis = b.source.integer(0, x.type.rank - 1)
    size = b.source.integer(1, int(x.type.sizes[axis]))
    return x, b.fresh_input(with_size(x.type, axis, size))


def _draw_written(source: ChoiceSource, types: Types) -> Attrs | None:
    x, part = types
    differ = [axis for axis in range(x.rank) if x.sizes[axis] != part.sizes[axis]]
    axis = differ[0] if differ else source.integer(0, x.rank - 1)
    size, count = int(x.sizes[axis]), int(part.sizes[axis])
    step = source.choice([s for s in (1, 1, 2, 3) if (count - 1) * s < size])
    start = source.integer(0, size - 1 - (count - 1) * step)
    return {"start": start, "end": start + (count - 1) * step + 1, "step": step, "axis": axis}


# --- elements at indices


def _places(b: Builder, sizes: Sequence[int], shape: tuple[int, ...], dtype: DType | None = None) -> Value:
    """Indices of any dimension of these sizes, whatever an open size is."""
    most = min(least(b, size) for size in sizes)
    return b.fresh_input(TensorType(dtype or b.source.choice(INDICES), shape), domain=within(0, most - 1))


def _taken_operands(b: Builder) -> tuple[Value, ...]:
    """TVM's documentation of the mode fast takes no indices from the end."""
    x = b.tensor(ALL, (1, 4))
    return x, _places(b, x.type.sizes, b.shape(b.source.choice((0, 1, 1, 2))))


def _taken(types: Types, attrs: Attrs) -> TensorType:
    x, index = types
    require(index.dtype in INDICES, f"indices are {index}")
    if attrs["axis"] is None:
        require(x.rank == 1, "without an axis, it takes of a vector")
        return x.with_shape(*index.sizes)
    axis = axis_in(int_of(attrs, "axis"), x.rank)
    return x.with_shape(*x.sizes[:axis], *index.sizes, *x.sizes[axis + 1 :])


def _draw_taken(source: ChoiceSource, types: Types) -> Attrs:
    x = types[0]
    axis = None if x.rank == 1 and source.chance(30) else some_axis(source, x.rank)
    return {"axis": axis, "mode": source.choice(("fast", "wrap", "clip"))}


def _gathered_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(ALL, (1, 4))
    shape = tuple(b.source.integer(1, least(b, size)) for size in x.type.sizes)
    return x, _places(b, x.type.sizes, shape)


def _gathered(types: Types, attrs: Attrs) -> TensorType:
    x, index = types
    require(index.dtype in INDICES and index.rank == x.rank, f"{index} does not index {x}")
    axis = axis_in(int_of(attrs, "axis"), x.rank)
    fits = all(a <= size for place, (a, size) in enumerate(zip(index.sizes, x.sizes, strict=True)) if place != axis)
    require(fits, f"{index} exceeds {x}")
    return x.with_shape(*index.sizes)


def _draw_axis(source: ChoiceSource, types: Types) -> Attrs:
    return {"axis": some_axis(source, types[0].rank)}


def _tuples_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(ALL, (1, 4))
    depth = b.source.integer(1, x.type.rank)
    lead = b.shape(b.source.choice((0, 1, 1, 2)))
    return x, _places(b, x.type.sizes[:depth], (*lead, depth), DType.INT64)


def _gathered_nd(types: Types, attrs: Attrs) -> TensorType:
    x, index = types
    require(index.dtype is DType.INT64 and index.rank > 0, f"indices are {index}")
    require(int_of(attrs, "batch_dims") == 0 and 1 <= index.sizes[-1] <= x.rank, f"{index} does not index {x}")
    return x.with_shape(*index.sizes[:-1], *x.sizes[index.sizes[-1] :])


def _tensors_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(ALL, (1, 4))
    count = b.source.integer(1, min(x.type.rank, 3))
    shape = b.shape(b.source.choice((1, 1, 2)))
    return x, *(_places(b, (size,), shape) for size in x.type.sizes[:count])


def _indexed(types: Types, attrs: Attrs) -> TensorType:
    x, *index = types
    require(0 < len(index) <= x.rank and all(each.dtype in INDICES for each in index), "takes indices of axes")
    require(len({each.sizes for each in index}) == 1 and index[0].rank > 0, "indices of one shape")
    return x.with_shape(*index[0].sizes, *x.sizes[len(index) :])


# --- elements written to indices


def _scatter_operands(b: Builder) -> tuple[Value, ...]:
    """No two indices along the axis are equal, so that the order of the updates does not matter. The axis is the first,
    or the last for an index that has another size than 1 only there (`_axis_of`)."""
    x = b.tensor(NUMERIC, (1, 3))
    sizes = tuple(least(b, size) for size in x.type.sizes)
    shape = tuple(b.source.integer(1, size) for size in sizes)
    if b.source.chance(40):
        shape = (*(1,) * (len(sizes) - 1), shape[-1])
    axis = _axis_of(shape)
    index = b.fresh_input(TensorType(b.source.choice(INDICES), shape), domain=distinct(0, sizes[axis] - 1, axis))
    return x, index, b.fresh_input(x.type.with_shape(*shape))


def _axis_of(shape: tuple[int, ...]) -> int:
    return len(shape) - 1 if set(shape[:-1]) == {1} and shape[-1] > 1 else 0


def _scattered(types: Types, attrs: Attrs) -> TensorType:
    x, index, updates = types
    axis = axis_in(int_of(attrs, "axis"), x.rank)
    require(updates.dtype == x.dtype and x.dtype in NUMERIC, "updates are of the same dtype")
    require(index.dtype in INDICES and index.rank == x.rank and updates.sizes == index.sizes, f"{index} does not fit")
    require(all(a <= size for a, size in zip(index.sizes, x.sizes, strict=True)), f"{index} exceeds {x}")
    require(index.sizes[axis] <= x.sizes[axis], f"{index} exceeds {x}")
    return x


def _draw_scatter(source: ChoiceSource, types: Types) -> Attrs:
    axis = _axis_of(tuple(int(size) for size in types[1].sizes))
    return {
        "axis": axis - types[0].rank if source.chance(40) else axis,
        "reduction": source.choice(("update", "update", "add", "mul", "min", "max")),
    }


def _put_operands(b: Builder) -> tuple[Value, ...]:
    """An index for each dimension. No element is named twice, because none of the first dimension is."""
    x = b.tensor(NUMERIC, (1, 3))
    first, *others = (least(b, size) for size in x.type.sizes)
    count = b.source.integer(1, first)
    index = b.fresh_input(TensorType(DType.INT64, (count,)), domain=distinct(0, first - 1, 0))
    more = [b.fresh_input(TensorType(DType.INT64, (count,)), domain=within(0, size - 1)) for size in others]
    return x, index, *more, b.fresh_input(x.type.with_shape(count))


def _put(types: Types, attrs: Attrs) -> TensorType:
    x, *index, values = types
    require(len(index) == x.rank and all(each.dtype in INDICES for each in index), "takes an index for each dimension")
    require(all(each.rank == 1 and each.sizes == values.sizes for each in index), "indices and values of one length")
    require(values.dtype == x.dtype, f"{values} do not fit")
    return x


def _coordinates(b: Builder) -> tuple[Value, ...]:
    """Distinct rows of the first dimension."""
    x = b.tensor(NUMERIC, (1, 3))
    size = least(b, x.type.sizes[0])
    count = b.source.integer(1, size)
    flat = b.fresh_input(TensorType(b.source.choice(INDICES), (count, 1)), domain=distinct(0, size - 1, 0))
    return x, flat, b.fresh_input(x.type.with_shape(count, *x.type.sizes[1:]))


def _scattered_nd(types: Types, attrs: Attrs) -> TensorType:
    x, index, updates = types
    require(index.dtype in INDICES and index.rank > 0 and 1 <= index.sizes[-1] <= x.rank, f"{index} does not fit")
    right = x.with_shape(*index.sizes[:-1], *x.sizes[index.sizes[-1] :])
    require(updates == right, f"{updates} do not fit")
    return x


# --- others


def _hot(types: Types, attrs: Attrs) -> TensorType:
    """A number of Python is float64 in TVM."""
    (index,), depth = types, int_of(attrs, "depth")
    require(index.dtype in INDICES, f"indices are {index}")
    axis = axis_in(int_of(attrs, "axis"), index.rank + 1)
    return TensorType(DType.FLOAT64, (*index.sizes[:axis], depth, *index.sizes[axis:]))


def _classes(b: Builder) -> tuple[Value, ...]:
    return (
        b.fresh_input(TensorType(b.source.choice(INDICES), b.shape(b.source.choice((0, 1, 2)))), domain=within(0, 4)),
    )


def _draw_hot(source: ChoiceSource, types: Types) -> Attrs:
    return {
        "on_value": source.choice((1.0, 2.5)),
        "off_value": source.choice((0.0, -1.5)),
        "depth": source.integer(5, 8),
        "axis": some_axis(source, types[0].rank + 1),
    }


def _sequences(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(FLOATS, (2, 4))
    batch, length = x.type.sizes[:2]
    return x, b.fresh_input(TensorType(b.source.choice(INDICES), (batch,)), domain=within(1, least(b, length)))


def _reversed(types: Types, attrs: Attrs) -> TensorType:
    x, lengths = types
    require(x.rank > 1 and lengths.dtype in INDICES and lengths.sizes == x.sizes[:1], f"{lengths} does not fit {x}")
    require((int_of(attrs, "batch_axis"), int_of(attrs, "seq_axis")) == (0, 1), "takes sequences along axis 1")
    return x


_ADDED = one_of("update", "add")

OPS = (
    row(
        "strided_slice",
        one(ALL, (1, 4)),
        _sliced,
        _draw_slices,
        _SLICES,
        arguments=("axes", "begin", "end", "strides"),
        moves=True,
    ),
    row(
        "dynamic_strided_slice",
        one(ALL, (1, 4)),
        _cut,
        _draw_cut,
        {"begin": INTS, "end": INTS, "strides": INTS},
        arguments=("begin", "end", "strides"),
        texts=dict.fromkeys(("begin", "end", "strides"), _constant),
        is_cast=True,
        moves=True,
        plainer="strided_slice",
    ),
    row(
        "slice_scatter",
        _part_to_write,
        _written,
        _draw_written,
        {"start": INT, "end": INT, "step": INT, "axis": INT},
        arity=2,
        arguments=("start", "end", "step"),
        moves=True,
    ),
    row(
        "take",
        _taken_operands,
        _taken,
        _draw_taken,
        {"axis": optional(INT), "mode": one_of("fast", "wrap", "clip")},
        arity=2,
        moves=True,
    ),
    row("gather_elements", _gathered_operands, _gathered, _draw_axis, {"axis": INT}, arity=2, moves=True),
    row(
        "gather_nd",
        _tuples_operands,
        _gathered_nd,
        lambda source, types: {"batch_dims": 0},
        {"batch_dims": INT},
        arity=2,
        moves=True,
    ),
    row("index_tensor", _tensors_operands, _indexed, arity=(2, 6), given=Given.REST, moves=True),
    row(
        "index_put",
        _put_operands,
        _put,
        lambda source, types: {"accumulate": source.chance(40)},
        {"accumulate": BOOL},
        arity=(3, 5),
        given=Given.MIDDLE,
    ),
    row(
        "scatter_elements",
        _scatter_operands,
        _scattered,
        _draw_scatter,
        {"axis": INT, "reduction": one_of("update", "add", "mul", "min", "max")},
        arity=3,
    ),
    row(
        "scatter_nd",
        _coordinates,
        _scattered_nd,
        lambda source, types: {"reduction": source.choice(("update", "add"))},
        {"reduction": _ADDED},
        arity=3,
    ),
    row(
        "one_hot",
        _classes,
        _hot,
        _draw_hot,
        {"on_value": NUMBER, "off_value": NUMBER, "depth": POSITIVE, "axis": INT},
        arguments=("on_value", "off_value"),
    ),
    row(
        "reverse_sequence",
        _sequences,
        _reversed,
        lambda source, types: {"seq_axis": 1, "batch_axis": 0},
        {"seq_axis": INT, "batch_axis": INT},
        arity=2,
        moves=True,
    ),
)
