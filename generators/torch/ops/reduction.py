"""Reductions: sums, products, extremes, logic and counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import NONZERO
from generators.graph import FLOATS, Attr, Attrs, DType, Form, TensorType, Value
from generators.op import (
    BOOL,
    INT,
    NO_ZEROS,
    OPTIONAL_DTYPE,
    ZEROS_WHERE_BOOL,
    Arithmetic,
    AttrKind,
    Infer,
    NumericFacts,
    Op,
    Operands,
    Spelling,
    Types,
    ZeroSensitivity,
    dtype_of,
    optional,
    require,
    zeros_of,
)
from generators.operator_class import OperatorClass
from generators.torch.ops.axes import (
    DIMS,
    count,
    draw_axis,
    draw_dims,
    draw_ranked_axis,
    draw_some_dims,
    left,
    reduced,
    require_elements,
    terms,
    without_ties,
)
from generators.torch.ops.guard import clamped
from generators.torch.ops.operands import one
from generators.torch.ops.rules import ALL, NUMERIC, require_dtype, summed

# --- sums and products


def cast(x: TensorType, attrs: Attrs, otherwise: DType) -> DType:
    """The dtype to which the operand is cast before the sum."""
    return otherwise if attrs["dtype"] is None else dtype_of(attrs)


def draw_dtype(source: ChoiceSource, types: Types) -> Attr:
    if source.chance(60):
        return None
    return source.choice((*FLOATS, DType.BOOL) if types[0].dtype.is_float else ALL).value


def _sum(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    shape = left(x, reduced(x, attrs["dim"]), attrs["keepdim"])
    return TensorType(cast(x, attrs, summed(x.dtype)), shape)


def _mean(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    dtype = dtype_of(attrs) if attrs["dtype"] is not None else x.dtype
    require(dtype.is_float, f"there is no mean in {dtype}")
    return TensorType(dtype, left(x, reduced(x, attrs["dim"]), attrs["keepdim"]))


def _require_dims(attrs: Attrs) -> None:
    """Stricter than PyTorch, for which an empty list means all dims in eager mode and none when it traces."""
    require(attrs["dim"] != (), "takes an empty list of dims for all of them, or for none")


def _nansum(types: Types, attrs: Attrs) -> TensorType:
    _require_dims(attrs)
    return _sum(types, attrs)


def _nanmean(types: Types, attrs: Attrs) -> TensorType:
    _require_dims(attrs)
    require_dtype(types, *FLOATS)
    return _mean(types, attrs)


def _prod(types: Types, attrs: Attrs) -> TensorType:
    require(attrs["dim"] is not None or not attrs["keepdim"], "a product of everything takes no keepdim")
    return _sum(types, attrs)


def _sum_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {**_dims_attrs(source, types), "dtype": draw_dtype(source, types)}


def _mean_attrs(source: ChoiceSource, types: Types) -> Attrs | None:
    """The mean of no numbers is NaN: few of them are drawn."""
    attrs = _dims_attrs(source, types)
    if not count(types[0], reduced(types[0], attrs["dim"])) and source.chance(80):
        return None
    plain = types[0].dtype.is_float and source.chance(60)
    return {**attrs, "dtype": None if plain else source.choice(FLOATS).value}


def _prod_attrs(source: ChoiceSource, types: Types) -> Attrs:
    dtype = draw_dtype(source, types)
    if source.chance(35):
        return {"dim": None, "keepdim": False, "dtype": dtype}
    return {"dim": draw_axis(source, types), "keepdim": source.chance(40), "dtype": dtype}


def factors(b: Builder) -> tuple[Value, ...]:
    """A value whose product is small in every dtype: for many numbers the clamp is narrow. Often without zeros."""
    value = b.tensor()
    if value.type.dtype is DType.BOOL:
        return (value,)
    if b.source.chance(50):
        value = b.fresh_input(value.type, domain=NONZERO)
    length = min(value.type.numel, 99)
    bound = next((bound for bound in (8.0, 3.0, 1.5) if bound**length < 10000), 1.0)
    return (clamped(b, value, -bound, bound),)


# --- extremes


def _amax(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    axes = reduced(x, attrs["dim"])
    require_elements(x, axes)
    return x.with_shape(*left(x, axes, attrs["keepdim"]))


def _aminmax(types: Types, attrs: Attrs) -> Types:
    return (_amax(types, attrs),) * 2


def _max_all(types: Types, attrs: Attrs) -> TensorType:
    require_elements(types[0], range(types[0].rank))
    return types[0].with_shape()


def _max_dim(types: Types, attrs: Attrs) -> Types:
    values = _amax(types, attrs)
    return values, values.with_dtype(DType.INT64)


def _argmax(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types, *NUMERIC)
    return _amax(types, attrs).with_dtype(DType.INT64)


def _mostly_without_ties(dtypes: tuple[DType, ...]) -> Operands:
    """Operands that sometimes have equal numbers, because PyTorch promises to return the index of the first."""

    def operands(b: Builder) -> tuple[Value, ...]:
        numeric = tuple(dtype for dtype in dtypes if dtype is not DType.BOOL)
        return (without_ties(b, numeric) if b.source.chance(60) else b.tensor(dtypes),)

    return operands


def _amax_attrs(source: ChoiceSource, types: Types) -> Attrs:
    dim = () if source.chance(40) else draw_some_dims(source, types)
    return {"dim": dim, "keepdim": source.chance(40)}


def _aminmax_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {"dim": None if source.chance(40) else draw_axis(source, types), "keepdim": source.chance(40)}


def _ranked_attrs(source: ChoiceSource, types: Types) -> Attrs:
    dim = draw_ranked_axis(source, types) if source.chance(75) else draw_axis(source, types)
    return {"dim": dim, "keepdim": source.chance(40)}


def _argmax_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {**_ranked_attrs(source, types), **({"dim": None} if source.chance(30) else {})}


# --- logic and counts


def _any(types: Types, attrs: Attrs) -> TensorType:
    """An empty list of dims reduces nothing here."""
    (x,) = types
    shape = left(x, reduced(x, attrs["dim"], all_if_empty=False), attrs["keepdim"])
    return TensorType(DType.UINT8 if x.dtype is DType.UINT8 else DType.BOOL, shape)


def _count_nonzero(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    return TensorType(DType.INT64, left(x, reduced(x, attrs["dim"]), keepdim=False))


# --- rows

_KEEP = {"dim": DIMS, "keepdim": BOOL}
_ALL_OF_IT: Attrs = {"dim": None, "keepdim": False}


def _dims_attrs(source: ChoiceSource, types: Types) -> dict[str, Attr]:
    return {"dim": draw_dims(source, types), "keepdim": source.chance(40)}


def _summing(
    name: str,
    infer: Infer,
    attrs: Callable[[ChoiceSource, Types], Attrs | None],
    *dtypes: DType,
    zero_sensitivity: ZeroSensitivity = NO_ZEROS,
    plainer: str | None = "mean",
) -> Op:
    """PyTorch's sum with dim=None is another overload than without dim. The function form omits dim."""
    return Op(
        name,
        one(dtypes),
        infer,
        f"torch.{name}({{0}}, dim={{dim}}{{more}})",
        attrs,
        {**_KEEP, "dtype": OPTIONAL_DTYPE},
        {**_ALL_OF_IT, "dtype": None},
        terms=terms,
        forms={
            Form.FUNCTION: Spelling(
                f"torch.{name}({{0}}{{more}})", lambda types, attrs: attrs["dim"] is not None or not attrs["keepdim"]
            ),
            Form.METHOD: f"{{0}}.{name}({{dim}}, {{keepdim}}, dtype={{dtype}})",
        },
        arithmetic=Arithmetic.SUM,
        zero_sensitivity=zero_sensitivity,
        plainer=plainer,
    )


def _reducing(
    name: str,
    infer: Infer,
    attrs: Callable[[ChoiceSource, Types], Attrs | None],
    *dtypes: DType,
    dim: AttrKind = DIMS,
    default: Attr = None,
    operands: Operands | None = None,
    plainer: str | None = None,
    **facts: Unpack[NumericFacts],
) -> Op:
    return Op(
        name,
        operands or one(dtypes),
        infer,
        f"torch.{name}({{0}}{{more}})",
        attrs,
        {"dim": dim, "keepdim": BOOL},
        {"dim": default, "keepdim": False},
        forms={Form.METHOD: f"{{0}}.{name}({{dim}}, {{keepdim}})"},
        plainer=plainer,
        **facts,
    )


def _extreme(name: str) -> tuple[Op, ...]:
    """max or min in all variants: of everything, along a dim with indices, along several dims, and the index alone."""

    def instead_of_min(operator: str) -> str | None:
        return operator if name == "min" else None

    return (
        Op(
            f"{name}_all",
            one(ALL),
            _max_all,
            f"torch.{name}({{0}})",
            forms={Form.METHOD: f"{{0}}.{name}()"},
            plainer=instead_of_min("max_all"),
        ),
        Op(
            f"{name}_dim",
            _mostly_without_ties(ALL),
            _max_dim,
            f"torch.{name}({{0}}, dim={{dim}}{{more}})",
            _ranked_attrs,
            {"dim": INT, "keepdim": BOOL},
            {"keepdim": False},
            forms={
                Form.FUNCTION: f"torch.{name}({{0}}, {{dim}}, {{keepdim}})",
                Form.METHOD: f"{{0}}.{name}({{dim}}, keepdim={{keepdim}})",
            },
            plainer=instead_of_min("max_dim"),
        ),
        _reducing(f"a{name}", _amax, _amax_attrs, *ALL, default=(), plainer=instead_of_min("mean") or "sum"),
        _reducing(
            f"arg{name}",
            _argmax,
            _argmax_attrs,
            *NUMERIC,
            dim=optional(INT),
            operands=_mostly_without_ties(NUMERIC),
            plainer=instead_of_min("argmax"),
        ),
    )


OPS = (
    _summing("sum", _sum, _sum_attrs, *ALL, zero_sensitivity=ZEROS_WHERE_BOOL, plainer=None).of_class(
        OperatorClass.SUM_OR_MEAN
    ),
    _summing("nansum", _nansum, _sum_attrs, *ALL, zero_sensitivity=ZEROS_WHERE_BOOL),
    _summing("mean", _mean, _mean_attrs, *ALL, plainer="amax").of_class(OperatorClass.SUM_OR_MEAN),
    _summing("nanmean", _nanmean, _mean_attrs, *FLOATS),
    Op(
        "prod",
        factors,
        _prod,
        "torch.prod({0}{more})",
        _prod_attrs,
        {"dim": optional(INT), "keepdim": BOOL, "dtype": OPTIONAL_DTYPE},
        {**_ALL_OF_IT, "dtype": None},
        terms=terms,
        forms={
            Form.METHOD: Spelling(
                "{0}.prod({dim}, {keepdim}, dtype={dtype})", lambda types, attrs: attrs["dim"] is not None
            ),
            Form.FUNCTION: Spelling("torch.prod({0}, dtype={dtype})", lambda types, attrs: attrs["dim"] is None),
        },
        zero_sensitivity=ZEROS_WHERE_BOOL,
        plainer="mean",
    ),
    *_extreme("max"),
    *_extreme("min"),
    Op(
        "aminmax",
        one(ALL),
        _aminmax,
        "torch.aminmax({0}{more})",
        _aminmax_attrs,
        {"dim": optional(INT), "keepdim": BOOL},
        _ALL_OF_IT,
        forms={Form.METHOD: "{0}.aminmax(dim={dim}, keepdim={keepdim})"},
    ),
    _reducing("any", _any, _dims_attrs, *ALL, zero_sensitivity=ZEROS_WHERE_BOOL),
    _reducing("all", _any, _dims_attrs, *ALL, zero_sensitivity=ZEROS_WHERE_BOOL, plainer="any"),
    Op(
        "count_nonzero",
        one(ALL),
        _count_nonzero,
        "torch.count_nonzero({0}{more})",
        lambda source, types: {"dim": draw_dims(source, types)},
        {"dim": DIMS},
        {"dim": None},
        forms={Form.METHOD: "{0}.count_nonzero({dim})"},
        zero_sensitivity=zeros_of(0),
        plainer="any",
    ),
)
