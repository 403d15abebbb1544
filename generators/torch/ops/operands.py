"""Functions that choose operands, shared by many rows. They return values of a builder, or None where nothing fits."""

from __future__ import annotations

from collections.abc import Sequence

from generators.builder import Builder
from generators.graph import DType, TensorType, Value
from generators.op import Operands
from generators.shared.draws import thinned
from generators.torch.ops.rules import ALL


def one(dtypes: Sequence[DType] = ALL, ranks: tuple[int, int] = (0, 5)) -> Operands:
    return lambda b: (b.tensor(dtypes, ranks),)


def broadcasting(count: int, dtypes: Sequence[DType] = ALL) -> Operands:
    """`count` values whose shapes broadcast; dtypes may differ."""

    def operands(b: Builder) -> tuple[Value, ...]:
        first = b.tensor(dtypes)
        return (first, *(partner(b, first.type, dtypes) for _ in range(count - 1)))

    return operands


def partner(b: Builder, type: TensorType, dtypes: Sequence[DType] = ALL) -> Value:
    """A value that broadcasts with `type` without growing it: an existing one, or an input made to fit."""

    def fits(other: TensorType) -> bool:
        return (
            other.dtype in dtypes
            and other.rank <= type.rank
            and all(
                mine in (1, theirs) for mine, theirs in zip(reversed(other.sizes), reversed(type.sizes), strict=False)
            )
        )

    return b.pick(fits, lambda: TensorType(b.source.choice([type.dtype, *dtypes]), thinned(b, type.sizes)))
