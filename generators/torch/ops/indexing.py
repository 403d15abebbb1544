"""Indexing syntax, `x[1, ::2, None, ..., y]`, as an attribute: shared by rows that read and rows that write."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import distinct, within
from generators.graph import Attr, Attrs, DType, Role, TensorType, Value
from generators.op import AttrKind, Types, require
from generators.shared.draws import agreed, agreed_axis
from generators.shared.sizes import broadcast, least
from generators.torch.ops.guard import clamped
from generators.undefined import convertible

INDICES = (DType.INT64, DType.INT32)
LONG = (DType.INT64,)

_INT = "-?(?:0|[1-9][0-9]{0,8})"
_ITEM = re.compile(
    rf"{_INT}|(?:{_INT})?:(?:{_INT})?(?::[1-9][0-9]{{0,8}})?|None|\.\.\.|\[{_INT}(?:, {_INT})*\]|\{{[1-9]\}}"
)


def _is_index(value: Attr) -> bool:
    return isinstance(value, tuple) and all(isinstance(item, str) and _ITEM.fullmatch(item) for item in value)


INDEX = AttrKind("a list of items: -2, 1:-1:2, None, ..., [0, -1], or {1} for operand 1", _is_index)


def index_of(attrs: Attrs) -> tuple[str, ...]:
    value = attrs["index"]
    assert isinstance(value, tuple)
    return tuple(map(str, value))


def subscript(args: tuple[str, ...], attrs: Attrs) -> str:
    """The text between the brackets."""
    return ", ".join(args[int(i[1:-1])] if i.startswith("{") else i for i in index_of(attrs)) or "()"


# --- inference


@dataclass(frozen=True, slots=True)
class Region:
    """The elements that an index selects. The number of elements of a mask is unknown, so `shape` has a 1 there."""

    shape: tuple[int, ...]
    by_tensor: bool = False
    by_mask: bool = False


def region(types: Types, index: Sequence[str], first: int, *, once: bool = False) -> Region:
    """The region that `index` selects in the first operand; with `once`, no position twice. Tensors in the index are
    the operands from number `first` on.

    Integers and 0-d tensors select first, and their dimensions disappear. Then the tensors broadcast with each other.
    Their dimensions stay in place if no slice and no None is between them, and come first otherwise.
    """
    x = types[0]
    shape: list[int] = []
    places: list[int] = []  # of the tensors, in `shape`
    shapes: list[tuple[int, ...]] = []
    indexed: list[int] = []  # sizes of what they index
    axis, mask = 0, False
    for item in _without_ellipsis(types, index, first):
        if item == "None":
            shape.append(1)
            continue
        operand = types[int(item[1:-1])] if item.startswith("{") else None
        if operand is not None and operand.dtype is DType.BOOL:
            sizes = x.sizes[axis : axis + operand.rank]
            require(operand.sizes == sizes, f"a mask {operand} does not fit the sizes {sizes}")
            places.append(len(shape))
            shapes.append((1,))
            axis, mask = axis + operand.rank, True
            continue
        size, axis = x.sizes[axis], axis + 1
        if operand is not None and operand.rank:
            places.append(len(shape))
            shapes.append(operand.sizes)
            indexed.append(size)
        elif item.startswith("["):
            listed = [int(number) for number in item[1:-1].split(",")]
            require(all(-size <= number < size for number in listed), f"{item} is out of range for size {size}")
            require(not once or len({number % size for number in listed}) == len(listed), f"{item} names one twice")
            places.append(len(shape))
            shapes.append((len(listed),))
        elif ":" in item:
            shape.append(slice_length(size, item))
        elif operand is not None:
            require(size > 0, "nothing can be selected of size 0")
        else:
            require(-size <= int(item) < size, f"index {item} is out of range for size {size}")
    require(not mask or len(places) == 1, "a mask selects a number of elements that nothing else is known to have")
    if not places:
        return Region(tuple(shape))
    joint = broadcast(*shapes)
    require(0 not in indexed or 0 in joint, "a dimension of size 0 has no positions")
    start = places[0] if all(a == b for a, b in pairwise(places)) else 0
    return Region((*shape[:start], *joint, *shape[start:]), True, mask)


def _without_ellipsis(types: Types, index: Sequence[str], first: int) -> list[str]:
    """The items, with ":" for each dimension that has no item."""
    taken = 0
    for item in index:
        operand = int(item[1:-1]) if item.startswith("{") else None
        if operand is None:
            taken += item not in ("None", "...")
            continue
        require(first <= operand < len(types), f"{item} is no operand that indexes")
        type = types[operand]
        is_mask = type.dtype is DType.BOOL and type.rank > 0
        require(type.dtype in INDICES or is_mask, f"{type} cannot index")
        taken += type.rank if is_mask else 1
    rest = types[0].rank - taken
    require(rest >= 0, f"too many indices for {types[0]}")
    require(index.count("...") <= 1, "an index takes one ellipsis")  # PyTorch reads a second one as ":"
    place = index.index("...") if "..." in index else len(index)
    return [*index[:place], *[":"] * rest, *index[place + 1 :]]


def slice_length(size: int, item: str) -> int:
    start, end, step = (*item.split(":"), "")[:3]
    low, high = _bound(size, start, 0), _bound(size, end, size)
    every = int(step or 1)
    return 0 if high <= low else (high - low + every - 1) // every


def _bound(size: int, text: str, otherwise: int) -> int:
    if not text:
        return otherwise
    bound = int(text)
    if bound < 0:
        return size + bound if size + bound > 0 else 0
    return bound if bound < size else size


def fits(value: TensorType, shape: tuple[int, ...]) -> bool:
    """Whether the value expands to the shape."""
    return value.rank <= len(shape) and all(
        mine in (1, theirs) for mine, theirs in zip(reversed(value.sizes), reversed(shape), strict=False)
    )


# --- drawing


def agreed_dim(source: ChoiceSource, types: Types) -> Attrs:
    axis = agreed_axis(types[0])
    return {"dim": axis - max(types[0].rank, 1) if source.chance(40) else axis}


def indices(b: Builder, type: TensorType, size: int, *, negative: bool = True) -> Value:
    """Indices into a dimension of this size: an input, or a computed value, clamped."""
    size = least(b, size)
    low = -size if negative else 0
    computed = [value for value in b.results() if value.type == type]
    if computed and size and b.source.chance(60):
        return clamped(b, b.source.choice(computed), low, size - 1)
    return b.fresh_input(type, domain=within(low, max(size - 1, low)))


def index_type(b: Builder, ranks: tuple[int, int], dtypes: Sequence[DType] = INDICES) -> TensorType:
    """A small type for indices, sometimes the type of an existing value."""
    low, high = ranks
    there = [
        v.type for v in b.results() if v.type.dtype in dtypes and low <= v.type.rank <= high and v.type.numel <= 64
    ]
    if there and b.source.chance(50):
        return b.source.choice(there)
    shape = tuple(b.source.integer(1, 4) for _ in range(b.source.integer(low, high)))
    if shape and b.source.chance(4):
        shape = (0, *shape[1:])
    return TensorType(index_dtype(b, dtypes), shape)


def index_dtype(b: Builder, dtypes: Sequence[DType] = INDICES) -> DType:
    return b.source.choice(dtypes) if b.source.chance(40) else DType.INT64


def agreed_places(x: TensorType, first: int, counts: Sequence[int]) -> dict[int, str]:
    """The axes that tensors index, as axis -> item."""
    source = agreed(x)
    axes = [axis for axis, size in enumerate(x.sizes) if size]
    count = min(source.choice(counts), len(axes))
    return {axis: f"{{{first + i}}}" for i, axis in enumerate(source.some(axes, count, count))}


def index_tensors(b: Builder, x: TensorType, places: Mapping[int, str]) -> list[Value]:
    """The tensors for these axes, with shapes that broadcast. None is 0-d: PyTorch reads the number of such a tensor,
    which cannot be traced."""
    joint = index_type(b, (1, 2 if x.rank < 5 else 1))
    found = []
    for axis in places:
        shape = joint.shape
        if len(places) > 1 and b.source.chance(40):
            shape = tuple(1 if b.source.chance(40) else size for size in shape[b.source.integer(0, len(shape) - 1) :])
        type = TensorType(joint.dtype if shape == joint.shape else index_dtype(b), shape)
        found.append(indices(b, type, x.sizes[axis]))
    return found


def distinct_tensors(b: Builder, x: TensorType, places: Mapping[int, str]) -> list[Value]:
    """Tensors for these axes that name no position twice: either all of one length, the first without repetition, or a
    grid."""
    axes = tuple(places)
    grid = len(axes) > 1 and b.source.chance(40)
    length = some_of(b, x.sizes[axes[0]]) if axes else 0
    found = []
    for i, axis in enumerate(axes):
        size = x.sizes[axis]
        if grid:
            shape = (some_of(b, size), *(1,) * (len(axes) - 1 - i))
            found.append(distinct_indices(b, TensorType(index_dtype(b), shape), size, 0))
        elif i == 0:
            found.append(distinct_indices(b, TensorType(index_dtype(b), (length,)), size, 0))
        else:
            found.append(indices(b, TensorType(index_dtype(b), (length,)), size))
    return found


def some_of(b: Builder, size: int) -> int:
    """The number of positions of a dimension to name, each once."""
    return b.source.integer(1, max(min(least(b, size), 6), 1))


def distinct_indices(b: Builder, type: TensorType, size: int, axis: int, *, negative: bool = True) -> Value:
    """Indices into a dimension of this size that differ along an axis. All are counted from the start, or all from the
    end, because -1 is the last position. If the axis is the first one, the module owns the tensor: the layout of an
    input may repeat one slice along it."""
    size = least(b, size)
    low = -size if negative and b.source.chance(40) else 0
    high = max(low + size - 1, low)
    role = Role.BUFFER if type.rank > 1 and axis == 0 else Role.INPUT
    return b.fresh_input(type, role, distinct(low, high, axis) if type.rank else within(low, high))


def to_index(b: Builder) -> Value:
    """The tensor to index: seldom 0-d, which allows few indices."""
    return b.tensor(ranks=(0, 5) if b.source.chance(15) else (1, 5))


def draw_index(
    source: ChoiceSource, x: TensorType, places: Mapping[int, str], *, once: bool = False, lists: bool = True
) -> tuple[str, ...]:
    """An index with tensors (or a mask; "" for its other axes) at these places, and any items at the others. Lists only
    with `lists`, and only of lengths that broadcast with the tensors."""
    items: list[str] = []
    length = 1 if places else source.integer(1, 3)
    for axis, size in enumerate(map(int, x.sizes)):
        if axis in places:
            items += [places[axis]] if places[axis] else []
        elif size and source.chance(15):
            items.append(str(source.integer(-size, size - 1)))
        elif lists and size and source.chance(8):
            items.append(_draw_list(source, size, length, once))
        else:
            items.append(draw_slice(source, size) if source.chance(55) else ":")
    if source.chance(35):
        start = end = source.integer(0, len(items))
        while end < len(items) and items[end] == ":":
            end += 1
        items[start:end] = ["..."]
    elif source.chance(60):
        while items and items[-1] == ":":
            items.pop()
    if source.chance(30) and x.rank < 6:
        for _ in range(source.integer(1, 2)):
            items.insert(source.integer(0, len(items)), "None")
    return tuple(items)


def _draw_list(source: ChoiceSource, size: int, length: int, once: bool) -> str:
    """Where positions must differ, there may be too few of them: then one position, which broadcasts."""
    if once:
        numbers = source.some(range(size), length, length) if length <= size else [0]
    else:
        numbers = [source.integer(0, size - 1) for _ in range(length)]
    return f"[{', '.join(str(n - size if source.chance(30) else n) for n in numbers)}]"


def draw_slice(source: ChoiceSource, size: int) -> str:
    """Bounds inside the dimension, counted from either end; sometimes far outside, or with the start after the end."""
    if source.chance(12):
        start, end = (str(source.integer(-size - 3, size + 3)) for _ in range(2))
    else:
        low = source.integer(0, max(size - 1, 0))
        high = source.integer(min(low + 1, size), size)
        start = "" if low == 0 else str(source.choice((low, low - size)))
        end = (
            source.choice(("", "", str(size), str(size + 5)))
            if high == size
            else str(source.choice((high, high - size)))
        )
    return f"{start}:{end}{source.choice(('', '', '', ':1', ':2', ':3'))}"


def draw_number(source: ChoiceSource, dtype: DType) -> bool | int | float:
    """A number that a tensor of this dtype can hold, sometimes of another kind."""
    low = 0 if dtype is DType.UINT8 else -6
    match source.integer(0, 9):
        case 0:
            return source.chance(50)
        case 1 if not dtype.is_float:
            return source.choice(dtype.range)
        case 1:
            return source.choice((-1e4, 1e4))
        case 2 | 3 | 4:
            return source.integer(low, 6) / 2
        case _:
            return source.integer(low, 6)


def draw_size(b: Builder, size: int) -> int:
    """The size, or a smaller one: at least 1, unless the size is 0."""
    return size if b.source.chance(50) or not size else b.source.integer(1, least(b, size) or 1)


def castable(b: Builder, value: Value, dtype: DType, *, checked: bool = False) -> Value:
    """The value, clamped where a cast to `dtype` could leave its range: the result is undefined for integers
    (`generators.undefined`) and infinite for floats. Wider integers wrap around, except where PyTorch reads one element
    (`checked`) and refuses."""
    mine = value.type.dtype
    if DType.BOOL in (mine, dtype) or mine is dtype:
        return value
    if mine.is_float:
        wide = dtype.is_float and dtype is not DType.FLOAT16
        return value if wide else clamped(b, value, *convertible(dtype))
    if dtype is DType.FLOAT16:
        return clamped(b, value, -60000, 60000)
    return clamped(b, value, *dtype.range) if checked and dtype.is_integer else value
