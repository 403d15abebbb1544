"""ONNX files as every lane that imports ONNX gets them."""

from __future__ import annotations

import onnx
from onnxscript import ir, optimizer


def fold_constants(model: bytes) -> bytes:
    """The model with everything computed that depends on no input: `Shape` of a known shape, `If` on a constant, ...

    Without it, pads and slice bounds of the TorchScript exporter never reach TVM as constants («Dynamic pads are not
    supported»). `should_fold` lifts onnxscript's own list of operators that it would rather keep (ConstantOfShape).
    """
    graph = ir.serde.deserialize_model(onnx.load_from_string(model))
    optimizer.fold_constants(graph, onnx_shape_inference=True, should_fold=lambda node: True)
    optimizer.remove_unused_nodes(graph)
    folded: bytes = ir.serde.serialize_model(graph).SerializeToString()
    return folded
