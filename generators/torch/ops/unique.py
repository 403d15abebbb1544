"""The different elements of a tensor. Their number depends on the data, so each call ends with an operation whose
result has a fixed shape. No floats: rounding would decide which of them are equal."""

from __future__ import annotations

from generators.choice import ChoiceSource
from generators.graph import Attrs, DType, TensorType
from generators.op import BOOL, INT, Op, Types, int_of, optional, require
from generators.torch.ops.move import any_dim
from generators.torch.ops.operands import one
from generators.torch.ops.pairs import WHOLE
from generators.torch.ops.rules import axis_of, require_dtype


def _require_slices(x: TensorType, attrs: Attrs) -> None:
    require_dtype((x,), *WHOLE)
    if attrs["dim"] is not None:
        require(x.rank > 0, "a 0-d tensor has no slices")
        require(x.numel > 0, f"slices of {x} are all alike")
        axis_of(int_of(attrs, "dim"), x.rank)


def _sum(types: Types, attrs: Attrs) -> TensorType:
    _require_slices(types[0], attrs)
    return TensorType(DType.INT64, ())


def _inverse(types: Types, attrs: Attrs) -> TensorType:
    """For each element, the index of its value among the different values. Along a dim, the same for each slice."""
    (x,) = types
    _require_slices(x, attrs)
    shape = x.sizes if attrs["dim"] is None else (x.sizes[axis_of(int_of(attrs, "dim"), x.rank)],)
    return TensorType(DType.INT64, shape)


def _dim(source: ChoiceSource, types: Types) -> Attrs:
    rank = types[0].rank
    return {"dim": any_dim(source, rank) if rank and source.chance(25) else None}


def _sorted_or_not(source: ChoiceSource, types: Types) -> Attrs:
    return {"sorted": source.chance(70), **_dim(source, types)}


_DIM = {"dim": optional(INT)}
_ANY: Attrs = {"dim": None}
_OPERAND = one((*[DType.INT64] * 6, *[DType.INT32] * 3, *WHOLE), ranks=(0, 4))  # mostly int64, which exporters support

OPS = (
    Op(
        "unique_sum",
        _OPERAND,
        _sum,
        "torch.unique({0}{more}).sum()",
        _sorted_or_not,
        {"sorted": BOOL, **_DIM},
        {"sorted": True, **_ANY},
    ),
    Op("unique_inverse", _OPERAND, _inverse, "torch.unique({0}, return_inverse=True{more})[1]", _dim, _DIM, _ANY),
    Op("unique_consecutive_sum", _OPERAND, _sum, "torch.unique_consecutive({0}{more}).sum()", _dim, _DIM, _ANY),
)
