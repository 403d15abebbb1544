"""Several nodes of a file as one call of the row `onnx_node` (`generators.onnx.unlisted`): a case cannot hold a value
between them, or holds one of a small type in a wider dtype."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from generators.graph import DType, TensorType
from generators.graph import Node as Call
from generators.onnx.model import Attribute, Body, Node, Value
from generators.onnx.small_types import SmallType
from generators.onnx.source import NUMBER_OF, element
from generators.onnx.unlisted import NODES, call_of, captured

Types = Mapping[str, TensorType]


def call_of_several(
    nodes: Sequence[Node],
    wanted: Sequence[str],
    versions: Mapping[str, int],
    types: Types,
    small: Mapping[str, SmallType] = {},
) -> Call:
    """One call of these nodes of a file, which are in order, with the names of the file. People hear of it as of the
    first of them.

    wanted    the values that they make and others read, at least one
    versions  of the domains of the file beside ONNX's own
    types     of the operands and the wanted values, as a case holds them
    small     those of them that are of a small type in the file. The call casts them from and to what the case holds

    Raise `Invalid` where they are none that a case can have."""
    domain = next((node.domain for node in nodes if node.domain not in ("", "ai.onnx")), "")
    outputs = tuple(Value(name, element(types[name].dtype), types[name].sizes) for name in wanted)
    body = Body(tuple(nodes), outputs)
    reads = captured(Node("", (), (), (Attribute(NODES, body=body),)))
    before = [_cast(name, small[name].number) for name in reads if name in small]
    after = [_cast(name, _number(small[name].held)) for name in wanted if name in small]
    attribute = Attribute(NODES, body=Body((*before, *nodes, *after), outputs))
    return call_of(Node(nodes[0].op, (), tuple(wanted), (attribute,), "", domain), versions.get(domain, 1), types)


def _number(dtype: DType) -> int:
    return NUMBER_OF[element(dtype)]


def _cast(name: str, to: int) -> Node:
    """A value that a Cast makes has the name of its operand, and hides it from there on."""
    return Node("Cast", (name,), (name,), (Attribute("to", to),))
