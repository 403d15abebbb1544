"""What TVM ran for a case, from a traced run of the lane."""

from __future__ import annotations

from collections.abc import Iterator

from fuzzer.cases.attribute_class import class_of
from fuzzer.signature.blame import Origin
from generators.graph import Graph
from generators.ops import TABLE
from oracles.trace import Trace


def origin_of(graph: Graph, trace: Trace) -> Origin:
    made = trace.mistyped
    types = (made.by[1], made.by[0], made.made, made.right) if made else ("", "", "", "")
    return Origin(trace.lines, trace.calls, *types, attributes=tuple(dict.fromkeys(_unusual(graph))))


def _unusual(graph: Graph) -> Iterator[str]:
    """Yield the attributes that have no default or another value, as `dim: int negative`."""
    for node in graph.nodes:
        defaults = TABLE[node.op].defaults
        for name, value in node.attrs.items():
            if name not in defaults or value != defaults[name]:
                yield f"{name}: {class_of(value)}"
