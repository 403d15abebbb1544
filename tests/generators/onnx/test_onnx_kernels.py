"""Which graphs onnxruntime runs, and who judges the others."""

from __future__ import annotations

import pytest

from generators.dialect import dialect_named, words_for
from generators.graph import Graph, Input, Node, TensorType, Value
from generators.onnx import model, unlisted
from generators.onnx.kernels import runs_in_onnxruntime


def graph(op: str, type: str = "float32[2]", opset: int = 17, domain: str = "", operands: int = 1) -> Graph:
    """A graph of this node as it is in a file."""
    value = TensorType.parse(type)
    names = [f"x{place}" for place in range(operands)]
    node = unlisted.call_of(
        model.Node(op, tuple(names), ("v0",), (), "", domain), 1, dict.fromkeys([*names, "v0"], value)
    )
    return Graph(tuple(Input(Value(name, value)) for name in names), (node,), ("v0",), "onnx", opset=opset)


def test_the_onnx_package_has_no_part_in_operators_of_onnxruntime() -> None:
    """Its evaluator has definitions of these from difftvm only: a maintainer could not run it."""
    words = words_for(graph("SkipLayerNormalization", domain="com.microsoft", operands=3))
    assert (words.run, words.results) == ("onnxruntime runs this model", "that of onnxruntime")


@pytest.mark.parametrize(
    ("made", "runs"),
    [
        (graph("Softplus"), True),
        (graph("Softplus", opset=26), True),
        (graph("Softplus", opset=27), False),
        (graph("Softplus", "float16[2]"), True),
        (graph("Momentum", domain="ai.onnx.preview.training"), False),
        (graph("Unheard"), True),  # nobody knows
        (graph("BitShift", "uint8[2]", operands=2), True),
        (graph("Relu", "int32[2]"), True),
        (graph("Relu", "int16[2]"), False),
    ],
)
def test_who_judges_a_graph(made: Graph, runs: bool) -> None:
    assert runs_in_onnxruntime(made) is runs
    words = words_for(made)
    assert (words == dialect_named("onnx").words) is runs
    assert words.reference == ("onnxruntime" if runs else "the reference evaluator")


def test_rows_are_drawn_for_the_kernels_of_onnxruntime() -> None:
    relu = Node("Relu-14", ("x0",), {}, (Value("v0", TensorType.parse("float32[2]")),))
    for opset, runs in ((17, True), (28, False)):
        made = Graph((Input(Value("x0", TensorType.parse("float32[2]"))),), (relu,), ("v0",), "onnx", opset=opset)
        assert runs_in_onnxruntime(made) is runs
