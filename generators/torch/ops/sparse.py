"""Matrices that are sparse only within a call: operands and results are dense."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import FLOATS, Attrs, DType, Profile, TensorType, Value
from generators.op import NUMBER, Op, Types, require
from generators.torch.ops.guard import clamped
from generators.torch.ops.operands import one
from generators.torch.ops.rules import ALL, NUMERIC, require_dtype, require_same_dtype, same_type


def _finite(b: Builder, value: Value) -> Value:
    """Return a value of finite numbers: a sparse product skips zeros that are not stored, but 0 x infinity is NaN."""
    special = b.profile is Profile.SPECIAL and value.type.dtype.is_float
    return clamped(b, value, -8.0, 8.0) if special else value


def _like(b: Builder, type: TensorType) -> Value:
    return _finite(b, b.pick(lambda t: t == type, lambda: type))


def _factors(b: Builder, dtypes: tuple[DType, ...]) -> tuple[Value, Value]:
    first = _finite(b, b.tensor(dtypes, ranks=(2, 2)))
    return first, _like(b, first.type.with_shape(first.type.sizes[1], b.source.integer(1, 6)))


def _summands(b: Builder) -> tuple[Value, ...]:
    first, second = _factors(b, FLOATS)
    return first, second, _like(b, first.type.with_shape(first.type.sizes[0], second.type.sizes[1]))


def _product(types: Types, attrs: Attrs) -> TensorType:
    first, second, *added = types
    require_dtype(types, *NUMERIC)
    require_same_dtype(types)
    require(first.rank == second.rank == 2, f"takes matrices, not {first} and {second}")
    require(first.sizes[1] == second.sizes[0], f"{first} and {second} have no product")
    product = first.with_shape(first.sizes[0], second.sizes[1])
    require(all(t == product for t in added), f"only {product} is added")
    return product


def _sum(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types, *FLOATS)
    return _product(types, attrs)


def _length(types: Types, attrs: Attrs) -> int:
    return 1 + types[0].sizes[-1]


def _weights(source: ChoiceSource, types: Types) -> Attrs:
    return {key: source.choice((1.0, 1.0, 0.5, -2.0)) for key in ("beta", "alpha")}


OPS = (
    Op(
        "sparse_mm",
        lambda b: _factors(b, NUMERIC),
        _product,
        "torch.sparse.mm({0}.to_sparse(), {1})",
        arity=(2, 2),
        terms=_length,
    ),
    Op(
        "sparse_addmm",
        _summands,
        _sum,
        "torch.sparse.addmm({2}, {0}.to_sparse(), {1}{more})",
        _weights,
        {"beta": NUMBER, "alpha": NUMBER},
        {"beta": 1.0, "alpha": 1.0},
        arity=(3, 3),
        terms=_length,
    ),
    Op("to_sparse", one(), same_type(*ALL), "{0}.to_sparse().to_dense()"),
)
