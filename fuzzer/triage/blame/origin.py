"""What TVM ran for a case, from a traced run of the lane."""

from __future__ import annotations

from collections.abc import Iterator

from fuzzer.cases.attribute_class import class_of
from fuzzer.signature.blame import Blame, Origin, Place
from generators.dialect import dialect_named
from generators.graph import Graph
from generators.table import TABLE
from generators.text_forms import SHORT_TEXT
from oracles.trace import Trace


def origin_of(graph: Graph, trace: Trace) -> Origin:
    made = trace.mistyped
    types = (made.by[1], made.by[0], made.made, made.right) if made else ("", "", "", "")
    return Origin(trace.lines, trace.calls, *types, attributes=tuple(dict.fromkeys(_unusual(graph))))


def place_in_python(blame: Blame, trace: Trace) -> str:
    """Return the file and first line of the function that is blamed: a converter, or the legalization of an operator;
    "" for any other part of TVM."""
    match blame.place:
        case Place.FRONTEND:
            wanted = {function for _, function in trace.converters if _is_named(function, blame.culprit)}
        case Place.LEGALIZATION:
            wanted = {function for operator, function in trace.legalizations if operator == blame.culprit}
        case _:
            wanted = set()
    return next((place for function, place in trace.places if function in wanted), "")


def _is_named(function: str, culprit: str) -> bool:
    """Whether `BaseFXGraphImporter._binary_op.convert` is `_binary_op of add`."""
    return bool(culprit) and culprit.partition(" of ")[0] in (function, *function.split("."))


def _unusual(graph: Graph) -> Iterator[str]:
    """Yield the attributes that have no default or another value, as `dim: int negative`. A text that is longer than
    that of a finding may be, such as a node of ONNX with its graphs, is left out."""
    of_parts = dialect_named(graph.dialect).parts.attributes
    for node in graph.nodes:
        defaults = TABLE[node.op].defaults
        for name, value in node.attrs.items():
            text = f"{name}: {class_of(value)}"
            usual = name in defaults and value == defaults[name]
            if name not in of_parts and not usual and len(text) <= SHORT_TEXT.most:
                yield text
