"""The readers of a case of ONNX that decide what is right: onnxruntime without optimisers, and the interpreter of the
onnx package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from fuzzer.lanes.onnx import runtime
from fuzzer.lanes.onnx.definitions import DEFINITIONS
from fuzzer.lanes.onnx.proto import to_proto
from fuzzer.lanes.onnx.widened import widened, widened_inputs
from generators.graph import Array, Case, DType
from generators.onnx.source import File, render


def file_of(case: Case) -> File:
    """The file of a case at its own sizes."""
    return render(case.bound, case.tensors)


def by_onnxruntime(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> tuple[Array, ...]:
    """The results of onnxruntime, in the dtypes of the file. It has next to no kernels for bfloat16: it computes these
    in float32, and the results are rounded."""
    if not _has_bfloat16(model):
        return runtime.run(runtime.load(model), inputs)
    outputs = runtime.run(runtime.load(widened(model)), widened_inputs(inputs))
    dtypes = [item.type.tensor_type.elem_type for item in model.graph.output]
    half = onnx.TensorProto.BFLOAT16
    return tuple(
        array.astype(DType.BFLOAT16.numpy) if dtype == half and array.dtype == np.float32 else array
        for array, dtype in zip(outputs, dtypes, strict=True)
    )


def by_interpreter(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> tuple[Array, ...]:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for number, node in enumerate(_nodes(copy)):
        node.output[:] = [name or f"unused_{number}_{place}" for place, name in enumerate(node.output)]
    return tuple(np.asarray(array) for array in Interpreter(copy).run(None, dict(inputs)))


def _nodes(model: onnx.ModelProto) -> Iterator[Any]:
    """All nodes. The interpreter keeps the result that has no name, and gives it to nodes that leave out an input."""
    rest = [*model.graph.node, *(node for function in model.functions for node in function.node)]
    while rest:
        node = rest.pop()
        yield node
        rest += [inner for each in node.attribute for inner in each.g.node]


class Interpreter(ReferenceEvaluator):  # type: ignore[misc]
    """The interpreter of onnx, with `DEFINITIONS` in the graph, its subgraphs and functions."""

    def __init__(self, proto: Any, *arguments: Any, new_ops: Any = None, **more: Any) -> None:
        super().__init__(proto, *arguments, new_ops=list(DEFINITIONS), **more)


def _has_bfloat16(model: onnx.ModelProto) -> bool:
    return onnx.TensorProto.BFLOAT16 in _element_types(model)


def _element_types(model: onnx.ModelProto) -> set[int]:
    found = {item.type.tensor_type.elem_type for item in (*model.graph.input, *model.graph.output)}
    found |= {item.data_type for item in model.graph.initializer}
    for node in model.graph.node:
        for each in node.attribute:
            if each.type == onnx.AttributeProto.TENSOR:
                found.add(each.t.data_type)
            elif each.name in ("to", "dtype", "output_dtype"):
                found.add(each.i)
    return found


__all__ = ["by_interpreter", "by_onnxruntime", "file_of", "to_proto"]
