"""Draws a case of one call of an operator, of either dialect."""

from __future__ import annotations

from dataclasses import replace

from generators.builder import Limits
from generators.choice import ChoiceSource
from generators.graph import Case
from generators.onnx.operator import NodeForm
from generators.onnx.random_graph import generate as generate_onnx
from generators.random_graph import generate
from generators.table import TABLE, dialect_of

ONE = Limits(max_nodes=1)


def one_call(source: ChoiceSource, op: str, opset: int) -> Case:
    """Draw a case of one call of a row; for ONNX at this opset. Guards of domains may be added to it. Its graph returns
    all results of the last call, because a failure may need any of them.

    Raises `Invalid` where no operands fit."""
    if dialect_of(op) == "onnx":
        case = generate_onnx(source, ONE, [TABLE[op]], symbolic=False, opset=opset)
    else:
        case = generate(source, ONE, [TABLE[op]], symbolic=False, motif_percent=0)
    results = tuple(value.name for value in case.graph.nodes[-1].results)
    return replace(case, graph=replace(case.graph, outputs=results))


def in_force(op: str, opset: int) -> bool:
    """Whether a graph of this opset may call the row; a graph of PyTorch may call all of its dialect."""
    form = TABLE[op].source
    return not isinstance(form, NodeForm) or form.schema.in_force(opset)
