"""The rows of ONNX: one for each version of each operator that is in force at an opset of cases."""

from __future__ import annotations

from functools import cache

from generators.onnx.operator import NodeForm, Operator, rows_of
from generators.onnx.ops import FAMILIES as _OPERATORS
from generators.op import Op

_FAMILIES: tuple[tuple[Op, ...], ...] = tuple(
    tuple(row for operator in family for row in rows_of(operator)) for family in _OPERATORS
)

OPS: tuple[Op, ...] = tuple(row for family in _FAMILIES for row in family)
ROWS: dict[str, Op] = {row.name: row for row in OPS}
FAMILIES: dict[str, tuple[Op, ...]] = {row.name: family for family in _FAMILIES for row in family}
"""For each row, the rows of its file: operators that are alike, in all versions."""


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


__all__ = ["FAMILIES", "OPS", "ROWS", "Operator", "at_opset", "rows_at", "version_at"]
