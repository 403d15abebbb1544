"""The order of kept cases: each operator soon, with few others beside it."""

from __future__ import annotations

from dataclasses import replace

from fakes import CASE

from fuzzer.difference.kept_cases import in_turn, widest_first
from generators.graph import Case, Graph


def made_of(*ops: str) -> Case:
    """A case whose graph has these operators; it is not valid."""
    (node,) = CASE.graph.nodes
    nodes = tuple(replace(node, op=op) for op in ops)
    return replace(CASE, graph=Graph(CASE.graph.inputs, nodes, CASE.graph.outputs))


BOTH, LONG, RELU, ADD = made_of("relu", "add"), made_of("relu", "exp", "neg"), made_of("relu"), made_of("add")
OTHER = made_of("conv2d")


def test_each_operator_has_its_turn_and_small_cases_come_first() -> None:
    found = list(in_turn([LONG, BOTH, OTHER, RELU, ADD], {"relu", "add"}))
    assert found == [ADD, RELU, BOTH, LONG]


def test_cases_with_new_operators_come_first() -> None:
    found = list(widest_first([RELU, LONG, BOTH, OTHER]))
    assert found == [LONG, OTHER, BOTH, RELU]
