"""Normalisations and softmax."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import POSITIVE
from generators.graph import FLOATS, Attrs, TensorType, Value
from generators.ops.base import INT, SIZES, Op, Types, int_of, ints_of, require
from generators.ops.operands import one, product
from generators.ops.rules import axis_of, require_dtype, require_same_dtype, size_along


def _floats(types: Types) -> TensorType:
    require_dtype(types, *FLOATS)
    require_same_dtype(types)
    return types[0]


def _batch_norm(types: Types, attrs: Attrs) -> TensorType:
    x = _floats(types)
    require(x.rank >= 2, f"batch_norm takes rank 2 or more, not {x}")
    require(all(t.sizes == x.sizes[1:2] for t in types[1:]), f"batch_norm of {x} takes statistics of [{x.sizes[1]}]")
    return x


def _batch_norm_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(FLOATS, ranks=(2, 5))
    dtype, channels = x.type.dtype, x.type.sizes[1]
    mean, var = b.param(dtype, channels), b.param(dtype, channels, domain=POSITIVE)
    return (x, mean, var, b.param(dtype, channels), b.param(dtype, channels)) if b.source.chance(70) else (x, mean, var)


def _layer_norm(types: Types, attrs: Attrs) -> TensorType:
    x, shape = _floats(types), ints_of(attrs, "normalized_shape")
    require(0 < len(shape) <= x.rank and x.sizes[-len(shape) :] == shape, f"layer_norm over {shape} does not fit {x}")
    require(all(t.sizes == shape for t in types[1:]), f"layer_norm takes weight and bias of {shape}")
    return x


def _layer_norm_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(FLOATS, ranks=(1, 5))
    if b.source.chance(40):
        return (x,)
    shape = x.type.sizes[-b.source.integer(1, min(x.type.rank, 3)) :]
    return x, b.param(x.type.dtype, *shape), b.param(x.type.dtype, *shape)


def _layer_norm_attrs(source: ChoiceSource, types: Types) -> Attrs:
    x, *affine = types
    shape = affine[0].sizes if affine else x.sizes[-source.integer(1, min(x.rank, 3)) :]
    return {"normalized_shape": shape}


def _layer_norm_source(args: tuple[str, ...], attrs: Attrs) -> str:
    return f"F.layer_norm({args[0]}, {', '.join([repr(attrs['normalized_shape']), *args[1:]])})"


def _group_norm(types: Types, attrs: Attrs) -> TensorType:
    x, groups = _floats(types), int_of(attrs, "num_groups")
    require(x.rank >= 2 and x.numel > 0, f"group_norm takes rank 2 or more and some elements, not {x}")
    require(groups > 0 and x.sizes[1] % groups == 0, f"{x.sizes[1]} channels do not split into {groups} groups")
    require(x.sizes[0] * x.numel // (x.sizes[0] * groups) > x.sizes[0], "group_norm needs more than 1 value per group")
    require(all(t.sizes == x.sizes[1:2] for t in types[1:]), f"group_norm takes weight and bias of [{x.sizes[1]}]")
    return x


def _group_norm_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(FLOATS, ranks=(2, 5))
    dtype, channels = x.type.dtype, x.type.sizes[1]
    return (x, b.param(dtype, channels), b.param(dtype, channels)) if b.source.chance(60) else (x,)


def _group_norm_attrs(source: ChoiceSource, types: Types) -> Attrs | None:
    x = types[0]
    groups = [g for g in range(1, x.sizes[1] + 1) if x.sizes[1] % g == 0 and x.numel // x.sizes[0] > g]
    return {"num_groups": source.choice(groups)} if groups else None


def _group_norm_source(args: tuple[str, ...], attrs: Attrs) -> str:
    return f"F.group_norm({args[0]}, {', '.join([repr(attrs['num_groups']), *args[1:]])})"


def _softmax(types: Types, attrs: Attrs) -> TensorType:
    x = _floats(types)
    axis_of(int_of(attrs, "dim"), x.rank)
    return x


def _dim(source: ChoiceSource, types: Types) -> Attrs:
    return {"dim": source.integer(-types[0].rank, types[0].rank - 1)}


def _along_dim(types: Types, attrs: Attrs) -> int:
    return size_along(types[0], int_of(attrs, "dim"))


OPS = (
    Op(
        "batch_norm",
        _batch_norm_operands,
        _batch_norm,
        "F.batch_norm({args})",
        arity=(3, 5),
        terms=lambda types, attrs: 4,
    ),
    Op(
        "layer_norm",
        _layer_norm_operands,
        _layer_norm,
        _layer_norm_source,
        _layer_norm_attrs,
        {"normalized_shape": SIZES},
        arity=(1, 3),
        terms=lambda types, attrs: product(ints_of(attrs, "normalized_shape")),
    ),
    Op(
        "group_norm",
        _group_norm_operands,
        _group_norm,
        _group_norm_source,
        _group_norm_attrs,
        {"num_groups": INT},
        arity=(1, 3),
        terms=lambda types, attrs: product(types[0].sizes[1:]) // int_of(attrs, "num_groups"),
    ),
    Op(
        "softmax",
        one(FLOATS, ranks=(1, 5)),
        _softmax,
        "torch.softmax({0}, dim={dim})",
        _dim,
        {"dim": INT},
        terms=_along_dim,
    ),
    Op(
        "log_softmax",
        one(FLOATS, ranks=(1, 5)),
        _softmax,
        "torch.log_softmax({0}, dim={dim})",
        _dim,
        {"dim": INT},
        terms=_along_dim,
    ),
)
