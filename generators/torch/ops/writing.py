"""Shared by rows that write at positions along a dimension of a tensor: scatter, index_add and others.

If indices repeat, PyTorch does not define which write is the last: rows that do not reduce get distinct indices.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import within
from generators.graph import Attrs, DType, Form, TensorType, Value
from generators.op import (
    INT,
    AttrKind,
    DrawAttrs,
    Infer,
    Op,
    Operands,
    RowFacts,
    Types,
    int_of,
)
from generators.torch.ops.guard import clamped
from generators.torch.ops.indexing import agreed_dim
from generators.torch.ops.rules import size_along

SRC = "{dim}, {1}, {2}"
SELF: Attrs = {"include_self": True}


def like(b: Builder, type: TensorType) -> Value:
    return b.pick(lambda t: t == type, lambda: type)


def small(b: Builder, type: TensorType) -> Value:
    """Numbers whose products stay finite."""
    if type.dtype is DType.BOOL:
        return like(b, type)
    low = 0 if type.dtype is DType.UINT8 else -2
    return clamped(b, like(b, type), low, 2) if b.source.chance(50) else b.fresh_input(type, domain=within(low, 2))


def count(types: Types, attrs: Attrs) -> int:
    """The number of indices along the dim."""
    return max(size_along(types[1], int_of(attrs, "dim") if types[1].rank == types[0].rank else 0), 1)


def summed(types: Types, attrs: Attrs) -> int:
    """The number of terms of a result element. It is 1 for moves and extremes, because terms must be positive."""
    exact = attrs.get("reduce", "add") in (None, "amax", "amin")
    return 1 if exact else count(types, attrs) + 1


def reduce_attrs(*reduces: str) -> DrawAttrs:
    def attrs(source: ChoiceSource, types: Types) -> Attrs:
        drawn = {**agreed_dim(source, types), "include_self": source.chance(50)}
        return {**drawn, "reduce": source.choice(reduces)} if reduces else drawn

    return attrs


def row(
    name: str,
    operands: Operands,
    infer: Infer,
    tail: str,
    attrs: DrawAttrs = agreed_dim,
    schema: Mapping[str, AttrKind] | None = None,
    defaults: Attrs | None = None,
    *,
    function: str = "",
    **facts: Unpack[RowFacts],
) -> Op:
    """torch.NAME(x, TAIL), with its method, also in place."""
    function = function or name
    all_facts: RowFacts = {"arity": (3, 3), "terms": summed, **facts}
    return Op(
        name,
        operands,
        infer,
        f"torch.{function}({{0}}, {tail})",
        attrs,
        schema or {"dim": INT},
        defaults or {},
        forms={Form.METHOD: f"{{0}}.{function}({tail})", Form.INPLACE: f"{{0}}.{function}_({tail})"},
        **all_facts,
    )
