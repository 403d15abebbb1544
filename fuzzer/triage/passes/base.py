"""What a reduction pass is: a pure function that proposes smaller subjects. It never runs anything, and may propose
invalid ones; the reducer rejects those."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from generators.domain import ANY, NONZERO, POSITIVE
from generators.graph import Array, Case, Form, Graph, Input, Value
from generators.values import holds
from oracles.lane import LaneSpec


@dataclass(frozen=True, slots=True)
class Subject:
    """What is being reduced: a case and the lane that shows the failure.

    `taps` holds what PyTorch computes for each value of the graph, so that a value can be replaced by an input that
    carries the very same numbers. It may lack values. `told_by_operators` is set where nothing but its operators tells
    the failure from others: a wrong result, a death.
    """

    case: Case
    lane: LaneSpec
    taps: Mapping[str, Array]
    told_by_operators: bool = False

    @property
    def graph(self) -> Graph:
        return self.case.graph

    def with_graph(self, graph: Graph, tensors: Mapping[str, Array] | None = None) -> Subject:
        """The subject with another graph, less whatever no output needs."""
        graph = pruned(graph)
        have = self.case.tensors if tensors is None else tensors
        names = [item.value.name for item in graph.inputs]
        return replace(self, case=replace(self.case, graph=graph, tensors={n: have[n] for n in names}))


Pass = Callable[[Subject], Iterator[Subject]]


def pruned(graph: Graph) -> Graph:
    """Without the nodes and inputs that no output depends on."""
    needed = set(graph.outputs)
    nodes = []
    for node in reversed(graph.nodes):
        if any(value.name in needed for value in node.results):
            needed.update(node.args)
            nodes.append(node)
    inputs = tuple(item for item in graph.inputs if item.value.name in needed)
    return replace(graph, inputs=inputs, nodes=tuple(reversed(nodes)))


def cut(subject: Subject, names: frozenset[str]) -> Subject | None:
    """The subject with the named values turned into inputs that carry what PyTorch computed; None without taps."""
    graph = subject.graph
    if not names or not names <= set(subject.taps):
        return None
    values = [value for node in graph.nodes for value in node.results if value.name in names]
    fresh = tuple(as_input(value, subject.taps[value.name]) for value in values)
    nodes = []
    for node in graph.nodes:
        kept = tuple(value for value in node.results if value.name not in names)
        if kept and len(kept) < len(node.results):
            return None  # one node, some results cut and some not: nobody would define the rest
        if kept:
            inplace = node.form is Form.INPLACE and node.args[0] in names  # an input is never changed
            nodes.append(replace(node, form=Form.PLAIN) if inplace else node)
    changed = replace(graph, inputs=(*graph.inputs, *fresh), nodes=tuple(nodes))
    tensors = {**subject.case.tensors, **{value.name: subject.taps[value.name] for value in values}}
    return subject.with_graph(changed, tensors)


def as_input(value: Value, array: Array) -> Input:
    """An input in place of a computed value; its domain is what the numbers say, so that later passes keep to it."""
    domain = ANY
    if value.type.dtype.is_float and array.size:
        domain = next(d for d in (POSITIVE, NONZERO, ANY) if holds(array, d))
    return Input(value, domain=domain)
