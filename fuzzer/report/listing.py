"""A case as a few lines of text: the source of its model, or a line for each call."""

from __future__ import annotations

from collections.abc import Iterator

from generators.dialect import dialect_named
from generators.graph import Case, Graph, Invalid, Node


def listing(case: Case) -> str:
    """The class of PyTorch, or the calls of a graph whose model is a file; after it, the types of the inputs. Open
    sizes are symbols, but where a layer is made for numbers."""
    made = dialect_named(case.graph.dialect).source
    if made is None:
        return "\n".join(_calls(case.graph))
    try:
        return made(case.graph).strip("\n")
    except Invalid:  # a layer whose weight has an open size
        return made(case.bound).strip("\n")


def _calls(graph: Graph) -> Iterator[str]:
    for item in graph.inputs:
        yield f"{item.value.name}: {item.value.type}"
    written = dialect_named(graph.dialect).written
    for node in graph.nodes:
        results = ", ".join(value.name for value in node.results)
        types = ", ".join(str(value.type) for value in node.results)
        yield f"{results} = {_call(node)}  # {'; '.join(filter(None, (types, written(node))))}"
    yield f"return {', '.join(graph.outputs)}"


def _call(node: Node) -> str:
    given = {name: value for name, value in node.attrs.items() if name != "op_type" and value is not None}
    attributes = [f"{name}={value!r}" for name, value in given.items()]
    return f"{node.title}({', '.join([*node.args, *attributes])})"
