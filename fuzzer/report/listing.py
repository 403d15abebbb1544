"""A case as a few lines of text: the source of its model, or a line for each call."""

from __future__ import annotations

from collections.abc import Iterator

from generators.dialect import dialect_named
from generators.graph import Case, Graph, Invalid


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
    dialect = dialect_named(graph.dialect)
    for node in graph.nodes:
        types = ", ".join(str(value.type) for value in node.results)
        comment = "; ".join(filter(None, (types, dialect.written(node))))
        *before, last = dialect.text(node)
        yield from (*before, f"{last}  # {comment}")
    yield f"return {', '.join(graph.outputs)}"
