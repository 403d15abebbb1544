"""Constant folding of exported ONNX files, before a lane imports them."""

from __future__ import annotations

import onnx


def fold_constants(model: bytes) -> bytes:
    """Compute everything that depends on no input (`Shape` of a known shape, `If` on a constant, ...).

    Without it, TVM does not get the pads and slice bounds of the TorchScript exporter as constants ("Dynamic pads are
    not supported"). `should_fold` also folds operators that onnxscript keeps by default (ConstantOfShape).
    """
    from onnxscript import ir, optimizer  # a toolchain with Relay folds nothing, and does not have it

    graph = ir.serde.deserialize_model(onnx.load_from_string(model))
    optimizer.fold_constants(graph, onnx_shape_inference=True, should_fold=lambda node: True)
    optimizer.remove_unused_nodes(graph)
    folded: bytes = ir.serde.serialize_model(graph).SerializeToString()
    return folded
