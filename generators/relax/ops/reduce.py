"""Reductions over axes, scans and positions of extremes."""

from __future__ import annotations

from collections.abc import Sequence

from generators.choice import ChoiceSource
from generators.graph import Attrs, DType, TensorType
from generators.op import (
    BOOL,
    INT,
    INTS,
    Arithmetic,
    NumericFacts,
    Op,
    Types,
    int_of,
    ints_of,
    one_of,
    optional,
    require,
)
from generators.operator_class import OperatorClass
from generators.relax.ops.axes import some_axes, some_axis
from generators.relax.ops.operands import FLOATS, INDICES, NUMERIC, axes_in, axis_in, one
from generators.relax.row import row
from generators.shared.sizes import product

_SUMMED = (*FLOATS, DType.INT64, DType.INT32)
_MULTIPLIED = (DType.FLOAT32, DType.FLOAT64, DType.INT64, DType.INT32)
"""Partial products of half precision overflow in one order, and not in another."""
_AXES = {"axis": optional(INTS), "keepdims": BOOL}


def _axes(x: TensorType, attrs: Attrs) -> tuple[int, ...]:
    if attrs["axis"] is None:
        return tuple(range(x.rank))
    axes = axes_in(ints_of(attrs, "axis"), x.rank)
    require(len(axes) > 0, "takes at least one axis")
    return axes


def _without(x: TensorType, axes: Sequence[int], keeps: bool) -> TensorType:
    sizes = [1 if axis in axes else size for axis, size in enumerate(x.sizes) if keeps or axis not in axes]
    return x.with_shape(*sizes)


def _reduced(types: Types, attrs: Attrs) -> TensorType:
    return _without(types[0], _axes(types[0], attrs), attrs["keepdims"] is True)


def _draw_axes(source: ChoiceSource, types: Types) -> Attrs:
    rank = types[0].rank
    axes = None if not rank or source.chance(25) else some_axes(source, range(rank), rank)
    return {"axis": axes, "keepdims": source.chance(50)}


def _count(types: Types, attrs: Attrs) -> int:
    return max(1, product([types[0].sizes[axis] for axis in _axes(types[0], attrs)]))


def _reduction(
    name: str,
    dtypes: Sequence[DType],
    *classes: OperatorClass,
    plainer: str | None = "sum",
    exact: bool = False,
    arithmetic: Arithmetic = Arithmetic.SUM_IN_ANY,
) -> Op:
    return row(
        name,
        one(dtypes, (0, 4)),
        _reduced,
        _draw_axes,
        _AXES,
        terms=None if exact else _count,
        arithmetic=arithmetic,
        plainer=plainer,
        classes=classes,
        may_be_open=True,
    )


def _position(types: Types, attrs: Attrs) -> TensorType:
    """TVM's kernels give int64."""
    x, axis = types[0], attrs["axis"]
    axes = tuple(range(x.rank)) if axis is None else (axis_in(int_of(attrs, "axis"), x.rank),)
    return _without(x, axes, attrs["keepdims"] is True).with_dtype(DType.INT64)


def _draw_position(source: ChoiceSource, types: Types) -> Attrs:
    """What is meant by the position among all elements with dimensions kept is not written."""
    if source.chance(25):
        return {"axis": None, "keepdims": False}
    return {"axis": some_axis(source, types[0].rank), "keepdims": source.chance(50)}


def _scanned(types: Types, attrs: Attrs) -> TensorType:
    x, axis = types[0], attrs["axis"]
    if axis is not None:
        axis_in(int_of(attrs, "axis"), x.rank)
    found = x if axis is not None else x.with_shape(product(x.sizes))
    dtype = attrs["dtype"]
    return found if dtype is None else found.with_dtype(DType(str(dtype)))


def _draw_scan(source: ChoiceSource, types: Types) -> Attrs:
    x = types[0]
    axis = None if source.chance(15) else some_axis(source, x.rank)
    wider = source.chance(20) and not x.dtype.is_float
    return {"axis": axis, "dtype": source.choice(INDICES).value if wider else None, "exclusive": source.chance(30)}


def _scan_terms(types: Types, attrs: Attrs) -> int:
    x = types[0]
    return max(1, x.numel if attrs["axis"] is None else x.sizes[axis_in(int_of(attrs, "axis"), x.rank)])


# --- median

_RANKED = (*FLOATS, DType.INT64, DType.INT32)
"""The dtypes that TVM sorts."""


def _median(types: Types, attrs: Attrs) -> Types:
    """Along one axis, its place is a second result."""
    x, axes = types[0], attrs["axis"]
    require(x.dtype in _RANKED, f"TVM sorts no {x.dtype}")
    found = _reduced(types, attrs)
    one_axis = isinstance(axes, tuple) and len(axes) == 1
    return (found, found.with_dtype(DType.INT64)) if one_axis else (found,)


def _draw_median(source: ChoiceSource, types: Types) -> Attrs:
    """TVM 0.27 has no kernel for several axes, which its documentation allows, so they are rare."""
    if source.rarely(20):
        return _draw_axes(source, types)
    axis = some_axis(source, types[0].rank) if types[0].rank and source.chance(80) else None
    return {"axis": None if axis is None else (axis,), "keepdims": axis is not None and source.chance(50)}


_SCAN = {"axis": optional(INT), "dtype": optional(one_of(*NUMERIC)), "exclusive": BOOL}
_FUNCTION: NumericFacts = {"arithmetic": Arithmetic.FUNCTION_IN_ANY}

OPS = (
    _reduction("sum", _SUMMED, OperatorClass.SUM_OR_MEAN, plainer=None),
    _reduction("mean", FLOATS, OperatorClass.SUM_OR_MEAN),
    _reduction("max", NUMERIC, exact=True),
    _reduction("min", NUMERIC, exact=True),
    _reduction("prod", _MULTIPLIED, arithmetic=Arithmetic.FUNCTION_IN_ANY),
    _reduction("variance", FLOATS, plainer="mean", arithmetic=Arithmetic.FUNCTION_IN_ANY),
    _reduction("std", FLOATS, plainer="mean", arithmetic=Arithmetic.FUNCTION_IN_ANY),
    *(
        row(name, one(NUMERIC, (1, 4)), _position, _draw_position, {"axis": optional(INT), "keepdims": BOOL})
        for name in ("argmax", "argmin")
    ),
    row("median", one(_RANKED, (0, 4)), _median, _draw_median, _AXES, plainer="max"),
    row(
        "cumsum", one(_SUMMED, (1, 4)), _scanned, _draw_scan, _SCAN, terms=_scan_terms, arithmetic=Arithmetic.SUM_IN_ANY
    ),
    row("cumprod", one(_MULTIPLIED, (1, 4)), _scanned, _draw_scan, _SCAN, terms=_scan_terms, **_FUNCTION),
)
