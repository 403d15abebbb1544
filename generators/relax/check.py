"""The rules of a graph of Relax beside those of all graphs."""

from __future__ import annotations

from generators.graph import Graph, Invalid, Layout
from generators.relax.ops import TABLE


def check(graph: Graph) -> None:
    """Raise `Invalid` unless the graph is one of operators of Relax, without an opset and layouts."""
    if graph.opset:
        raise Invalid("opset: only graphs of ONNX have one")
    for index, node in enumerate(graph.nodes):
        if node.op not in TABLE:
            raise Invalid(f"nodes[{index}]: {node.op!r} is not in the operator table; `fuzz ops` lists it")
    for item in graph.inputs:
        if item.layout is not Layout.CONTIGUOUS:
            raise Invalid(f"inputs: {item.value.name} cannot be {item.layout}: a module of Relax has no layouts")
