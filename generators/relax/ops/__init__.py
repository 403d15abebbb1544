"""The rows of Relax, by family."""

from __future__ import annotations

from generators.op import Op
from generators.relax.ops import (
    binary,
    conv,
    image,
    index,
    kernels,
    layout,
    loss,
    make,
    matmul,
    norm,
    quantize,
    reduce,
    resize,
    shape,
    unary,
)

_FAMILIES = (
    unary.OPS,
    binary.OPS,
    reduce.OPS,
    shape.OPS,
    layout.OPS,
    index.OPS,
    make.OPS,
    matmul.OPS,
    conv.OPS,
    norm.OPS,
    image.OPS,
    resize.OPS,
    loss.OPS,
    quantize.OPS,
    kernels.OPS,
)

OPS: tuple[Op, ...] = tuple(row for family in _FAMILIES for row in family)
TABLE: dict[str, Op] = {row.name: row for row in OPS}
FAMILIES: dict[str, tuple[Op, ...]] = {row.name: family for family in _FAMILIES for row in family}
"""For each row, the rows of its file: operators that are alike."""
