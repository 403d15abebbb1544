"""A program's steps as nodes of the operator table; what has no row is a cut, and counted by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from fuzzer.seeds.program import Program, Step
from fuzzer.seeds.rows import NoRow, node_of
from fuzzer.seeds.words import in_our_words
from generators.graph import Node, TensorType


@dataclass(frozen=True, slots=True)
class Resolved:
    """nodes   in order, of all steps that have rows; what they read is named as in the file
    types   of all values, those between the calls of one step too
    steps   how many the program has, and `mapped` how many of these are nodes
    lacking why a step has no row, by its title; how often
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
        node = node_of(in_our_words(call, known), known, declared)
        known |= {value.name: value.type for value in node.results}
        nodes.append(node)
    return nodes
