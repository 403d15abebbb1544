"""Nodes that compute a list of integers from the shape of a tensor, as exporters write sizes."""

from __future__ import annotations

import numpy as np

from generators.graph import Array, TensorType
from generators.onnx.model import Attribute, Node, Tensor

FAR = 2**62
"""Larger numbers are no sums with a size: int64 could not hold them."""


def computed(name: str, array: Array, source: str, type: TensorType, opset: int) -> list[Node]:
    """Nodes whose result `name` is the array (int64, of rank 0 or 1). `source` is a tensor of this type. Each number
    is a size of it, gathered from its Shape, plus a constant; for a 0-d tensor it is its Size plus a constant. Numbers
    that mean the end of a dimension are constants."""
    nodes = [Node("Shape", (source,), (f"{name}_shape",))] if type.rank else []
    parts = []
    for place, number in enumerate(array.reshape(-1).tolist()):
        one, size = f"{name}_{place}", f"{name}_{place}_size"
        if abs(number) > FAR:
            nodes.append(_constant(one, np.array([number], np.int64)))
            parts.append(one)
            continue
        if type.rank:
            sizes = [int(each) for each in type.sizes]
            at = sizes.index(number) if number in sizes else place % type.rank
            nodes.append(_constant(f"{one}_at", np.array([at], np.int64)))
            nodes.append(Node("Gather", (f"{name}_shape", f"{one}_at"), (size,)))
            base = sizes[at]
        else:
            nodes.append(Node("Size", (source,), (f"{size}_scalar",)))
            nodes.append(_constant(f"{one}_list", np.array([1], np.int64)))
            nodes.append(Node("Reshape", (f"{size}_scalar", f"{one}_list"), (size,)))
            base = 1
        if base != number:
            nodes.append(_constant(f"{one}_more", np.array([number - base], np.int64)))
            nodes.append(Node("Add", (size, f"{one}_more"), (one,)))
        parts.append(one if base != number else size)
    if array.ndim == 0:
        return [
            *nodes,
            _constant(f"{name}_none", np.array([], np.int64)),
            Node("Reshape", (parts[0], f"{name}_none"), (name,)),
        ]
    if not parts:
        return [_constant(name, np.array([], np.int64))]
    return [*nodes, Node("Concat", tuple(parts), (name,), (Attribute("axis", 0),))]


def _constant(name: str, array: Array) -> Node:
    value = Tensor("INT64", array.shape, array.tobytes())
    return Node("Constant", (), (name,), (Attribute("value", tensor=value),))
