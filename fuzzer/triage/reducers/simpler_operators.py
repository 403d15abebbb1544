"""Replace operators by plainer ones, so that findings of one bug do not differ in operators that it does not need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuzzer.triage.reducers.base import Subject
from generators.graph import Attrs, Form, Graph, Node
from generators.table import TABLE, dialect_of


def plainer_operators(name: str, opset: int) -> tuple[str, ...]:
    """Return all operators that may replace this one in a graph of this opset, plainest first. `plainer` of a row names
    the next plainer one; it is left out where no version of it is in force."""
    nearest = TABLE[name].plainer
    if nearest is None:
        return ()
    version = dialect_of(name).row_at(nearest, opset)
    return (*plainer_operators(nearest, opset), *((version,) if version else ()))


def simpler_operators(subject: Subject) -> Iterator[Subject]:
    """Propose for each call the plainest operator that may replace it, then the next plainest, and so on.

    Only the operators that the subject names are used, if it names any. If only operators distinguish the failure from
    others, a single call stays as it is: another operator that fails in the same way would be another bug.
    """
    nodes = subject.graph.nodes
    if subject.needs_ops and len(nodes) < 2:
        return
    for index, node in enumerate(nodes):
        for name in plainer_operators(node.op, subject.graph.opset):
            if subject.operators is not None and name not in subject.operators:
                continue
            if (simpler := _replaced(node, name)) is not None:
                yield subject.with_graph(replace(subject.graph, nodes=(*nodes[:index], simpler, *nodes[index + 1 :])))


def operator_complexity(graph: Graph) -> int:
    """Return how many plainer operators could replace the operators of the graph's calls, in all."""
    return sum(len(plainer_operators(node.op, graph.opset)) for node in graph.nodes)


def _replaced(node: Node, name: str) -> Node | None:
    """Return the call with another operator, with its attributes and at most as many operands as it accepts.

    Attributes that the call lacks get their defaults. Return None if one has no default.
    """
    op = TABLE[name]
    attrs: Attrs = {key: node.attrs.get(key, op.defaults.get(key)) for key in op.schema}
    if not all(kind.accepts(attrs[key]) for key, kind in op.schema.items()):
        return None
    return replace(node, op=name, args=node.args[: op.arity[1]], attrs=attrs, form=Form.PLAIN)
