"""The description of an ONNX file by the child that reads it: nodes, types, and small tensors. Loads no compiler.

Nodes and tensors have the types of `generators.onnx.model`. A description by that module has all weights, so that a
report can rebuild the file; a description here has only the types of most tensors.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from generators.graph import Invalid
from generators.onnx.model import ELEMENTS, Node, Tensor, require_array

MAX_BYTES = 256 << 20
GRAPH = "contains a graph"
OPAQUE: Mapping[str, str] = {
    "(graph)": GRAPH,
    "(other file)": "contains a tensor of another file",
    "(not finite)": "contains numbers that are not finite",
    "(attribute)": "has an attribute of a kind that is not read",
}
"""The domain of a node that cannot be described says why: the reason by the domain."""


class OnnxGraph(msgspec.Struct, forbid_unknown_fields=True):
    """A file. Its functions are inlined, and each If whose branch is known.

    types      the element type and shape of each value; None is an unknown size
    constants  small tensors of the model by name
    owned      the names of all tensors of the model: weights, buffers and constants
    outputs    the names of the results
    written    of the tensors that are results of a node Constant, the attribute of the node that has the numbers
    computed   the numbers that nodes compute from shapes and constants, by name
    branched   the results of nodes that stood alone in both branches of an If
    open       the names of the open sizes of each input that has one; "" for a size that is a number. The types have a
               number in place of each
    from_open  what is computed from these sizes before the model runs, and the results of nodes that are there because
               of their number
    unchanged  the nodes of the file with each If as it is, and the graphs that nodes contain, whose weights are tensors
               of the model; () where these are `nodes`
    versions   of the domains of the file beside ONNX's own
    given      the file as it is, for cases, without the numbers that are not among the constants. Functions are inlined
               only where they have weights
    meant      the names of the tensors of the model that say sizes and places, whose numbers a case keeps
    """

    opset: int
    inputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    types: dict[str, tuple[str, tuple[int | None, ...]]]
    constants: dict[str, Tensor]
    owned: tuple[str, ...]
    outputs: tuple[str, ...] = ()
    written: dict[str, str] = {}
    computed: dict[str, Tensor] = {}
    branched: tuple[str, ...] = ()
    open: dict[str, tuple[str, ...]] = {}
    from_open: tuple[str, ...] = ()
    unchanged: tuple[Node, ...] = ()
    versions: dict[str, int] = {}
    given: bytes = b""
    meant: tuple[str, ...] = ()

    @property
    def tensors(self) -> dict[str, Tensor]:
        """The constants in dtypes of cases."""
        return {name: tensor for name, tensor in self.constants.items() if tensor.element in ELEMENTS}


class Refusal(msgspec.Struct, forbid_unknown_fields=True):
    """A child's answer for a file that it cannot describe, or that is invalid: the reason in one line."""

    refused: str


class WantedSizes(msgspec.Struct, forbid_unknown_fields=True):
    """What a child puts in place of open sizes: the shapes of inputs, and numbers by the names of sizes."""

    shapes: dict[str, tuple[int, ...]] = {}
    sizes: dict[str, int] = {}


class RunTypes(msgspec.Struct, forbid_unknown_fields=True):
    """A child's answer: the element type and the sizes of each value that a node made in a run. The name of the element
    type is none of ONNX where the value is no tensor of numbers."""

    types: dict[str, tuple[str, tuple[int, ...]]]


def decode(text: bytes, where: str) -> OnnxGraph:
    """Raise `Invalid` with one line that describes what is wrong in `where`."""
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
    for tensor in (*found.constants.values(), *found.computed.values()):
        require_array(tensor, where)
    for name, sizes in found.open.items():
        if len(found.types.get(name, ("", ()))[1]) != len(sizes):
            raise Invalid(f"{where}: its description cannot be read: {name!r} has {len(sizes)} open sizes")
    return found
