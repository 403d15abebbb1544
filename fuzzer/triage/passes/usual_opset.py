"""Move a model of ONNX to an opset that people use: findings of one bug should not differ in versions of operators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuzzer.triage.passes.base import Subject
from generators.graph import Graph, Node
from generators.onnx.schema import newest_opset


def usual_opsets() -> tuple[int, ...]:
    """The opsets that are tried, the best first: the newest, and two that most published models have."""
    return newest_opset(), 17, 13


def usual_opset(subject: Subject) -> Iterator[Subject]:
    """Propose the whole graph at each usual opset, with the same attributes."""
    for opset in usual_opsets() if subject.graph.opset else ():
        if opset != subject.graph.opset and (moved := _moved(subject.graph, opset)) is not None:
            yield subject.with_graph(moved)


def opset_rank(graph: Graph) -> int:
    """Return how many usual opsets are better than the graph's own; 0 for a graph of PyTorch."""
    usual = usual_opsets() if graph.opset else (0,)
    return usual.index(graph.opset) if graph.opset in usual else len(usual)


def _moved(graph: Graph, opset: int) -> Graph | None:
    nodes = [_at(node, opset) for node in graph.nodes]
    found = tuple(node for node in nodes if node is not None)
    return replace(graph, nodes=found, opset=opset) if len(found) == len(nodes) else None


def _at(node: Node, opset: int) -> Node | None:
    """Return the call in the version of its operator that is in force at the opset. Attributes that this version lacks
    must be left out in the call. Return None where there is no such version, or an attribute that it needs is missing.
    """
    from generators.onnx.rows import at_opset, rows_at

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
