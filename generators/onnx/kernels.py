"""Whether onnxruntime runs a graph of ONNX: what `schemas.json` says of its opset and of its kernels."""

from __future__ import annotations

from dataclasses import replace

from generators.dialect import Words
from generators.graph import DType, Graph, Node
from generators.onnx.dialect import DIALECT
from generators.onnx.operator import NodeForm
from generators.onnx.schema import MICROSOFT, Schema, newest_opset, schemas
from generators.onnx.unlisted import PREVIEW, UnlistedForm, written
from generators.op import Types
from generators.table import TABLE

HALF = (DType.FLOAT16, DType.BFLOAT16)
"""What readers compute in float32, where they have no kernel for it."""


def runs_in_onnxruntime(graph: Graph) -> bool:
    """Whether onnxruntime has the opset, and a kernel for each node, as far as this is known. The graphs inside of
    nodes are not looked at. Rows are drawn for its kernels alone."""
    types = graph.types
    unlisted = [node for node in graph.nodes if isinstance(TABLE[node.op].source, UnlistedForm)]
    return graph.opset <= newest_opset() and all(
        _has_kernel(node, tuple(types[name] for name in node.args), graph.opset) for node in unlisted
    )


def runs_in_evaluator(graph: Graph) -> bool:
    """Whether the reference evaluator of the onnx package knows the operators: it has none of onnxruntime's own."""
    return all(_domain(node) != MICROSOFT for node in graph.nodes)


def _domain(node: Node) -> str:
    source = TABLE[node.op].source
    return source.schema.domain if isinstance(source, NodeForm) else str(node.attrs.get("domain", ""))


def _has_kernel(node: Node, types: Types, opset: int) -> bool:
    domain = node.attrs["domain"]
    if domain in PREVIEW:
        return False
    versions = (each for each in schemas().get(str(node.attrs["op_type"]), ()) if each.domain == domain)
    schema = next((each for each in versions if each.in_force(opset)), None)
    return schema is None or (schema.runs and all(_takes(schema, *each) for each in _operands(node, types, schema)))


def _operands(node: Node, types: Types, schema: Schema) -> list[tuple[str, DType]]:
    """The type variable of the schema and the dtype of each operand that the node has."""
    places = [place for place, name in enumerate(written(str(node.attrs["node"])).inputs) if name]
    last = len(schema.inputs) - 1
    return [(schema.inputs[min(place, last)].type, type.dtype) for place, type in zip(places, types, strict=False)]


def _takes(schema: Schema, variable: str, dtype: DType) -> bool:
    kernels = schema.kernels.get(variable)
    return kernels is None or dtype in kernels or (dtype in HALF and DType.FLOAT32 in kernels)


def words_of(graph: Graph) -> Words:
    """The words for reports on a graph: onnxruntime has no part in one that it does not run, and the onnx package none
    in operators of onnxruntime's own, which it runs with definitions of difftvm."""
    if runs_in_onnxruntime(graph):
        own = replace(DIALECT.words, run="onnxruntime runs this model", results="that of onnxruntime")
        return DIALECT.words if runs_in_evaluator(graph) else own
    evaluator = "the reference evaluator of the onnx package"
    return replace(
        DIALECT.words,
        reference="the reference evaluator",
        run=f"{evaluator} runs this model, which onnxruntime does not support",
        results=f"that of {evaluator}",
        judges=evaluator,
        eager=evaluator,
    )
