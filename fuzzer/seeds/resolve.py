"""Resolve the steps of a program to nodes of the operator table. Steps without a row cut the graph and are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from fuzzer.seeds.aten_names import in_table_form
from fuzzer.seeds.program import Program, Step
from fuzzer.seeds.row_of_call import NoRow, node_of
from generators.graph import Node, TensorType


@dataclass(frozen=True, slots=True)
class Resolved:
    """nodes   of all steps that have rows, in order, with the names of the file
    types   of all values, also between the calls of one step
    steps   the number of steps of the program; `mapped` is how many of them have rows
    lacking how often a step has no row, by its title and the reason
    """

    nodes: tuple[Node, ...]
    types: Mapping[str, TensorType]
    steps: int
    mapped: int
    lacking: Counter[tuple[str, str]]


def resolve(program: Program) -> Resolved:
    nodes: list[Node] = []
    types = dict(program.types)
    lacking: Counter[tuple[str, str]] = Counter()
    for step in program.steps:
        try:
            made = _nodes(step, types, program.types)
        except NoRow as why:
            lacking[step.title, str(why)] += 1
            continue
        nodes += made
        types |= {value.name: value.type for node in made for value in node.results}
    cut = sum(lacking.values())
    return Resolved(tuple(nodes), types, len(program.steps), len(program.steps) - cut, lacking)


def _nodes(step: Step, types: Mapping[str, TensorType], declared: Mapping[str, TensorType]) -> list[Node]:
    if not step.calls:
        raise NoRow(step.why_not)
    known, nodes = dict(types), []
    for call in step.calls:
        node = node_of(in_table_form(call, known), known, declared)
        known |= {value.name: value.type for value in node.results}
        nodes.append(node)
    return nodes
