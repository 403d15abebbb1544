"""In which opsets a form of ONNX can write a call: older versions of the nodes that it adds take fewer dtypes."""

from __future__ import annotations

from collections.abc import Iterable

from generators.graph import DType, Form, TensorType
from generators.onnx.schema import helpers_dtypes

WIDER = {
    DType.FLOAT16: DType.FLOAT32,
    DType.BFLOAT16: DType.FLOAT32,
    DType.FLOAT32: DType.FLOAT64,
    DType.BOOL: DType.INT64,
    DType.INT8: DType.INT32,
    DType.UINT8: DType.INT32,
    DType.INT16: DType.INT32,
    DType.INT32: DType.INT64,
}
"""For each dtype, one that has all its numbers. Models go there and back, where exporters mix precisions."""


def may_hold(opset: int, dtype: DType) -> bool:
    """Whether a node Constant can have a tensor of this dtype."""
    return dtype in helpers_dtypes("Constant", opset)


def fits_opset(form: Form, opset: int, operands: Iterable[TensorType], results: Iterable[TensorType]) -> bool:
    """Whether the opset has the nodes that the form adds, for tensors of these dtypes. Constant inputs of calls are
    taken for int64."""
    match form:
        case Form.CONSTANT | Form.LIST | Form.COMPUTED:
            return may_hold(opset, DType.INT64)
        case Form.IDENTITY:
            return all(type.dtype in helpers_dtypes("Identity", opset) for type in list(operands)[:1])
        case Form.CAST:
            return all(type.dtype in helpers_dtypes("Cast", opset) for type in list(operands)[:1])
        case Form.BRANCH:
            return all(type.dtype in helpers_dtypes("If", opset) for type in results)
        case _:
            return True
