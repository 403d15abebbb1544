"""The type of reducers. A reducer is a pure function that proposes smaller subjects and runs nothing.

A reducer may propose invalid subjects; `fuzzer.triage.reduce` rejects them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from generators.dialect import dialect_named
from generators.domain import ANY, NONZERO, POSITIVE
from generators.graph import Array, Case, Graph, Input, Role, Value
from generators.values import holds
from oracles.lane import LaneSpec


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a reduction: a case, and the lane that shows the failure.

    computed   the values that PyTorch computes, by name; some may be missing. A reducer can replace a value by an input
               with the same numbers
    needs_ops  whether only the operators distinguish the failure from others, as for a wrong result or a death
    suspects   results of the nodes that the evidence points at, most likely first
    operators  the rows that a call may be replaced by; None: any. Those of a person's model are its own
    """

    case: Case
    lane: LaneSpec
    computed: Mapping[str, Array]
    needs_ops: bool = False
    suspects: tuple[str, ...] = ()
    operators: frozenset[str] | None = None

    @property
    def graph(self) -> Graph:
        return self.case.graph

    def with_graph(self, graph: Graph, tensors: Mapping[str, Array] | None = None) -> Subject:
        """Return the subject with another graph, without the nodes and inputs that no output needs."""
        graph = pruned(graph)
        tensors = self.case.tensors if tensors is None else tensors
        names = [item.value.name for item in graph.inputs]
        return replace(self, case=replace(self.case, graph=graph, tensors={name: tensors[name] for name in names}))


Reducer = Callable[[Subject], Iterator[Subject]]


def pruned(graph: Graph) -> Graph:
    """Return the graph without the nodes and inputs that no output depends on."""
    needed = set(graph.outputs)
    nodes = []
    for node in reversed(graph.nodes):
        if any(value.name in needed for value in node.results):
            needed.update(node.args)
            nodes.append(node)
    inputs = tuple(item for item in graph.inputs if item.value.name in needed)
    return replace(graph, inputs=inputs, nodes=tuple(reversed(nodes)))


def cut(subject: Subject, names: frozenset[str]) -> Subject | None:
    """Return the subject with inputs in place of the named values, with the numbers that PyTorch computed.

    Return None if a number is missing, or if only some results of a node would be replaced.
    """
    graph = subject.graph
    if not names or not names <= set(subject.computed):
        return None
    values = [value for node in graph.nodes for value in node.results if value.name in names]
    constant = _constants_of_file(graph)
    fresh = tuple(as_input(value, subject.computed[value.name], value.name in constant) for value in values)
    nodes = []
    for node in graph.nodes:
        kept = tuple(value for value in node.results if value.name not in names)
        if kept and len(kept) < len(node.results):
            return None  # nothing would define the other results of this node
        if kept:
            nodes.append(
                node.not_in_place if names.intersection(node.args[:1]) else node
            )  # a call must not change an input in place
    changed = replace(graph, inputs=(*graph.inputs, *fresh), nodes=tuple(nodes))
    tensors = {**subject.case.tensors, **{value.name: subject.computed[value.name] for value in values}}
    return subject.with_graph(changed, tensors)


def _constants_of_file(graph: Graph) -> frozenset[str]:
    """Return the values that are known when a model that is a file is compiled. An importer may treat them so."""
    if not dialect_named(graph.dialect).is_file:
        return frozenset()
    known = {item.value.name for item in graph.inputs if item.role.is_owned}
    for node in graph.nodes:
        if known.issuperset(node.args):
            known |= {value.name for value in node.results}
    return frozenset(known)


def as_input(value: Value, array: Array, constant: bool = False) -> Input:
    """Return an input in place of a computed value; a parameter if it is constant. Its domain follows from the numbers,
    and later reducers keep it."""
    domain = ANY
    if value.type.dtype.is_float and array.size:
        domain = next(d for d in (POSITIVE, NONZERO, ANY) if holds(array, d))
    return Input(value, Role.PARAM if constant else Role.INPUT, domain)
