"""The nodes of an ONNX file that contain graphs: their weights become tensors of the model, which are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from onnx import TensorProto

from fuzzer.seeds.onnx.reader.branches import rename_graph
from fuzzer.seeds.onnx.reader.known import constants


def has_bodies(graph: Any) -> bool:
    return any(True for node in graph.node for _ in _bodies_of(node))


def _bodies_of(node: Any) -> Iterator[tuple[str, Any]]:
    """The graphs in the attributes of a node, with the names of the attributes."""
    for attribute in node.attribute:
        for body in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
            yield attribute.name, body


def with_outer_weights(graph: Any, is_weight: Callable[[TensorProto], bool]) -> dict[str, TensorProto]:
    """Move weights out of the graphs that nodes contain, to any depth, and return them by their new names: a weight in
    the body of a Loop is the same number in each round. The name begins with that of the node's first result. A weight
    that is a result of the body stays: onnxruntime takes no value from around a body as its result."""
    found: dict[str, TensorProto] = {}
    for node in graph.node:
        first = next(filter(None, node.output), "")
        for name, body in _bodies_of(node):
            found |= _moved(body, f"{first}/{name}", is_weight)
    return found


def _moved(body: Any, place: str, is_weight: Callable[[TensorProto], bool]) -> dict[str, TensorProto]:
    found = with_outer_weights(body, is_weight)
    names: dict[str, str] = {}
    results = {item.name for item in body.output}
    for item in [item for item in body.initializer if is_weight(item) and item.name not in results]:
        found[_named(item.name, place, names)] = _copy(item)
        body.initializer.remove(item)
    for node in list(body.node):
        tensor = next((tensor for _, _, tensor in constants([node])), None)
        if tensor is not None and is_weight(tensor) and node.output[0] not in results:
            found[_named(node.output[0], place, names)] = _copy(tensor)
            body.node.remove(node)
    rename_graph(body, names)
    return found


def _named(name: str, place: str, names: dict[str, str]) -> str:
    names[name] = f"{place}/{name}"
    return names[name]


def _copy(item: TensorProto) -> TensorProto:
    copy = TensorProto()
    copy.CopyFrom(item)
    return copy
