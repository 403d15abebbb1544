"""Matrix products."""

from __future__ import annotations

from generators.builder import Builder
from generators.graph import FLOATS, Attrs, DType, TensorType, Value
from generators.ops.base import Op, Types, require
from generators.ops.rules import broadcast, require_dtype, require_same_dtype

WIDTHS = (1, 2, 3, 5, 8, 16)


def _linear(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types, *FLOATS)
    require_same_dtype(types)
    x, weight = types[:2]
    require(weight.rank == 2, f"linear: the weight must have rank 2, not {weight}")
    require(x.rank > 0 and x.sizes[-1] == weight.sizes[1], f"linear: {x} does not fit the weight {weight}")
    require(len(types) < 3 or types[2].sizes == weight.sizes[:1], f"linear: the bias must be [{weight.sizes[0]}]")
    return x.with_shape(*x.sizes[:-1], weight.sizes[0])


def _linear_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(FLOATS, ranks=(1, 5))
    out = b.source.choice(WIDTHS)
    weight = b.param(x.type.dtype, out, x.type.sizes[-1])
    return (x, weight, b.param(x.type.dtype, out)) if b.source.chance(60) else (x, weight)


def _matmul(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types, *FLOATS, DType.INT64)
    require_same_dtype(types)
    x, y = types
    require(x.rank > 0 and y.rank > 0, "matmul takes ranks above 0")
    rows = x.sizes[-2:-1]
    columns = y.sizes[-1:] if y.rank > 1 else ()
    inner = y.sizes[-2] if y.rank > 1 else y.sizes[0]
    require(x.sizes[-1] == inner, f"matmul: {x} does not fit {y}")
    return x.with_shape(*broadcast(x.sizes[:-2], y.sizes[:-2]), *rows, *columns)


def _matmul_operands(b: Builder) -> tuple[Value, ...]:
    first = b.tensor((*FLOATS, DType.INT64), ranks=(1, 4))
    x, inner = first.type, first.type.sizes[-1]

    def fits(y: TensorType) -> bool:
        if y.dtype != x.dtype or y.rank == 0 or (y.sizes[-2] if y.rank > 1 else y.sizes[0]) != inner:
            return False
        return all(a == c or 1 in (a, c) for a, c in zip(x.sizes[-3::-1], y.sizes[-3::-1], strict=False))

    def otherwise() -> TensorType:
        columns = b.source.choice(WIDTHS)
        batch = x.sizes[:-2] if b.source.chance(50) else ()
        return x.with_shape(inner) if b.source.chance(20) else x.with_shape(*batch, inner, columns)

    return first, b.pick(fits, otherwise)


def _bmm(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types, *FLOATS, DType.INT64)
    require_same_dtype(types)
    x, y = types
    require(x.rank == y.rank == 3, "bmm takes tensors of rank 3")
    require(x.sizes[0] == y.sizes[0] and x.sizes[2] == y.sizes[1], f"bmm: {x} does not fit {y}")
    return x.with_shape(x.sizes[0], x.sizes[1], y.sizes[2])


def _bmm_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor((*FLOATS, DType.INT64), ranks=(3, 3))
    batch, _, inner = x.type.sizes
    y = b.pick(
        lambda t: t.rank == 3 and t.dtype == x.type.dtype and t.sizes[:2] == (batch, inner),
        lambda: x.type.with_shape(batch, inner, b.source.choice(WIDTHS)),
    )
    return x, y


def _inner(types: Types, attrs: Attrs) -> int:
    return types[0].sizes[-1]


OPS = (
    Op("linear", _linear_operands, _linear, "F.linear({args})", arity=(2, 3), terms=_inner),
    Op("matmul", _matmul_operands, _matmul, "torch.matmul({0}, {1})", arity=(2, 2), terms=_inner),
    Op("bmm", _bmm_operands, _bmm, "torch.bmm({0}, {1})", arity=(2, 2), terms=_inner),
)
