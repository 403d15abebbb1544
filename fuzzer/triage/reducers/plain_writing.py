"""Write the model plainly: calls in their plain form, contiguous inputs, attributes at their defaults. For
ONNX, attributes are left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuzzer.triage.reducers.base import Subject
from generators.graph import Form, Graph, Input, Layout, Node
from generators.table import TABLE


def plain_writing(subject: Subject) -> Iterator[Subject]:
    """Propose all changes at once, and then one change at a time."""
    graph = subject.graph
    plainest = replace(graph, nodes=tuple(map(_plain, graph.nodes)), inputs=tuple(map(_contiguous, graph.inputs)))
    for smaller in (plainest, *_one_by_one(graph)):
        if smaller != graph:
            yield subject.with_graph(smaller)


def _one_by_one(graph: Graph) -> Iterator[Graph]:
    for index, node in enumerate(graph.nodes):
        defaults = TABLE[node.op].defaults
        changes = [replace(node, form=Form.PLAIN)]
        changes += [replace(node, attrs={**node.attrs, key: value}) for key, value in defaults.items()]
        for changed in changes:
            yield replace(graph, nodes=(*graph.nodes[:index], changed, *graph.nodes[index + 1 :]))
    for index, item in enumerate(graph.inputs):
        yield replace(graph, inputs=(*graph.inputs[:index], _contiguous(item), *graph.inputs[index + 1 :]))


def _plain(node: Node) -> Node:
    return replace(node, form=Form.PLAIN, attrs={**node.attrs, **TABLE[node.op].defaults})


def _contiguous(item: Input) -> Input:
    return replace(item, layout=Layout.CONTIGUOUS)


def written_extras(graph: Graph) -> int:
    """Return how many calls, attributes and layouts of the graph are not written plainly."""
    count = sum(item.layout is not Layout.CONTIGUOUS for item in graph.inputs)
    for node in graph.nodes:
        count += node.form is not Form.PLAIN
        count += sum(node.attrs.get(key) != value for key, value in TABLE[node.op].defaults.items())
    return count
