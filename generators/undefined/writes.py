"""Elements of a call's result that several different numbers are written to: which one is there at the end is open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from generators.graph import Array, Attrs
from generators.undefined.elements import Call, Places, Where

Index = Any
"""What numpy takes between brackets."""


def along(key: str) -> Where:
    """The second operand has positions along the axis that the attribute `key` names, the third what is written there.
    The positions have the rank of the result, as for scatter, or are a vector of places of whole slices. Along a vector
    both are the same; PyTorch's scatter takes the first numbers of a source that is longer than they are."""

    def places(call: Call) -> Places:
        shape, index, numbers = call.results[0].sizes, call.args[1], call.args[2]
        if _is_reduced(call.attrs) or not shape or not index.size:
            return Places()
        given = call.attrs.get(key)
        axis = (given if isinstance(given, int) else 0) % len(shape)
        if len(shape) == 1:
            return _open(shape, (index.ravel(),), numbers.ravel()[: index.size])
        if index.ndim == len(shape):
            where: list[Index] = list(np.indices(index.shape, sparse=True))
            where[axis] = index
            numbers = numbers[tuple(map(slice, index.shape))]
        else:
            where = [slice(None)] * len(shape)
            where[axis] = index.ravel()
        return _open(shape, tuple(where), numbers)

    return places


def by_coordinates(call: Call) -> Places:
    """Each row of the second operand has coordinates of an element or a slice, as for ScatterND. A row of no
    coordinates stands for the whole result."""
    if _is_reduced(call.attrs):
        return Places()
    sizes, coordinates = call.results[0].sizes, call.args[1]
    if not coordinates.shape[-1]:  # a dimension of size 1 in front, whose only place each row names
        whole = np.zeros(coordinates.shape[:-1], np.int64)
        found = _open((1, *sizes), (whole,), call.args[2])
        return Places(results={0: found.results[0][0]})
    return _open(sizes, tuple(np.moveaxis(coordinates, -1, 0)), call.args[2])


def into_flat(call: Call) -> Places:
    """The second operand has positions in the flat tensor, the third what is put there."""
    if _is_reduced(call.attrs) or not call.args[1].size:
        return Places()
    return _flat(call.results[0].sizes, call.args[1], call.args[2])


def by_tensors(values: int) -> Where:
    """Tensors index the leading dimensions of the first operand: all operands but this one, which is written."""

    def places(call: Call) -> Places:
        if _is_reduced(call.attrs):
            return Places()
        others = list(call.args[1:])
        numbers = others.pop(values - 1 if values > 0 else values)
        return _open(call.results[0].sizes, tuple(others), numbers)

    return places


def by_items(call: Call) -> Places:
    """The attribute `index` has what stands between the brackets of an assignment, the second operand what is
    written. PyTorch selects by numbers first, and by all other items in what is left."""
    sizes = call.results[0].sizes
    items = _without_ellipsis([_item(str(each), call.args) for each in _items(call.attrs)], len(sizes))
    first: list[Index] = []
    for item in items:
        first += [item] if isinstance(item, int) else [slice(None)] * _dimensions(item)
    rest = tuple(item for item in items if not isinstance(item, int))
    return _open(sizes, rest, call.args[1], (*first, Ellipsis))


def unpooled(rank: int) -> Where:
    """The second operand has positions in the last `rank` dimensions of the result; with 0, in the flat result."""

    def places(call: Call) -> Places:
        numbers, positions = call.args[:2]
        sizes = call.results[0].sizes
        if not rank:
            return _flat(sizes, positions, numbers)
        lead = int(np.prod(sizes[:-rank], dtype=np.int64))
        image = int(np.prod(sizes[-rank:], dtype=np.int64))
        starts = image * np.arange(lead).reshape(-1, 1)
        return _flat(sizes, positions.reshape(lead, -1) + starts, numbers)

    return places


def _is_reduced(attrs: Attrs) -> bool:
    """Whether what is written is added, multiplied or compared, so that its order does not matter."""
    if attrs.get("accumulate") is True or attrs.get("reduce") is not None:
        return True
    return attrs.get("reduction") not in (None, "none", "update")


def _flat(sizes: Sequence[int], positions: Array, numbers: Array) -> Places:
    count = int(np.prod(sizes, dtype=np.int64))
    found = _open((count,), (positions.ravel() % count if count else positions.ravel(),), numbers.ravel())
    return Places(results={0: found.results[0].reshape(sizes)})


def _open(sizes: Sequence[int], where: Index, numbers: Array, first: Index = ()) -> Places:
    """The elements to which `result[first][where] = numbers` writes two numbers that differ. Two NaN do."""
    wide = numbers.astype(np.float64 if numbers.dtype.kind == "f" else np.int64)
    times, least = np.zeros(sizes, np.int64), np.full(sizes, _largest(wide), wide.dtype)
    most = -least
    np.add.at(times[first], where, 1)
    written = _with_rank(wide, times[first][where].ndim)
    np.minimum.at(least[first], where, written)
    np.maximum.at(most[first], where, written)
    return Places(results={0: (times > 1) & (least != most)})


def _largest(numbers: Array) -> float | int:
    return np.inf if numbers.dtype.kind == "f" else np.iinfo(np.int64).max


def _with_rank(numbers: Array, rank: int) -> Array:
    """The numbers without leading dimensions of size 1, of which an assignment takes any number."""
    return numbers.reshape(numbers.shape[max(numbers.ndim - rank, 0) :])


# --- the items of an index


def _items(attrs: Attrs) -> tuple[object, ...]:
    found = attrs["index"]
    assert isinstance(found, tuple)
    return found


def _item(text: str, args: Sequence[Array]) -> Index:
    """One item as numpy takes it. `generators.torch.ops.indexing` says which texts there are."""
    match text:
        case "...":
            return Ellipsis
        case "None":
            return None
    if text.startswith("{"):
        tensor = args[int(text[1:-1])]
        return tensor if tensor.ndim else int(tensor)
    if text.startswith("["):
        return np.array([int(number) for number in text[1:-1].split(",")])
    if ":" in text:
        return slice(*(int(bound) if bound else None for bound in text.split(":")))
    return int(text)


def _without_ellipsis(items: Sequence[Index], rank: int) -> list[Index]:
    """The items, with as many `:` as the ellipsis stands for. Where that is none, numpy takes tensors on both sides of
    it as apart from each other, and PyTorch as adjacent."""
    spared = rank - sum(map(_dimensions, items))
    return [part for item in items for part in ([slice(None)] * spared if item is Ellipsis else [item])]


def _dimensions(item: Index) -> int:
    """How many dimensions an item indexes; none for an ellipsis."""
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if isinstance(item, np.ndarray) and item.dtype == np.bool_ else 1
