"""The interpreter of the onnx package, with definitions of ours where it lacks an operator or computes it wrongly."""

from __future__ import annotations

from typing import Any

import onnx
from onnx.inliner import inline_local_functions
from onnx.reference import ReferenceEvaluator

from fuzzer.lanes.onnx.definitions import DEFINITIONS


class Interpreter(ReferenceEvaluator):  # type: ignore[misc]
    """Functions of the model are inlined: the interpreter does not know types inside of them. Outputs that are left out
    get names: the interpreter would keep them under the empty name, and pass them for inputs that are left out."""

    def __init__(self, proto: Any, *arguments: Any, new_ops: Any = None, **more: Any) -> None:
        if isinstance(proto, onnx.ModelProto):
            if proto.functions:
                proto = inline_local_functions(proto)
            proto = _with_all_names(proto)
        super().__init__(proto, *arguments, new_ops=list(DEFINITIONS), **more)


def _with_all_names(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model, with a name for each output of a node, also in subgraphs."""
    named = onnx.ModelProto()
    named.CopyFrom(model)
    rest = [*named.graph.node]
    for number, node in enumerate(rest):
        rest += [inner for each in node.attribute for inner in each.g.node]
        for place, name in enumerate(node.output):
            if not name:
                node.output[place] = f"difftvm_unread_{number}_{place}"
    return named
