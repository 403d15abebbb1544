"""Losses."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import POSITIVE, within
from generators.graph import Attrs, DType, TensorType, Value
from generators.op import INT, Arithmetic, Types, one_of, require
from generators.relax.ops.operands import INDICES, alike, owned
from generators.relax.row import row
from generators.shared.sizes import least, product


def _classified(b: Builder) -> tuple[Value, ...]:
    x = b.tensor((DType.FLOAT32, DType.FLOAT64), (2, 4))
    batch, classes, *places = x.type.shape
    targets = TensorType(b.source.choice(INDICES), (batch, *places))
    chosen = b.fresh_input(targets, domain=within(0, least(b, x.type.sizes[1]) - 1))
    return (x, chosen) if b.source.chance(50) else (x, chosen, owned(b, x.type.with_shape(classes), POSITIVE))


def _lost(types: Types, attrs: Attrs) -> TensorType:
    x, targets = types[:2]
    require(x.rank > 1 and x.dtype in (DType.FLOAT32, DType.FLOAT64), f"{x} are no predictions")
    require(targets.dtype in INDICES and targets.sizes == (x.sizes[0], *x.sizes[2:]), f"{targets} do not fit {x}")
    require(all(each == x.with_shape(x.sizes[1]) for each in types[2:]), "a weight for each class")
    return x.with_shape(*targets.sizes) if attrs["reduction"] == "none" else x.with_shape()


def _draw_lost(source: ChoiceSource, types: Types) -> Attrs:
    return {"reduction": source.choice(("mean", "sum", "none")), "ignore_index": -100}


def _count(types: Types, attrs: Attrs) -> int:
    return max(1, product(types[0].sizes))


def _entropy_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor((DType.FLOAT32, DType.FLOAT64), (1, 4))
    return x, alike(b, x.type)


def _entropy(types: Types, attrs: Attrs) -> TensorType:
    require(types[0] == types[1] and types[0].rank > 0, "takes two tensors of one type")
    return types[0].with_shape()


OPS = (
    row(
        "nn.nll_loss",
        _classified,
        _lost,
        _draw_lost,
        {"reduction": one_of("mean", "sum", "none"), "ignore_index": INT},
        arity=(2, 3),
        terms=_count,
        arithmetic=Arithmetic.FUNCTION_IN_ANY,
    ),
    row(
        "nn.cross_entropy_with_logits",
        _entropy_operands,
        _entropy,
        arity=2,
        terms=_count,
        arithmetic=Arithmetic.SUM_IN_ANY,
    ),
)
