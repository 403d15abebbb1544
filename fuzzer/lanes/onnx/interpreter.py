"""The interpreter of the onnx package, with definitions of ours where it lacks an operator or computes it wrongly."""

from __future__ import annotations

from typing import Any

import onnx
from onnx.inliner import inline_local_functions
from onnx.reference import ReferenceEvaluator

from fuzzer.lanes.onnx.definitions import DEFINITIONS


class Interpreter(ReferenceEvaluator):  # type: ignore[misc]
    """Functions of the model are inlined: the interpreter does not know types inside of them."""

    def __init__(self, proto: Any, *arguments: Any, new_ops: Any = None, **more: Any) -> None:
        if isinstance(proto, onnx.ModelProto) and proto.functions:
            proto = inline_local_functions(proto)
        super().__init__(proto, *arguments, new_ops=list(DEFINITIONS), **more)
