"""Draws a case of one call of an operator, of any dialect."""

from __future__ import annotations

from dataclasses import replace

from generators.builder import Limits
from generators.choice import ChoiceSource
from generators.graph import Case
from generators.table import TABLE, dialect_of

ONE = Limits(max_nodes=1)


def one_call(source: ChoiceSource, op: str, opset: int) -> Case:
    """Draw a case of one call of a row; for ONNX at this opset. Guards of domains may be added to it. Its graph returns
    all results of the last call, because a failure may need any of them.

    Raises `Invalid` where no operands fit."""
    case = dialect_of(op).draw(source, ONE, [TABLE[op]], symbolic=False, opset=opset).case()
    results = tuple(value.name for value in case.graph.nodes[-1].results)
    return replace(case, graph=replace(case.graph, outputs=results))
