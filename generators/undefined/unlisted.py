"""The rows about a node, also about one of ONNX that has no row of its own."""

from __future__ import annotations

from generators.graph import Attrs, Node
from generators.onnx.unlisted import NAME, written
from generators.undefined.elements import Where
from generators.undefined.table import Undefined, rows_of


def rows_of_node(node: Node) -> tuple[tuple[Undefined, Where], ...]:
    """The rows about a node's operator. Those about one of ONNX hold for a node of a file too."""
    if node.op != NAME:
        return rows_of(node.op)
    return rows_of(str(node.attrs["op_type"])) if node.attrs["domain"] == "" else ()


def attributes_of(node: Node) -> Attrs:
    """The attributes of a node by name; those of a node of a file as its row has them. Tensors and graphs are left
    out."""
    if node.op != NAME:
        return node.attrs
    given = written(str(node.attrs["node"])).attributes
    return {each.name: each.value for each in given if each.tensor is None and each.body is None}
