"""Sums of half precision, which the interpreter of the onnx package adds in half precision. onnxruntime adds them in
float32. The witness does, too: a large sum in half precision would agree with nothing else."""

from __future__ import annotations

from typing import Any

from onnx.reference.op_run import OpRun
from onnx.reference.ops.op_conv import Conv
from onnx.reference.ops.op_cum_sum import CumSum
from onnx.reference.ops.op_gemm import Gemm_7
from onnx.reference.ops.op_sum import Sum

from fuzzer.lanes.onnx.definitions.wide import wide
from generators.graph import Array


def _in_float32(name: str, own: type[OpRun]) -> type[OpRun]:
    """The interpreter's operator, of floats that are at least float32. The result is rounded once."""

    def run(self: Any, *args: Array | None, **attributes: Any) -> tuple[Array, ...]:
        first = args[0]
        assert first is not None
        outputs = own._run(self, *[None if arg is None else wide(arg) for arg in args], **attributes)
        return tuple(output.astype(first.dtype) for output in outputs)

    return type(name, (own,), {"op_domain": "", "_run": run})


DEFINITIONS: tuple[type[OpRun], ...] = (
    _in_float32("Conv", Conv),
    _in_float32("CumSum", CumSum),
    _in_float32("Gemm", Gemm_7),
    _in_float32("Sum", Sum),
)
