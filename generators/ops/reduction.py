"""Reductions and cumulative sums."""

from __future__ import annotations

from collections.abc import Callable

from generators.choice import ChoiceSource
from generators.graph import FLOATS, Attrs, DType, TensorType
from generators.ops.base import BOOL, INT, INTS, Op, Terms, Types, int_of, ints_of, optional, require
from generators.ops.operands import one, product
from generators.ops.rules import ALL, NUMERIC, axes_of, axis_of, require_dtype, size_along


def _axes(x: TensorType, attrs: Attrs) -> tuple[int, ...]:
    """The reduced axes: `dim` is null (all of them), a number, or several."""
    dim = attrs["dim"]
    if dim is None:
        return tuple(range(x.rank))
    require(dim != (), "an empty list of dims means all of them to some operators: write null")
    return axes_of(ints_of(attrs, "dim") if isinstance(dim, tuple) else (int_of(attrs, "dim"),), x.rank)


def _reduce(result: Callable[[DType], DType], *dtypes: DType) -> Callable[[Types, Attrs], TensorType]:
    def infer(types: Types, attrs: Attrs) -> TensorType:
        require_dtype(types, *dtypes)
        (x,), axes = types, _axes(types[0], attrs)
        if attrs["keepdim"]:
            shape = tuple(1 if axis in axes else size for axis, size in enumerate(x.sizes))
        else:
            shape = tuple(size for axis, size in enumerate(x.sizes) if axis not in axes)
        return TensorType(result(x.dtype), shape)

    return infer


def _dims(source: ChoiceSource, types: Types) -> Attrs:
    rank = types[0].rank
    axes = source.shuffled(range(rank))[: source.integer(1, rank)]
    return {"dim": tuple(a - rank if source.chance(40) else a for a in axes), "keepdim": source.chance(40)}


def _dims_or_all(source: ChoiceSource, types: Types) -> Attrs:
    return {"dim": None, "keepdim": source.chance(20)} if source.chance(20) else _dims(source, types)


def _dim(source: ChoiceSource, types: Types) -> Attrs:
    return {"dim": source.integer(-types[0].rank, types[0].rank - 1), "keepdim": source.chance(40)}


def _length(types: Types, attrs: Attrs) -> int:
    return product([size_along(types[0], axis) for axis in _axes(types[0], attrs)])


def _same(dtype: DType) -> DType:
    return dtype


def _summed(dtype: DType) -> DType:
    return DType.INT64 if dtype is DType.BOOL else dtype


def _row(
    name: str,
    attrs: Callable[[ChoiceSource, Types], Attrs],
    result: Callable[[DType], DType],
    *dtypes: DType,
    terms: Terms | None = None,
    source: str = "",
) -> Op:
    return Op(
        name,
        one(dtypes, ranks=(1, 5)),
        _reduce(result, *dtypes),
        source or f"torch.{name}({{0}}, dim={{dim}}, keepdim={{keepdim}})",
        attrs,
        {"dim": INT if attrs is _dim else optional(INTS) if attrs is _dims_or_all else INTS, "keepdim": BOOL},
        terms=terms,
    )


def _cumulative(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types, *ALL)
    axis_of(int_of(attrs, "dim"), types[0].rank)
    return types[0].with_dtype(_summed(types[0].dtype))


def _var(types: Types, attrs: Attrs) -> TensorType:
    """The unbiased variance of one number is 0/0: never asked for."""
    require(_length(types, attrs) > int_of(attrs, "correction") >= 0, "var needs more numbers than its correction")
    return _reduce(_same, *FLOATS)(types, attrs)


def _var_attrs(source: ChoiceSource, types: Types) -> Attrs | None:
    attrs = {**_dims(source, types), "correction": source.integer(0, 1)}
    return attrs if _length(types, attrs) > 1 else None


OPS = (
    _row("sum", _dims_or_all, _summed, *ALL, terms=_length),
    _row("mean", _dims_or_all, _same, *FLOATS, terms=_length),
    _row("prod", _dim, _summed, *ALL, terms=_length),
    _row("amax", _dims, _same, *NUMERIC),
    _row("amin", _dims, _same, *NUMERIC),
    _row("argmax", _dim, lambda dtype: DType.INT64, *NUMERIC),
    _row("argmin", _dim, lambda dtype: DType.INT64, *NUMERIC),
    _row("any", _dim, lambda dtype: DType.BOOL, *ALL),
    _row("all", _dim, lambda dtype: DType.BOOL, *ALL),
    _row("logsumexp", _dims, _same, *FLOATS, terms=_length),
    Op(
        "var",
        one(FLOATS, ranks=(1, 5)),
        _var,
        "torch.var({0}, dim={dim}, correction={correction}, keepdim={keepdim})",
        _var_attrs,
        {"dim": INTS, "correction": INT, "keepdim": BOOL},
        terms=_length,
    ),
    Op(
        "cumsum",
        one(ranks=(1, 5)),
        _cumulative,
        "torch.cumsum({0}, dim={dim})",
        lambda source, types: {"dim": source.integer(-types[0].rank, types[0].rank - 1)},
        {"dim": INT},
        terms=lambda types, attrs: size_along(types[0], int_of(attrs, "dim")),
    ),
)
