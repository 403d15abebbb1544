"""What the nodes of a given file of ONNX make, and which of them call functions of the file."""

from __future__ import annotations

from collections.abc import Sequence

from generators.onnx.cut_given import FUNCTION, FUNCTION_NAME, GRAPH, MAKES, NODE, OP_TYPE
from generators.onnx.wire import Field, fields, of, texts

DOMAIN, FUNCTION_DOMAIN = 7, 10
"""The fields of a node and of a function."""


def calls_of_given(model: bytes) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """For each node of the file, in order, the function of the file that it calls, or "", and the names of its results.
    Raise `Invalid` where the bytes are no file."""
    file = fields(model)
    functions = {_names(fields(each.message), FUNCTION_NAME, FUNCTION_DOMAIN) for each in of(FUNCTION, file)}
    nodes = [fields(node.message) for graph in of(GRAPH, file) for node in of(NODE, fields(graph.message))]
    called = [_names(node, OP_TYPE, DOMAIN) for node in nodes]
    results = [tuple(filter(None, texts(MAKES, node))) for node in nodes]
    return tuple((names[0] if names in functions else "", made) for names, made in zip(called, results, strict=True))


def _names(found: Sequence[Field], *numbers: int) -> tuple[str, ...]:
    return tuple(next(iter(texts(number, found)), "") for number in numbers)
