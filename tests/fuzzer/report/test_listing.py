"""A case as a few lines of text."""

from __future__ import annotations

import numpy as np
from graphs_by_hand import case_of

from fuzzer.report.listing import listing
from generators.graph import Case, Form, Graph, Input, Node, Role, Symbol, TensorType, Value
from generators.table import TABLE


def test_a_call_of_onnx_says_how_it_is_written_and_leaves_out_what_is_not_given() -> None:
    """The same call with a constant shape is another model, which TVM may compile."""
    reshape = ("v0", "Reshape-14:as-input", "x0", {"shape": (4,), "allowzero": None})
    case = case_of({"x0": "float32[2,2]"}, [reshape, ("v1", "Relu-14:branch", "v0")], "v1", opset=18)
    assert listing(case).splitlines() == [
        "x0: float32[2,2]",
        "v0 = Reshape(x0, shape=(4,))  # float32[4]; `shape` is an input",
        "v1 = Relu(v0)  # float32[4]; in If",
        "return v1",
    ]


def open_case(form: Form) -> Case:
    """A convolution whose channels are open."""
    x, w, y = (
        Value(name, TensorType.parse(text))
        for name, text in (("x0", "float32[1,n,1]"), ("w0", "float32[2,n,1]"), ("v0", "float32[1,2,1]"))
    )
    node = Node("conv1d", ("x0", "w0"), TABLE["conv1d"].defaults, (y,), form)
    relu = Node("relu", ("x0",), {}, (Value("v1", x.type),))
    graph = Graph((Input(x), Input(w, Role.PARAM)), (node, relu), ("v0", "v1"), symbols=(Symbol("n", 1, 4),))
    tensors = {"x0": np.ones((1, 3, 1), np.float32), "w0": np.ones((2, 3, 1), np.float32)}
    return Case(graph, tensors, origin="by hand", sizes={"n": 3})


def test_open_sizes_are_shown_as_symbols_but_where_a_layer_is_made_for_numbers() -> None:
    assert "v1 = torch.relu(x0)  # float32[1,n,1]" in listing(open_case(Form.PLAIN))
    layer = listing(open_case(Form.MODULE))
    assert "torch.nn.Conv1d(3, 2, " in layer
    assert "v1 = torch.relu(x0)  # float32[1,3,1]" in layer
