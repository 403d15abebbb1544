"""Max poolings that also give the positions of the largest elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from generators.builder import Builder
from generators.domain import distinct
from generators.graph import Attrs, DType, Form, TensorType, Value
from generators.op import Layer, Op, Types
from generators.shared.sizes import product
from generators.symbolic import Size
from generators.torch.ops.rules import require_dtype
from generators.torch.ops.shape import OPS as SHAPES

RESHAPE = next(op for op in SHAPES if op.name == "reshape")

Pooled = Callable[[Types, Attrs], TensorType]


def of(dtypes: Sequence[DType], pooled: Pooled) -> Pooled:
    def infer(types: Types, attrs: Attrs) -> TensorType:
        require_dtype(types, *dtypes)
        return pooled(types, attrs)

    return infer


def with_indices(row: Op, nd: int, pooled: Pooled, dtypes: Sequence[DType], says: str, layer: str) -> Op:
    """A max pooling that also gives the position of each largest element in its plane."""

    def infer(types: Types, attrs: Attrs) -> Types:
        require_dtype(types, *dtypes)
        values = pooled(types, attrs)
        return values, values.with_dtype(DType.INT64)

    def operands(b: Builder) -> tuple[Value, ...] | None:
        x = without_ties(b, nd, dtypes)
        return None if x is None else (x,)

    return replace(
        row,
        name=f"{row.name}_with_indices",
        operands=operands,
        infer=infer,
        source=f"F.{row.name}({{0}}, {says}, return_indices=True)",
        forms={
            Form.FUNCTION: f"F.{row.name}_with_indices({{0}}, {says})",
            Form.MODULE: Layer(f"torch.nn.{layer}({says}, return_indices=True)"),
        },
        plainer=None,
    )


def without_ties(b: Builder, nd: int, dtypes: Sequence[DType], even: bool = False) -> Value | None:
    """A tensor whose elements differ over its last `nd` dimensions: PyTorch does not document which of two equal
    elements is the largest. The numbers differ along one dimension, which a reshape splits. `even` also makes the
    sizes even and small."""
    shape = b.shape(b.source.integer(nd + 1, nd + 2))
    lead, plane = shape[:-nd], shape[-nd:]
    if even:
        plane = tuple(2 * min(size, 8 >> nd) for size in plane)
    count, dtype = product(plane), b.dtype(dtypes)
    if not 0 < count <= 256:  # this many numbers differ in 8 bits: int8, and bfloat16 too
        return None
    low = 0 if dtype is DType.UINT8 else -(int(count) // 2)
    domain = distinct(low, low + int(count) - 1, len(lead))
    x = b.fresh_input(TensorType(dtype, (*lead, count)), domain=domain)
    if nd == 1:
        return x
    shape = tuple([-1 if isinstance(size, Size) else size for size in (*lead, *plane)])  # one of them, if any
    return b.emit(RESHAPE, (x,), {"shape": shape})[0]
