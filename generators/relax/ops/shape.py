"""Operators that move elements to another shape, and join or part tensors."""

from __future__ import annotations

import itertools
import math

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attrs, TensorType, Value
from generators.op import (
    INT,
    INTS,
    POSITIVE,
    SIZES,
    Arithmetic,
    AttrKind,
    Types,
    int_of,
    ints_of,
    one_of,
    optional,
    require,
)
from generators.relax.ops.axes import some_axes, some_axis
from generators.relax.ops.operands import ALL, FLOATS, alike, axes_in, axis_in, one, one_dtype, with_size
from generators.relax.row import Given, row
from generators.shared.draws import further
from generators.shared.sizes import product

MOST = 5
"""The largest rank of a result."""

# --- one tensor


def _reshaped(types: Types, attrs: Attrs) -> TensorType:
    x, wanted = types[0], ints_of(attrs, "shape")
    require(wanted.count(-1) <= 1 and min(wanted, default=1) != 0, "one size at most is -1, and none is 0")
    known = product([size for size in wanted if size > 0])
    total = product(x.sizes)
    if -1 not in wanted:
        require(known == total, f"{x} has not {known} elements")
        return x.with_shape(*wanted)
    require(total % known == 0, f"{total} elements do not part into rows of {known}")
    return x.with_shape(*(total // known if size == -1 else size for size in wanted))


def _draw_shape(source: ChoiceSource, types: Types) -> Attrs:
    """Mostly neighbours joined, or one size parted in two. Sometimes a size is left open as -1."""
    sizes = [int(size) for size in types[0].sizes]
    if source.chance(15):
        return {"shape": (-1,)}
    if len(sizes) > 1 and source.chance(50):
        place = source.integer(0, len(sizes) - 2)
        sizes[place : place + 2] = [sizes[place] * sizes[place + 1]]
    elif sizes and len(sizes) < MOST:
        place = source.integer(0, len(sizes) - 1)
        part = source.choice([d for d in range(1, sizes[place] + 1) if sizes[place] % d == 0])
        sizes[place : place + 1] = [part, sizes[place] // part]
    else:
        sizes.append(1)
    if source.chance(40):
        sizes[source.integer(0, len(sizes) - 1)] = -1
    return {"shape": tuple(sizes)}


def _permuted(types: Types, attrs: Attrs) -> TensorType:
    x = types[0]
    axes = tuple(reversed(range(x.rank))) if attrs["axes"] is None else axes_in(ints_of(attrs, "axes"), x.rank)
    require(len(axes) == x.rank, "names each axis")
    return x.with_shape(*(x.sizes[axis] for axis in axes))


def _draw_order(source: ChoiceSource, types: Types) -> Attrs:
    rank = types[0].rank
    if source.chance(20):
        return {"axes": None}
    return {"axes": some_axes(source, source.shuffled(range(rank)), rank, rank)}


def _expanded(types: Types, attrs: Attrs) -> TensorType:
    x, axes = types[0], ints_of(attrs, "axis")
    rank = x.rank + len(axes)
    require(len(axes) > 0 and rank <= MOST + 1, "adds at least one dimension")
    new, sizes = axes_in(axes, rank), iter(x.sizes)
    return x.with_shape(*(1 if axis in new else next(sizes) for axis in range(rank)))


def _draw_new_axes(source: ChoiceSource, types: Types) -> Attrs:
    rank = types[0].rank
    count = source.choice((1, 1, 1, 2)) if rank < MOST - 1 else 1
    return {"axis": some_axes(source, source.some(range(rank + count), count, count), rank + count, count)}


def _squeezed(types: Types, attrs: Attrs) -> TensorType:
    """Without axes, what is removed depends on open sizes: those are then named."""
    x = types[0]
    if attrs["axis"] is None:
        require(not x.formal().symbols, "names axes where sizes are open")
        return x.with_shape(*(size for size in x.sizes if size != 1))
    axes = axes_in(ints_of(attrs, "axis"), x.rank)
    require(len(axes) > 0 and all(x.sizes[axis] == 1 for axis in axes), f"{axes} of {x} have not the size 1")
    return x.with_shape(*(size for axis, size in enumerate(x.sizes) if axis not in axes))


def _draw_ones(source: ChoiceSource, types: Types) -> Attrs | None:
    x = types[0]
    ones = [axis for axis, size in enumerate(x.sizes) if size == 1]
    if source.chance(20) or not ones:
        return {"axis": None} if ones or source.chance(20) else None
    return {"axis": some_axes(source, ones, x.rank)}


def _flattened(types: Types, attrs: Attrs) -> TensorType:
    return types[0].with_shape(product(types[0].sizes))


def _batch_flattened(types: Types, attrs: Attrs) -> TensorType:
    x = types[0]
    require(x.rank > 1, f"takes a rank of 2 and more, not {x}")
    return x.with_shape(x.sizes[0], product(x.sizes[1:]))


def _flipped(types: Types, attrs: Attrs) -> TensorType:
    axis_in(int_of(attrs, "axis"), types[0].rank)
    return types[0]


def _draw_axis(source: ChoiceSource, types: Types) -> Attrs:
    return {"axis": some_axis(source, types[0].rank)}


def _repeated(types: Types, attrs: Attrs) -> TensorType:
    x, times = types[0], int_of(attrs, "repeats")
    if attrs["axis"] is None:
        return x.with_shape(product(x.sizes) * times)
    axis = axis_in(int_of(attrs, "axis"), x.rank)
    return with_size(x, axis, x.sizes[axis] * times)


def _draw_repeats(source: ChoiceSource, types: Types) -> Attrs:
    rank = types[0].rank
    axis = None if not rank or source.chance(25) else some_axis(source, rank)
    return {"repeats": source.choice((1, 2, 2, 3)), "axis": axis}


def _tiled(types: Types, attrs: Attrs) -> TensorType:
    x, times = types[0], ints_of(attrs, "repeats")
    require(len(times) > 0 and min(times) > 0, "takes positive numbers")
    rank = max(x.rank, len(times))
    sizes = (*(1,) * (rank - x.rank), *x.sizes)
    return x.with_shape(*(a * n for a, n in zip(sizes, (*(1,) * (rank - len(times)), *times), strict=True)))


def _draw_times(source: ChoiceSource, types: Types) -> Attrs:
    rank = max(1, min(MOST, types[0].rank + source.choice((-1, 0, 0, 1))))
    return {"repeats": tuple(source.choice((1, 1, 2, 3)) for _ in range(rank))}


def _broadcast_to(types: Types, attrs: Attrs) -> TensorType:
    x, shape = types[0], ints_of(attrs, "shape")
    kept = shape[len(shape) - x.rank :] if x.rank else ()
    require(len(shape) >= x.rank and min(shape, default=1) > 0, f"{x} does not broadcast to {shape}")
    require(all(a in (1, c) for a, c in zip(x.sizes, kept, strict=True)), f"{x} does not broadcast to {shape}")
    return x.with_shape(*shape)


def _draw_larger(source: ChoiceSource, types: Types) -> Attrs:
    sizes = [source.choice((1, 2, 3, 5)) if size == 1 else int(size) for size in types[0].sizes]
    more = [source.choice((1, 2, 3)) for _ in range(source.choice((0, 0, 1, 2)))]
    return {"shape": tuple([*more, *sizes][-MOST:]) if len(sizes) <= MOST else tuple(sizes)}


def _collapsed(types: Types, attrs: Attrs) -> TensorType:
    """The sum of x over the dimensions along which the shape broadcasts to that of x."""
    x, shape = types[0], ints_of(attrs, "shape")
    require(x.dtype in FLOATS, f"is not defined for {x.dtype}")
    return _to_target(x, shape)


def _collapsed_like(types: Types, attrs: Attrs) -> TensorType:
    require(one_dtype(types) in FLOATS, "is defined for floats")
    return _to_target(types[0], types[1].sizes)


def _to_target(x: TensorType, shape: tuple[int, ...]) -> TensorType:
    kept = x.sizes[x.rank - len(shape) :] if shape else ()
    require(len(shape) <= x.rank, f"{shape} has a higher rank than {x}")
    require(all(new in (1, old) for new, old in zip(shape, kept, strict=True)), f"{x} cannot be summed to {shape}")
    return x.with_shape(*shape)


def _draw_smaller(source: ChoiceSource, types: Types) -> Attrs:
    sizes = types[0].sizes
    kept = sizes[source.integer(0, len(sizes)) :]
    return {"shape": tuple(1 if source.chance(50) else int(size) for size in kept)}


def _collapse_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(FLOATS, (1, 4))
    kept = x.type.shape[b.source.integer(0, x.type.rank) :]
    target = TensorType(x.type.dtype, tuple(1 if b.source.chance(50) else size for size in kept))
    return x, further(b, lambda other: other == target, lambda: target)


def _collapse_terms(types: Types, attrs: Attrs) -> int:
    target = ints_of(attrs, "shape") if "shape" in attrs else types[1].sizes
    return max(1, product(types[0].sizes) // max(1, product(target)))


# --- several tensors


def _same_but(b: Builder, axis: int, x: TensorType) -> Value:
    """A value that differs from x in the size of one axis at most."""

    def fits(other: TensorType) -> bool:
        return other.dtype == x.dtype and other.rank == x.rank and with_size(other, axis, x.sizes[axis]) == x

    return further(b, fits, lambda: with_size(x, axis, b.source.choice((1, 2, 3, 4))) if b.source.chance(50) else x)


def _joined_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(ALL, (1, 4))
    axis = b.source.integer(0, x.type.rank - 1)
    return x, *(_same_but(b, axis, x.type) for _ in range(b.source.choice((0, 1, 1, 1, 2, 3))))


def _concatenated(types: Types, attrs: Attrs) -> TensorType:
    x = types[0]
    one_dtype(types)
    axis = axis_in(int_of(attrs, "axis"), x.rank)
    require(all(t.rank == x.rank for t in types), "operands of several ranks")
    require(all(with_size(t, axis, 1) == with_size(x, axis, 1) for t in types), "operands of other sizes")
    return with_size(x, axis, sum(t.sizes[axis] for t in types))


def _draw_joined(source: ChoiceSource, types: Types) -> Attrs | None:
    x = types[0]
    differ = [axis for axis in range(x.rank) if len({t.sizes[axis] for t in types if t.rank == x.rank}) > 1]
    if len(differ) > 1:
        return None
    axis = differ[0] if differ else source.integer(0, x.rank - 1)
    return {"axis": axis - x.rank if source.chance(30) else axis}


def _several_alike(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(ALL, (0, 3))
    return x, *(alike(b, x.type) for _ in range(b.source.choice((0, 1, 1, 2, 3))))


def _stacked(types: Types, attrs: Attrs) -> TensorType:
    x = types[0]
    require(all(type == x for type in types), "takes tensors of one type")
    axis = axis_in(int_of(attrs, "axis"), x.rank + 1)
    return x.with_shape(*x.sizes[:axis], len(types), *x.sizes[axis:])


def _draw_stacked(source: ChoiceSource, types: Types) -> Attrs:
    return {"axis": some_axis(source, types[0].rank + 1)}


def _parts(types: Types, attrs: Attrs) -> tuple[TensorType, ...]:
    """Equal parts, of which the last may be smaller; or parts that end at these indices."""
    x, how = types[0], attrs["indices_or_sections"]
    axis = axis_in(int_of(attrs, "axis"), x.rank)
    size = x.sizes[axis]
    if isinstance(how, tuple):
        ends = [0, *ints_of(attrs, "indices_or_sections"), size]
        require(all(low < high for low, high in itertools.pairwise(ends)), f"indices of {size} are {how}")
        return tuple(with_size(x, axis, high - low) for low, high in itertools.pairwise(ends))
    count = int_of(attrs, "indices_or_sections")
    require(count > 0 and size % count == 0, f"{size} does not part into {count}")
    return tuple(with_size(x, axis, size // count) for _ in range(count))


def _draw_parts(source: ChoiceSource, types: Types) -> Attrs | None:
    x = types[0]
    axis = some_axis(source, x.rank)
    size = int(x.sizes[axis])
    if source.chance(50) or size < 2:
        counts = [count for count in range(1, min(size, 4) + 1) if size % count == 0]
        return {"indices_or_sections": source.choice(counts), "axis": axis}
    ends = sorted(source.some(range(1, min(size, 40)), 1, 3))
    return {"indices_or_sections": tuple(ends), "axis": axis}


def _vectors(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(ALL, (1, 1))
    others = [
        further(b, lambda t: t.dtype == x.type.dtype and t.rank == 1, lambda: TensorType(x.type.dtype, b.shape(1)))
        for _ in range(b.source.choice((1, 1, 2)))
    ]
    return x, *others


def _grid(types: Types, attrs: Attrs) -> tuple[TensorType, ...]:
    require(all(t.rank == 1 for t in types) and len(types) > 1, "takes vectors")
    one_dtype(types)
    sizes = [t.sizes[0] for t in types]
    return tuple(types[0].with_shape(*sizes) for _ in types)


def _shuffled(types: Types, attrs: Attrs) -> TensorType:
    x, factor = types[0], int_of(attrs, "upscale_factor")
    require(x.rank >= 3, f"takes a rank of 3 and more, not {x}")
    *lead, channels, height, width = x.sizes
    require(channels % factor**2 == 0, f"{channels} channels do not part into {factor} x {factor}")
    return x.with_shape(*lead, channels // factor**2, height * factor, width * factor)


def _draw_factor(source: ChoiceSource, types: Types) -> Attrs:
    channels = int(types[0].sizes[-3])
    return {"upscale_factor": source.choice([f for f in range(1, math.isqrt(channels) + 1) if channels % f**2 == 0])}


def _images_of_squares(b: Builder) -> tuple[Value, ...]:
    channels = b.source.choice((4, 4, 8, 9, 16))
    type = TensorType(b.dtype(FLOATS), (b.source.choice((1, 2)), channels, *b.shape(2)))
    return (b.pick(lambda t: t.dtype in FLOATS and t.rank in (3, 4) and t.sizes[-3] % 4 == 0, lambda: type),)


COUNT_OR_ENDS = AttrKind(
    "a number of parts, or where they end", lambda v: POSITIVE.accepts(v) or (INTS.accepts(v) and v != ())
)

OPS = (
    row("reshape", one(), _reshaped, _draw_shape, {"shape": SIZES}, arguments=("shape",), moves=True),
    row("permute_dims", one(), _permuted, _draw_order, {"axes": optional(INTS)}, moves=True, may_be_open=True),
    row("expand_dims", one(), _expanded, _draw_new_axes, {"axis": INTS}, moves=True, may_be_open=True),
    row("squeeze", one(), _squeezed, _draw_ones, {"axis": optional(INTS)}, moves=True),
    row("flatten", one(), _flattened, moves=True),
    row("nn.batch_flatten", one(FLOATS, (2, 5)), _batch_flattened, moves=True),
    row("flip", one(ALL, (1, 5)), _flipped, _draw_axis, {"axis": INT}, moves=True, may_be_open=True),
    row(
        "repeat",
        one(ALL, (0, 4)),
        _repeated,
        _draw_repeats,
        {"repeats": POSITIVE, "axis": optional(INT)},
        moves=True,
        may_be_open=True,
    ),
    row("tile", one(ALL, (0, 4)), _tiled, _draw_times, {"repeats": INTS}, moves=True, may_be_open=True),
    row("broadcast_to", one(), _broadcast_to, _draw_larger, {"shape": SIZES}, arguments=("shape",), moves=True),
    row(
        "collapse_sum_to",
        one(FLOATS, (1, 4)),
        _collapsed,
        _draw_smaller,
        {"shape": SIZES},
        arguments=("shape",),
        terms=_collapse_terms,
        arithmetic=Arithmetic.SUM_IN_ANY,
    ),
    row(
        "collapse_sum_like",
        _collapse_operands,
        _collapsed_like,
        arity=2,
        terms=_collapse_terms,
        arithmetic=Arithmetic.SUM_IN_ANY,
    ),
    row(
        "concat",
        _joined_operands,
        _concatenated,
        _draw_joined,
        {"axis": INT},
        arity=(1, 16),
        given=Given.TUPLE,
        moves=True,
    ),
    row("stack", _several_alike, _stacked, _draw_stacked, {"axis": INT}, arity=(1, 16), given=Given.TUPLE, moves=True),
    row(
        "split", one(ALL, (1, 4)), _parts, _draw_parts, {"indices_or_sections": COUNT_OR_ENDS, "axis": INT}, moves=True
    ),
    row(
        "meshgrid",
        _vectors,
        _grid,
        lambda source, types: {"indexing": "ij"},
        {"indexing": one_of("ij")},
        arity=(2, 16),
        given=Given.TUPLE,
        moves=True,
    ),
    row("nn.pixel_shuffle", _images_of_squares, _shuffled, _draw_factor, {"upscale_factor": POSITIVE}, moves=True),
)
