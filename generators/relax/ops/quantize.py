"""Numbers rounded to a grid of 8 bits, and back."""

from __future__ import annotations

from collections.abc import Sequence

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import POSITIVE, within
from generators.graph import Attr, Attrs, DType, TensorType, Value
from generators.op import INT, Arithmetic, Operands, Types, int_of, one_of, require
from generators.relax.ops.operands import axis_in, owned
from generators.relax.row import row

GRIDS = (DType.INT8, DType.UINT8)
POINTS = (*GRIDS, DType.INT32)


def _on_grid(dtypes: Sequence[DType], is_quantised: bool) -> Operands:
    """A tensor, its scale and its zero point: numbers, or vectors with a number for each place along an axis."""

    def operands(b: Builder) -> tuple[Value, ...]:
        x = b.tensor(dtypes, (1, 4))
        each = b.source.chance(60)
        shape = (x.type.shape[b.source.integer(0, x.type.rank - 1)],) if each else ()
        step = DType.FLOAT32 if is_quantised else x.type.dtype
        point = x.type.dtype if is_quantised and b.source.chance(60) else b.source.choice(POINTS)
        return x, owned(b, TensorType(step, shape), POSITIVE), owned(b, TensorType(point, shape), within(0, 9))

    return operands


def _require_grid(types: Types, attrs: Attrs) -> None:
    x, step, point = types
    size = (x.sizes[axis_in(int_of(attrs, "axis"), x.rank)],)
    require(point.dtype in POINTS and step.sizes == point.sizes, f"{step} and {point} do not fit")
    require(step.sizes in ((), size), f"{step} is no scale of {x}")


def _quantised(types: Types, attrs: Attrs) -> TensorType:
    x, step, _ = types
    _require_grid(types, attrs)
    require(x.dtype in (DType.FLOAT32, DType.FLOAT16) and step.dtype is x.dtype, f"{step} is no scale of {x}")
    return x.with_dtype(DType(str(attrs["out_dtype"])))


def _widened(types: Types, attrs: Attrs) -> TensorType:
    x, step, _ = types
    _require_grid(types, attrs)
    require(x.dtype in GRIDS and step.dtype is DType.FLOAT32, f"{step} is no scale of {x}")
    return x.with_dtype(DType(str(attrs["out_dtype"])))


def _draw_axis(source: ChoiceSource, types: Types) -> dict[str, Attr] | None:
    x, step = types[:2]
    axes = [axis for axis, size in enumerate(x.sizes) if step.sizes in ((), (size,))]
    return {"axis": source.choice(axes) - (x.rank if source.chance(40) else 0)} if axes else None


def _draw_quantised(source: ChoiceSource, types: Types) -> Attrs | None:
    drawn = _draw_axis(source, types)
    return None if drawn is None else {**drawn, "out_dtype": source.choice(GRIDS).value}


def _draw_widened(source: ChoiceSource, types: Types) -> Attrs | None:
    """A product with float16 for a result is rounded twice by some, so it is seldom."""
    drawn = _draw_axis(source, types)
    dtype = DType.FLOAT16 if source.chance(20) else DType.FLOAT32
    return None if drawn is None else {**drawn, "out_dtype": dtype.value}


OPS = (
    row(
        "quantize",
        _on_grid((DType.FLOAT32, DType.FLOAT16), is_quantised=False),
        _quantised,
        _draw_quantised,
        {"axis": INT, "out_dtype": one_of(*GRIDS)},
        arity=3,
        terms=lambda types, attrs: 2,
    ),
    row(
        "dequantize",
        _on_grid(GRIDS, is_quantised=True),
        _widened,
        _draw_widened,
        {"axis": INT, "out_dtype": one_of(DType.FLOAT32, DType.FLOAT16)},
        arity=3,
        terms=lambda types, attrs: 1,
        arithmetic=Arithmetic.ONE_STEP,
    ),
)
