"""Reading elements at positions: indexing syntax, gather, take."""

from __future__ import annotations

from collections.abc import Callable

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attrs, DType, Form, TensorType, Value
from generators.op import INT, Infer, Op, Types, int_of, optional, require
from generators.shared.draws import agreed, agreed_axis
from generators.shared.sizes import broadcast, least, product
from generators.torch.ops.indexing import (
    INDEX,
    INDICES,
    LONG,
    agreed_dim,
    agreed_places,
    draw_index,
    draw_size,
    index_dtype,
    index_of,
    index_tensors,
    index_type,
    indices,
    region,
    subscript,
    to_index,
)
from generators.torch.ops.rules import axis_of, require_dtype, size_along

# --- indexing syntax

_COUNTS = (0, 0, 1, 1, 2, 2, 3)
"""The number of tensors in an index."""


def _getitem(types: Types, attrs: Attrs) -> TensorType:
    require(all(t.dtype in INDICES for t in types[1:]), "reading by mask has no static shape")
    return types[0].with_shape(*region(types, index_of(attrs), first=1).shape)


def _getitem_operands(b: Builder) -> tuple[Value, ...]:
    x = to_index(b)
    return x, *index_tensors(b, x.type, agreed_places(x.type, 1, _COUNTS))


def _getitem_attrs(source: ChoiceSource, types: Types) -> Attrs:
    places = agreed_places(types[0], 1, _COUNTS) if len(types) > 1 else {}
    return {"index": draw_index(source, types[0], places)}


def _getitem_source(args: tuple[str, ...], attrs: Attrs) -> str:
    return f"{args[0]}[{subscript(args, attrs)}]"


# --- tensors of indices along a dimension


def _gather(types: Types, attrs: Attrs) -> TensorType:
    x, index = types
    axis = axis_of(int_of(attrs, "dim"), x.rank)
    if index.numel:  # otherwise PyTorch requires nothing else
        require_dtype(types[1:], *INDICES)
        require(max(x.rank, 1) == max(index.rank, 1), f"{index} has not the rank of {x}")
        require(size_along(x, axis) > 0, "a dimension of size 0 has no positions")
        for i in range(min(x.rank, index.rank)):
            require(i == axis or index.sizes[i] <= x.sizes[i], f"{index} is larger than {x}")
    return x.with_shape(*index.sizes)


def gather_index(b: Builder, x: TensorType, axis: int, along: int) -> TensorType:
    """The type of an index into `x`: `along` elements along the axis, at most as many as `x` has along the others."""
    if not x.rank:
        return TensorType(index_dtype(b), (along,) if b.source.chance(50) else ())
    sizes = [along if i == axis else draw_size(b, size) for i, size in enumerate(x.sizes)]
    return TensorType(index_dtype(b), tuple(sizes))


def _gather_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor()
    axis = agreed_axis(x.type)
    size = size_along(x.type, axis)
    along = size if b.source.chance(30) else b.source.integer(1, 6)
    return x, indices(b, gather_index(b, x.type, axis, along), size, negative=False)


def _take(types: Types, attrs: Attrs) -> TensorType:
    x, index = types
    require_dtype(types[1:], *LONG)
    require(x.numel > 0 or index.numel == 0, "there is nothing to take from")
    return x.with_shape(*index.sizes)


def _take_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor()
    count = product([least(b, size) for size in x.type.sizes])
    require(count > 0, "there is nothing to take from")
    return x, indices(b, index_type(b, (0, 3), LONG), count)


def _take_along_dim(types: Types, attrs: Attrs) -> TensorType:
    """Without a dim it reads the flat tensor by gather, which takes int32 but no negative numbers; with a dim it is the
    reverse. It flattens by `view`, which always works only for ranks 0 and 1."""
    x, index = types
    if attrs["dim"] is None:
        require_dtype(types[1:], *INDICES)
        require(x.rank <= 1 and index.rank <= 1, "without a dim it takes ranks up to 1")
        require(x.numel > 0 or index.numel == 0, "there is nothing to take from")
        return x.with_shape(index.sizes[0] if index.rank else 1)
    require_dtype(types[1:], *LONG)
    require(x.rank == index.rank > 0, f"{index} has not the rank of {x}")
    axis = axis_of(int_of(attrs, "dim"), x.rank)
    beside = [(*t.sizes[:axis], 1, *t.sizes[axis + 1 :]) for t in types]
    shape = list(broadcast(*beside))
    shape[axis] = index.sizes[axis]
    require(x.sizes[axis] > 0 or 0 in shape, "a dimension of size 0 has no positions")
    return x.with_shape(*shape)


def _is_flat(x: TensorType) -> bool:
    return not x.rank or (x.rank == 1 and agreed(x).chance(50))


def _take_along_dim_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(ranks=(0, 1) if b.source.chance(25) else (1, 5))
    axis = agreed_axis(x.type)
    if _is_flat(x.type):
        return x, indices(b, index_type(b, (0, 1)), size_along(x.type, axis), negative=False)
    shape = [1 if b.source.chance(25) else b.source.integer(1, 3) if size == 1 else size for size in x.type.sizes]
    shape[axis] = b.source.integer(1, 6)
    return x, indices(b, TensorType(DType.INT64, tuple(shape)), x.type.sizes[axis])


def _take_along_dim_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {"dim": None} if _is_flat(types[0]) else agreed_dim(source, types)


def _index_select(types: Types, attrs: Attrs) -> TensorType:
    x, index = types
    require_dtype(types[1:], *INDICES)
    require(index.rank <= 1, f"{index} is no vector")
    axis = axis_of(int_of(attrs, "dim"), x.rank)
    if not x.rank:
        require(index.numel == 1, "of a 0-d tensor there is one element to select")
        return x
    require(x.sizes[axis] > 0 or index.numel == 0, "a dimension of size 0 has no positions")
    return x.with_shape(*x.sizes[:axis], index.sizes[0] if index.rank else 1, *x.sizes[axis + 1 :])


def _index_select_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor()
    size = size_along(x.type, agreed_axis(x.type))
    type = index_type(b, (1, 1)) if x.type.rank and b.source.chance(92) else TensorType(index_dtype(b), ())
    return x, indices(b, type, size, negative=False)


def _method(name: str, infer: Infer, operands: Callable[[Builder], tuple[Value, ...]]) -> Op:
    """torch.NAME(x, dim, index), a method as well."""
    return Op(
        name,
        operands,
        infer,
        f"torch.{name}({{0}}, {{dim}}, {{1}})",
        agreed_dim,
        {"dim": INT},
        arity=(2, 2),
        forms={Form.METHOD: f"{{0}}.{name}(dim={{dim}}, index={{1}})"},
    )


OPS = (
    Op(
        "getitem",
        _getitem_operands,
        _getitem,
        _getitem_source,
        _getitem_attrs,
        {"index": INDEX},
        arity=(1, 9),
        view=True,
    ),
    _method("gather", _gather, _gather_operands),
    _method("index_select", _index_select, _index_select_operands),
    Op(
        "take",
        _take_operands,
        _take,
        "torch.take({0}, {1})",
        arity=(2, 2),
        forms={Form.METHOD: "{0}.take({1})"},
    ),
    Op(
        "take_along_dim",
        _take_along_dim_operands,
        _take_along_dim,
        "torch.take_along_dim({0}, {1}{more})",
        _take_along_dim_attrs,
        {"dim": optional(INT)},
        {"dim": None},
        arity=(2, 2),
        forms={Form.METHOD: "{0}.take_along_dim({1}{more})"},
    ),
)
