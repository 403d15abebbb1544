"""The domains in which the operands of calls of PyTorch are defined.

The domain of an operand is taken from the operand that its row makes for itself: a row makes a divisor nonzero and a
variance positive. Indices depend on sizes; their domains are in a table here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

from generators.builder import Builder
from generators.choice import NumpySource
from generators.domain import ANY, MAX_BOUND, Domain, common, distinct, within
from generators.graph import Attrs, Invalid, Node
from generators.guards import range_of
from generators.op import Op, Types, int_of
from generators.table import TABLE
from generators.torch.ops.sample import NAME as TORCH_CALL

DRAWS = 12

_ELEMENTS_UNCHANGED = (
    *("clone", "contiguous", "detach", "identity", "to", "to_cpu", "type_as"),
    *("view", "view_as", "reshape", "reshape_as", "flatten", "ravel", "unflatten", "squeeze", "unsqueeze"),
    *("expand", "expand_as", "broadcast_to", "repeat", "tile", "cat", "stack"),
    *("permute", "transpose", "swapdims", "swapaxes", "t", "mT", "movedim", "moveaxis", "flip", "roll"),
    *("slice", "narrow", "select", "chunk", "split", "split_size", "unbind"),
)
"""Rows that copy elements and compute nothing: the domain that a result needs is the domain that the operand needs."""


def copies(node: Node, place: int) -> bool:
    """Whether the results of a node have the elements of this operand, and nothing else is computed."""
    return node.op in _ELEMENTS_UNCHANGED


def needed(node: Node, place: int, types: Types) -> Domain:
    """The domain that a node needs for its operand number `place`."""
    index_domain = _INDEX_DOMAINS.get((node.op, place))
    if index_domain is not None and types[place].dtype.is_integer:
        return index_domain(types, node.attrs)
    if node.op in ("getitem", "setitem", "setitem_scalar", "setitem_update", "index_put") and place:
        values = node.op in ("setitem", "setitem_update", "index_put") and place == 1
        return ANY if values or not types[place].dtype.is_integer else _index(min(types[0].sizes, default=1))
    if node.op == TORCH_CALL:
        return _perhaps_index(types) if types[place].dtype.is_integer else ANY
    return _row_domain(node.op, place, types[place].dtype.is_float)


# --- indices

IndexDomain = Callable[[Types, Attrs], Domain]


def _index(size: int) -> Domain:
    return within(0, max(min(size, MAX_BOUND) - 1, 0))


def _perhaps_index(types: Types) -> Domain:
    """What an index of any operand may be: nothing says what the integers of a call by name mean."""
    sizes = [size for type in types if type.dtype.is_float for size in type.sizes]
    return _index(min(sizes)) if sizes else ANY


def _along(types: Types, attrs: Attrs) -> Domain:
    sizes = types[0].sizes or (1,)
    return _index(sizes[int_of(attrs, "dim")])


def _once_along(types: Types, attrs: Attrs) -> Domain:
    """Distinct indices where possible: the result of writing twice to one element is not defined."""
    axis, sizes, index = int_of(attrs, "dim"), types[0].sizes or (1,), types[1].sizes or (1,)
    if index[axis] > sizes[axis]:
        return _along(types, attrs)
    return distinct(0, sizes[axis] - 1, axis % len(sizes)) if types[1].rank == len(sizes) else _once(types, attrs)


def _once(types: Types, attrs: Attrs) -> Domain:
    """Distinct positions along a dimension, given as a list."""
    size = (types[0].sizes or (1,))[int_of(attrs, "dim")]
    if types[1].rank != 1 or types[1].numel > size:
        return _along(types, attrs)
    return distinct(0, size - 1, 0)


def _classes(types: Types, attrs: Attrs) -> Domain:
    return _index(types[0].sizes[1 if types[0].rank > 1 else 0])


_INDEX_DOMAINS: Mapping[tuple[str, int], IndexDomain] = {
    ("embedding", 0): lambda types, attrs: _index(types[1].sizes[0]),
    ("embedding_bag", 0): lambda types, attrs: _index(types[1].sizes[0]),
    ("gather", 1): _along,
    ("index_select", 1): _along,
    ("take", 1): lambda types, attrs: _index(types[0].numel),
    ("take_along_dim", 1): lambda types, attrs: _index(min(types[0].sizes, default=1)),
    ("one_hot", 0): lambda types, attrs: _index(int_of(attrs, "num_classes")),
    ("scatter", 1): _once_along,
    ("scatter_value", 1): _once_along,
    ("scatter_add", 1): _along,
    ("scatter_reduce", 1): _along,
    ("scatter_prod", 1): _along,
    ("index_add", 1): _along,
    ("index_copy", 1): _once,
    ("index_fill", 1): _along,
    ("index_fill_tensor", 1): _along,
    ("index_reduce", 1): _along,
    ("index_prod", 1): _along,
    ("cross_entropy", 1): _classes,
    ("nll_loss", 1): _classes,
}


# --- the operands that a row makes


@functools.cache
def _row_domain(op: str, place: int, of_floats: bool) -> Domain:
    """The domain of operand number `place`: what all operands have in common that the row makes in `DRAWS` draws."""
    drawn = (_drawn(TABLE[op], place, of_floats, seed) for seed in range(DRAWS))
    return common([domain for domain in drawn if domain is not None])


def _drawn(op: Op, place: int, of_floats: bool, seed: int) -> Domain | None:
    """The domain of the operand in one draw; None where the draw has no such operand. A `clamp` in the graph counts as
    a range."""
    builder = Builder(NumpySource(seed, place))
    try:
        operands = op.operands(builder)
    except Invalid:
        return None
    if operands is None or place >= len(operands) or operands[place].type.dtype.is_float != of_floats:
        return None
    name = operands[place].name
    for item in builder.inputs:
        if item.value.name == name:
            return item.domain
    node = next(node for node in builder.nodes if any(value.name == name for value in node.results))
    return range_of(node)
