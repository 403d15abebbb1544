"""The interpreter of the onnx package, with definitions of ours where it lacks an operator or computes it wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import onnx
from onnx.inliner import inline_local_functions
from onnx.reference import ReferenceEvaluator

from fuzzer.lanes.onnx.definitions import DEFINITIONS


class Interpreter(ReferenceEvaluator):  # type: ignore[misc]
    """Functions of the model are inlined: the interpreter does not know types inside of them. Results that nobody wants
    get a name: the interpreter keeps the result without a name, and gives it to nodes that leave out an input."""

    def __init__(self, proto: Any, *arguments: Any, new_ops: Any = None, **more: Any) -> None:
        if isinstance(proto, onnx.ModelProto):
            proto = _with_names(inline_local_functions(proto) if proto.functions else proto)
        super().__init__(proto, *arguments, new_ops=list(DEFINITIONS), **more)


def _with_names(model: onnx.ModelProto) -> onnx.ModelProto:
    if all(name for node in _nodes(model) for name in node.output):
        return model
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for number, node in enumerate(_nodes(copy)):
        node.output[:] = [name or f"unused_{number}_{place}" for place, name in enumerate(node.output)]
    return copy


def _nodes(model: onnx.ModelProto) -> Iterator[Any]:
    """All nodes, of subgraphs too."""
    rest = list(model.graph.node)
    while rest:
        node = rest.pop()
        yield node
        rest += [inner for each in node.attribute for inner in each.g.node]
