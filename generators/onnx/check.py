"""The rules of a graph of ONNX beside those of all graphs: its opset, the versions of its nodes, and its inputs."""

from __future__ import annotations

from generators.graph import Attr, Form, Graph, Invalid, Layout, Role
from generators.onnx.forms import fits_opset, may_hold
from generators.onnx.operator import NodeForm
from generators.onnx.schema import FIRST_KNOWN, newest_known_opset
from generators.onnx.unlisted import UnlistedForm
from generators.table import TABLE


def check_file(graph: Graph) -> None:
    """Raise `Invalid` unless the opset is known, and each node is of a version that is in force at it."""
    if not FIRST_KNOWN <= graph.opset <= newest_known_opset():
        raise Invalid(f"opset: {graph.opset} is not within {FIRST_KNOWN} to {newest_known_opset()}")
    versions: dict[Attr, Attr] = {}
    for index, node in enumerate(graph.nodes):
        form = TABLE[node.op].source if node.op in TABLE else None
        if isinstance(form, UnlistedForm):
            version, domain = node.attrs.get("version"), node.attrs.get("domain")
            if versions.setdefault(domain, version) != version:
                raise Invalid(f"nodes[{index}]: the file has another version of the domain {domain!r}")
            continue
        if not isinstance(form, NodeForm):
            raise Invalid(f"nodes[{index}]: {node.op!r} is not in the operator table; `fuzz ops` lists it")
        if not form.schema.in_force(graph.opset):
            raise Invalid(f"nodes[{index}]: {node.op} is not in force at opset {graph.opset}")
    types = graph.types
    for index, node in enumerate(graph.nodes):
        operands = [types[name] for name in node.args if name in types]
        results = [value.type for value in node.results]
        if not fits_opset(node.form, graph.opset, operands, results):
            raise Invalid(f"nodes[{index}] ({node.op}): opset {graph.opset} has no {node.form} form for these dtypes")
        if node.form is Form.COMPUTED and graph.symbols:
            raise Invalid(f"nodes[{index}] ({node.op}): has no {node.form} form in a graph with symbols")
    for item in graph.inputs:
        if item.role is Role.BUFFER and not may_hold(graph.opset, item.value.type.dtype):
            raise Invalid(f"inputs: {item.value.name}: opset {graph.opset} has no Constant of {item.value.type.dtype}")
        if item.layout is not Layout.CONTIGUOUS:
            raise Invalid(f"inputs: {item.value.name} cannot be {item.layout}: a file of ONNX has no layouts")
