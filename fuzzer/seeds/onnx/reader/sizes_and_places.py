"""The tensors of an ONNX file that say sizes and places, such as the scales of Resize. A case keeps their numbers:
other ones would make another model."""

from __future__ import annotations

from typing import Any

from fuzzer.lanes.onnx.all_tensors import nodes_of

RESIZING = ("Resize", "Upsample")
"""The operators whose inputs after the first one say sizes and places in numbers of floating point."""

OF_TYPES = ("Shape", "Size")
"""Operators that read no numbers of their operand."""


def sizes_and_places(graph: Any) -> set[str]:
    """The names of these values, and of all from which nodes compute them."""
    nodes = list(nodes_of(graph))
    makers = {name: node for node in nodes for name in node.output}
    waiting = [name for node in nodes if node.op_type in RESIZING for name in node.input[1:] if name]
    found = set[str]()
    while waiting:
        name = waiting.pop()
        maker = makers.get(name)
        if name not in found and maker is not None and maker.op_type not in OF_TYPES:
            waiting += maker.input
        found.add(name)
    return found
