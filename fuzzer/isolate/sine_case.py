"""A model that every lane can take."""

from __future__ import annotations

import numpy as np

from generators.graph import Case, DType, Graph, Input, Node, TensorType, Value


def sine_case() -> Case:
    """One sine of six numbers: what every lane compiles."""
    x, v = (Value(name, TensorType(DType.FLOAT32, (2, 3))) for name in ("x0", "v0"))
    graph = Graph((Input(x),), (Node("sin", ("x0",), {}, (v,)),), ("v0",))
    return Case(graph, {"x0": np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)})
