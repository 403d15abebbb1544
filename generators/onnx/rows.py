"""The rows of ONNX: one for each version of each operator that is in force at an opset of cases."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from generators.graph import Node
from generators.onnx import unlisted
from generators.onnx.operator import NodeForm, Operator, rows_of
from generators.onnx.ops import FAMILIES as _OPERATORS
from generators.op import Op

_FAMILIES: tuple[tuple[Op, ...], ...] = tuple(
    tuple(row for operator in family for row in rows_of(operator)) for family in _OPERATORS
)

OPS: tuple[Op, ...] = tuple(row for family in _FAMILIES for row in family)
UNLISTED: Op = unlisted.row(frozenset(row.name.partition("-")[0] for row in OPS if row.terms is None))
"""The row of nodes of files that no other row has. It is never drawn."""

ROWS: dict[str, Op] = {row.name: row for row in (*OPS, UNLISTED)}
FAMILIES: dict[str, tuple[Op, ...]] = {row.name: family for family in _FAMILIES for row in family}
"""For each row, the rows of its file: operators that are alike, in all versions."""

_INDEXED_WRITES = frozenset({"Scatter", "ScatterElements", "ScatterND", "MaxUnpool"})


def indexed_writes() -> frozenset[str]:
    """The rows that write into places of a tensor that another tensor names."""
    return frozenset(row.name for row in OPS if row.name.rpartition("-")[0] in _INDEXED_WRITES)


@cache
def rows_at(opset: int) -> tuple[Op, ...]:
    """The rows that are in force at an opset."""
    return tuple(row for row in OPS if isinstance(row.source, NodeForm) and row.source.schema.in_force(opset))


@cache
def version_at(row: str, opset: int) -> str | None:
    """The row of the same operator that is in force at an opset; None where there is none."""
    title = row.rpartition("-")[0]
    return next((each.name for each in rows_at(opset) if each.name.rpartition("-")[0] == title), None)


def at_opset(name: str, opset: int) -> Op:
    """The row of an operator of ONNX's own domain that is in force at an opset. Raise KeyError where there is none."""
    return _own_rows(opset)[name]


@cache
def _own_rows(opset: int) -> dict[str, Op]:
    """The rows by the names of their operators."""
    forms = ((row, row.source) for row in rows_at(opset))
    return {form.schema.name: row for row, form in forms if isinstance(form, NodeForm) and not form.schema.domain}


def node_at(node: Node, opset: int) -> Node | None:
    """Return the call in the version of its operator that is in force at the opset. Attributes that this version lacks
    must be left out in the call. Return None where there is no such version, or an attribute that it needs is missing,
    and for a node without a row, which has the meaning of its file's opset."""
    if node.op == unlisted.NAME:
        return None
    if any(row.name == node.op for row in rows_at(opset)):
        return node
    try:
        row = at_opset(node.title, opset)
    except KeyError:
        return None
    attrs = {key: node.attrs.get(key, row.defaults.get(key)) for key in row.schema}
    lost = [key for key, value in node.attrs.items() if key not in attrs and value is not None]
    accepted = all(kind.accepts(attrs[key]) for key, kind in row.schema.items())
    return replace(node, op=row.name, attrs=attrs) if accepted and not lost else None


__all__ = [
    "FAMILIES",
    "OPS",
    "ROWS",
    "UNLISTED",
    "Operator",
    "at_opset",
    "indexed_writes",
    "node_at",
    "rows_at",
    "version_at",
]
