"""Operators for the interpreter of onnx: those of com.microsoft, which it lacks, written from onnxruntime's
docs/ContribOperators.md, and those of ONNX that it lacks or computes wrongly, written from onnx's docs/Operators.md."""

from onnx.reference.op_run import OpRun

from fuzzer.lanes.onnx.definitions import contributed, conv, norm, pool, quantize, resize

DEFINITIONS: tuple[type[OpRun], ...] = (
    *contributed.DEFINITIONS,
    *conv.DEFINITIONS,
    *pool.DEFINITIONS,
    *norm.DEFINITIONS,
    *quantize.DEFINITIONS,
    *resize.DEFINITIONS,
)
