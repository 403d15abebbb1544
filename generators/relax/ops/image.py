"""Grids of an affine map, and samples of images at the points of a grid."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import within
from generators.graph import Attrs, DType, TensorType, Value
from generators.op import BOOL, SIZES, Arithmetic, Types, ints_of, one_of, require
from generators.relax.ops.operands import alike
from generators.relax.row import row


def _matrices(b: Builder) -> tuple[Value, ...]:
    return (alike(b, TensorType(DType.FLOAT32, (b.source.choice((1, 2, 3)), 2, 3))),)


def _grid(types: Types, attrs: Attrs) -> TensorType:
    matrix, size = types[0], ints_of(attrs, "size")
    require(matrix.rank == 3 and matrix.sizes[1:] == (2, 3), f"{matrix} is no affine map of the plane")
    require(len(size) == 2 and min(size) > 1, "takes two sizes from 2 on")
    return matrix.with_shape(matrix.sizes[0], 2, *size)


def _draw_grid(source: ChoiceSource, types: Types) -> Attrs:
    """With a size of 1, what the corners are is not written."""
    return {"size": (source.integer(2, 5), source.integer(2, 5)), "align_corners": source.chance(50)}


def _points(b: Builder) -> tuple[Value, ...]:
    """A grid has its coordinates as channels, as R.image.affine_grid gives it, and as TVM 0.27 takes it. The
    documentation of R.image.grid_sample has them last."""
    x = b.tensor((DType.FLOAT32,), (4, 4))
    shape = (x.type.shape[0], 2, b.source.integer(1, 4), b.source.integer(1, 4))
    return x, b.fresh_input(x.type.with_shape(*shape), domain=within(-1, 1))


def _sampled(types: Types, attrs: Attrs) -> TensorType:
    x, grid = types
    require(x.rank == 4 and grid.rank == 4 and x.dtype == grid.dtype, f"{grid} is no grid for {x}")
    require(grid.sizes[0] == x.sizes[0] and grid.sizes[1] == 2, f"{grid} is no grid for {x}")
    return x.with_shape(*x.sizes[:2], *grid.sizes[2:])


def _draw_sampled(source: ChoiceSource, types: Types) -> Attrs:
    padding = source.choice(("zeros", "border", "reflection"))
    return {"method": "bilinear", "padding_mode": padding, "align_corners": source.chance(50)}


OPS = (
    row(
        "image.affine_grid",
        _matrices,
        _grid,
        _draw_grid,
        {"size": SIZES, "align_corners": BOOL},
        arguments=("size",),
        terms=lambda types, attrs: 3,
        arithmetic=Arithmetic.FUNCTION_IN_ANY,
        scale=4.0,
    ),
    row(
        "image.grid_sample",
        _points,
        _sampled,
        _draw_sampled,
        {
            "method": one_of("bilinear"),
            "padding_mode": one_of("zeros", "border", "reflection"),
            "align_corners": BOOL,
        },
        arity=2,
        terms=lambda types, attrs: 4,
        arithmetic=Arithmetic.FUNCTION_IN_ANY,
        scale=4.0,
    ),
)
