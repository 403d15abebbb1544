"""An ONNX file as the child that reads it describes it: nodes, types, and small tensors of numbers. Loads no compiler.

Nodes and tensors are those of `fuzzer.cases.onnx_model`. That module has all weights, for reports that rebuild the
file; this one has only the types of most tensors.
"""

from __future__ import annotations

import msgspec

from fuzzer.cases.onnx_model import ELEMENTS, Node, Tensor
from generators.graph import Invalid

MAX_BYTES = 256 << 20
OPAQUE = "(opaque)"
"""Domain of a node that the description has no words for: one that holds a graph, say."""


class OnnxGraph(msgspec.Struct, forbid_unknown_fields=True):
    """types      element type and shape of each value, None for a size that is not known
    constants  small tensors that the model owns, by name
    owned      all tensors that the model owns"""

    opset: int
    inputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    types: dict[str, tuple[str, tuple[int | None, ...]]]
    constants: dict[str, Tensor]
    owned: tuple[str, ...]


class Refusal(msgspec.Struct, forbid_unknown_fields=True):
    """Why the child gives no description, in one line."""

    refused: str


def decode(text: bytes, where: str) -> OnnxGraph:
    """Raise `Invalid` with one line that says what is wrong in `where`."""
    try:
        found = msgspec.json.decode(text, type=OnnxGraph)
    except msgspec.ValidationError:
        try:
            refusal = msgspec.json.decode(text, type=Refusal)
        except msgspec.DecodeError as error:
            raise Invalid(f"{where}: its description cannot be read: {error}") from None
        raise Invalid(f"{where}: {refusal.refused}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"{where}: its description cannot be read: {error}") from None
    for name, tensor in found.constants.items():
        count = 1
        for size in tensor.shape:
            count *= max(size, 0)
        if ELEMENTS[tensor.element].itemsize * count != len(tensor.data):
            raise Invalid(f"{where}: {name} has {len(tensor.data)} bytes for {tensor.element}{list(tensor.shape)}")
    return found
