"""Other shapes of the same numbers, and shapes as numbers."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attrs, DType, Form, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.operator import Constant, Operator
from generators.onnx.ops import blocks
from generators.onnx.ops.axes import FROM_END, axes_in, axes_one_by_one
from generators.onnx.ops.operands import one
from generators.onnx.schema import Schema
from generators.op import SIZES, require
from generators.shared.sizes import product
from generators.symbolic import Size

# --- Reshape, Flatten


def _reshape(call: Call) -> TensorType:
    """A size of 0 stands for the operand's size at that place, unless allowzero is 1; -1 for what is left."""
    x, wanted = call.first, call.integers("shape") or ()
    copies = not (call.has("allowzero") and call.integer("allowzero"))
    text = str(list(wanted))
    require(wanted.count(-1) <= 1 and min(wanted, default=0) >= -1, f"{text} is no shape")
    require(copies or not (0 in wanted and -1 in wanted), "with allowzero, 0 and -1 exclude each other")
    sizes: list[int] = []
    for place, size in enumerate(wanted):
        require(not (copies and size == 0) or place < x.rank, f"0 at place {place} of {text} copies no size")
        sizes.append(x.sizes[place] if copies and size == 0 else size)
    known = product(size for size in sizes if size != -1)
    if -1 in sizes:
        require(known > 0 and x.numel % known == 0, f"{x} does not fit {text}")
        sizes[sizes.index(-1)] = _rest(x, sizes)
    require(product(sizes) == x.numel, f"{x} does not fit {text}")
    return x.with_shape(*sizes)


def _rest(x: TensorType, sizes: list[int]) -> int:
    """The size that -1 stands for. Sizes that both shapes have are not multiplied, so that formulas stay short."""
    ours, theirs = list(x.sizes), [size for size in sizes if size != -1]
    for size in tuple(theirs):
        same = next((other for other in ours if _alike(size, other)), None)
        if same is not None:
            ours.remove(same)
            theirs.remove(size)
    return product(ours) // int(product(theirs))


def _alike(one: int, other: int) -> bool:
    """Whether two sizes are the same number for all sizes of the symbols."""
    if isinstance(one, Size) or isinstance(other, Size):
        return isinstance(one, Size) and isinstance(other, Size) and one.expr == other.expr
    return one == other


def _reshape_attributes(source: ChoiceSource, call: Call) -> Attrs:
    """Neighbours are merged, or sizes are split. Then -1 and 0 stand for some of the sizes; for all that are open."""
    x = call.first
    sizes: list[int] = list(x.sizes)
    for _ in range(source.integer(0, 3)):
        if len(sizes) > 1 and source.chance(50):
            place = source.integer(0, len(sizes) - 2)
            sizes[place : place + 2] = [sizes[place] * sizes[place + 1]]
        elif sizes and source.chance(60):
            place = source.integer(0, len(sizes) - 1)
            factor = source.choice([each for each in (2, 3, 4, 8) if sizes[place] % each == 0] or [1])
            sizes[place : place + 1] = source.shuffled([factor, sizes[place] // factor])
        else:
            sizes.insert(source.integer(0, len(sizes)), 1)
    if call.has("allowzero") and source.chance(40):
        return {"shape": _with_rest(source, sizes) if 0 not in sizes else tuple(sizes), "allowzero": 1}
    copied = [place < x.rank and _alike(size, x.sizes[place]) for place, size in enumerate(sizes)]
    often = 30 if 0 not in sizes and source.chance(70) else 100
    shape = [
        0 if same and (size == 0 or isinstance(size, Size) or source.rarely(often)) else size
        for same, size in zip(copied, sizes, strict=True)
    ]
    return {"shape": _with_rest(source, shape, copied, x), "allowzero": 0}


def _with_rest(
    source: ChoiceSource, sizes: list[int], copied: list[bool] | None = None, x: TensorType | None = None
) -> tuple[int, ...]:
    """Sometimes -1 in place of a size; always in place of the one that is open or 0 where it copies nothing."""
    needed = [
        place
        for place, size in enumerate(sizes)
        if isinstance(size, Size) or (size == 0 and copied is not None and not copied[place])
    ]
    copies_zero = x is not None and any(
        size == 0 and copied is not None and copied[place] and not x.sizes[place] for place, size in enumerate(sizes)
    )
    if needed or (sizes and not copies_zero and source.chance(40)):
        sizes[source.choice(needed or range(len(sizes)))] = -1
    return tuple(sizes)


def _flatten(call: Call) -> TensorType:
    """The dimensions before the axis become one, and those from it on the other."""
    x, axis = call.first, call.integer("axis")
    low = -x.rank if call.schema.since >= FROM_END else 0
    require(low <= axis <= x.rank, f"axis {axis} is out of range for rank {x.rank}")
    axis = axis + x.rank if axis < 0 else axis
    return x.with_shape(product(x.sizes[:axis]), product(x.sizes[axis:]))


def _flatten_attributes(source: ChoiceSource, call: Call) -> Attrs:
    """The interpreter of onnx cannot flatten where no elements are left before the axis: it reshapes to (0, -1)."""
    x = call.first
    axes = [axis for axis in range(x.rank + 1) if product(x.sizes[:axis])]
    axis = source.choice(axes)
    return {"axis": axis - x.rank if axis < x.rank and call.schema.since >= FROM_END and source.chance(40) else axis}


# --- Transpose, Squeeze, Unsqueeze


def _transpose(call: Call) -> TensorType:
    x, perm = call.first, call.integers("perm")
    order = tuple(reversed(range(x.rank))) if perm is None else perm
    require(sorted(order) == list(range(x.rank)), f"{list(order)} is no order of {x.rank} axes")
    return x.with_shape(*(x.sizes[axis] for axis in order))


def _transpose_attributes(source: ChoiceSource, call: Call) -> Attrs:
    """Without an order, or for a 0-d tensor (an attribute cannot be an empty list for onnxruntime), it reverses."""
    axes = range(call.first.rank)
    return {"perm": None if not axes or source.chance(20) else tuple(source.shuffled(axes))}


def _unsqueeze(call: Call) -> TensorType:
    x, named = call.first, call.integers("axes") or ()
    rank = x.rank + len(named)
    axes, rest = axes_in(call, named, rank), iter(x.sizes)
    return x.with_shape(*(1 if axis in axes else next(rest) for axis in range(rank)))


def _unsqueeze_attributes(source: ChoiceSource, call: Call) -> Attrs:
    count = source.choice((1, 1, 1, 2, 2, 3))
    rank = call.first.rank + count
    places = source.some(range(rank), count, count)
    return {"axes": axes_one_by_one(source, call, places, rank, least=count)}


def _squeeze(call: Call) -> TensorType:
    """Without axes, all sizes of 1 are left out."""
    x, named = call.first, call.integers("axes")
    if named is None:
        return x.with_shape(*(size for size in x.sizes if size != 1))
    axes = axes_in(call, named, x.rank)
    for axis in axes:
        require(x.sizes[axis] == 1, f"axis {axis} of {x} has not the size 1")
    return x.with_shape(*(size for axis, size in enumerate(x.sizes) if axis not in axes))


def _squeeze_attributes(source: ChoiceSource, call: Call) -> Attrs:
    ones = [axis for axis, size in enumerate(call.first.sizes) if size == 1 and not isinstance(size, Size)]
    return {"axes": None if not ones or source.chance(25) else axes_one_by_one(source, call, ones, call.first.rank)}


def _some_ones(b: Builder, schema: Schema) -> tuple[Value, ...]:
    """A tensor with sizes of 1, mostly."""

    def otherwise() -> TensorType:
        sizes = list(b.shape(b.source.integer(1, 4)))
        sizes[b.source.integer(0, len(sizes) - 1)] = 1
        return TensorType(b.dtype(dtypes), tuple(sizes))

    dtypes = schema.dtypes("data")
    if b.source.chance(15):
        return (b.tensor(dtypes),)
    return (b.pick(lambda t: t.dtype in dtypes and 1 in t.sizes, otherwise),)


# --- Expand, Tile


def _expand(call: Call) -> TensorType:
    """The operand broadcasts with a tensor of the given shape: sizes may be 1 in either."""
    x, shape = call.first, call.integers("shape") or ()
    text = str(list(shape))
    require(min(shape, default=0) >= 0, f"{text} is no shape")
    rank = max(x.rank, len(shape))
    ours, theirs = ((1,) * (rank - len(sizes)) + tuple(sizes) for sizes in (x.sizes, shape))
    for mine, other in zip(ours, theirs, strict=True):
        require(1 in (mine, other) or mine == other, f"{x} does not expand to {text}")
    return x.with_shape(*(mine if other == 1 else other for mine, other in zip(ours, theirs, strict=True)))


def _expand_attributes(source: ChoiceSource, call: Call) -> Attrs:
    """Sizes of 1 grow, other sizes are repeated or written as 1 (so are open ones); dimensions are added or left out
    at the front."""
    shape = [
        source.choice((1, 1, 2, 3, 4, 7)) if size == 1 else 1 if isinstance(size, Size) or source.chance(25) else size
        for size in call.first.sizes
    ]
    if source.chance(35):
        shape = [source.choice((1, 2, 3)) for _ in range(source.integer(1, 2))] + shape
    elif source.chance(20):
        shape = shape[source.integer(0, len(shape)) :]
    if 1 in shape and source.rarely(4):
        shape[shape.index(1)] = 0 if len(shape) > call.first.rank or call.first.sizes[shape.index(1)] == 1 else 1
    return {"shape": tuple(shape)}


def _tile(call: Call) -> TensorType:
    x, repeats = call.first, call.integers("repeats") or ()
    require(len(repeats) == x.rank and min(repeats, default=0) >= 0, f"{list(repeats)} does not repeat {x}")
    return x.with_shape(*(size * count for size, count in zip(x.sizes, repeats, strict=True)))


def _tile_attributes(source: ChoiceSource, call: Call) -> Attrs:
    counts = (1, 1, 1, 2, 2, 3, 4) if source.chance(92) else (0, 1, 2)
    return {"repeats": tuple(source.choice(counts) for _ in call.first.sizes)}


# --- Shape, Size


def _shape(call: Call) -> TensorType:
    """The sizes from `start` on, before `end`. Both are clamped to the rank."""
    rank = call.first.rank
    start, end = 0, rank
    if call.has("start"):
        given = call.attr("end")
        start, end = (
            min(max(bound + rank if bound < 0 else bound, 0), rank)
            for bound in (call.integer("start"), given if isinstance(given, int) else rank)
        )
    return TensorType(DType.INT64, (max(end - start, 0),))


def _shape_attributes(source: ChoiceSource, call: Call) -> Attrs:
    rank = call.first.rank
    if not call.has("start") or source.chance(25):
        return {"start": 0}
    start, end = source.integer(-rank, rank), source.integer(-rank, rank)
    if source.chance(15):  # beyond the rank
        start, end = source.choice(((0, rank + 2), (rank + 1, rank + 2), (start, rank + 1)))
    return {"start": start, "end": None if source.chance(40) else end}


OPERATORS: tuple[Operator, ...] = (
    Operator("Reshape", one(), _reshape, _reshape_attributes, {"shape": Constant(SIZES)}, moves=True),
    Operator("Transpose", one(), _transpose, _transpose_attributes, moves=True),
    Operator("Unsqueeze", one(), _unsqueeze, _unsqueeze_attributes, {"axes": Constant()}, moves=True),
    Operator(
        "Squeeze", _some_ones, _squeeze, _squeeze_attributes, {"axes": Constant()}, moves=True, unwritten=(Form.EMPTY,)
    ),
    Operator("Flatten", one(), _flatten, _flatten_attributes, moves=True),
    Operator("Expand", one(), _expand, _expand_attributes, {"shape": Constant(SIZES)}, moves=True),
    Operator("Tile", one(), _tile, _tile_attributes, {"repeats": Constant(SIZES)}, moves=True),
    Operator("Shape", one(), _shape, _shape_attributes),
    Operator("Size", one(), lambda call: TensorType(DType.INT64, ())),
    *blocks.OPERATORS,
)
