from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from eager import empty, run, type_text

from generators.check import check
from generators.choice import NumpySource
from generators.graph import Attr, Attrs, Case, Form, Graph, Input, Invalid, Node, Role, TensorType, Value
from generators.ops import OPS, Op
from generators.ops.base import DTYPE
from generators.random_graph import generate
from generators.torch_source import constructor, render, statements


def value(name: str, type: str) -> Value:
    return Value(name, TensorType.parse(type))


MODEL = Graph(
    (
        Input(value("x0", "float32[2,3]")),
        Input(value("w0", "float32[4,3]"), Role.PARAM),
        Input(value("x1", "int64[2,4]")),
        Input(value("w1", "bool[4]"), Role.PARAM),
    ),
    (
        Node("linear", ("x0", "w0"), {}, (value("v0", "float32[2,4]"),)),
        Node("to", ("x1",), {"dtype": "float32"}, (value("v1", "float32[2,4]"),)),
        Node("where", ("w1", "v0", "v1"), {}, (value("v2", "float32[2,4]"),)),
        Node(
            "split", ("v2",), {"sizes": (1, 3), "dim": -1}, (value("v3", "float32[2,1]"), value("v4", "float32[2,3]"))
        ),
        Node("to", ("v3",), {"dtype": "int64"}, (value("v5", "int64[2,1]"),)),
    ),
    ("v4", "v5"),
)

TEXT = """\
import torch
import torch.nn.functional as F


class Model(torch.nn.Module):
    def __init__(self, w0, w1):
        super().__init__()
        self.w0 = torch.nn.Parameter(w0)
        self.register_buffer("w1", w1)

    def forward(self, x0, x1):
        v0 = F.linear(x0, self.w0)  # float32[2,4]
        v1 = x1.to(torch.float32)  # float32[2,4]
        v2 = torch.where(self.w1, v0, v1)  # float32[2,4]
        v3, v4 = torch.split(v2, (1, 3), dim=-1)  # float32[2,1], float32[2,3]
        v5 = v3.to(torch.int64)  # int64[2,1]
        return v4, v5
"""

NO_PARAMETERS = """\
import torch
import torch.nn.functional as F


class Model(torch.nn.Module):
    def forward(self, x0):
        v0 = F.pad(x0, (1, -1), mode="constant", value=0.5)  # float32[2,3]
        return (v0,)
"""


def test_text() -> None:
    assert render(MODEL) == TEXT


def test_float64_text_differs_in_casts_to_float32_alone() -> None:
    assert render(MODEL, float64=True) == TEXT.replace("x1.to(torch.float32)", "x1.to(torch.float64)")


def test_text_without_parameters_and_with_one_output() -> None:
    pad = Node("pad_constant", ("x0",), {"pad": (1, -1), "value": 0.5}, (value("v0", "float32[2,3]"),))
    assert render(Graph((Input(value("x0", "float32[2,3]")),), (pad,), ("v0",))) == NO_PARAMETERS


def test_a_parameter_may_be_an_output() -> None:
    assert render(replace(MODEL, outputs=("v4", "w0"))).endswith("        return v4, self.w0\n")


def test_text_runs() -> None:
    assert [type_text(t) for t in run(MODEL, empty)] == ["float32[2,3]", "int64[2,1]"]


def test_call_is_one_node_on_given_names() -> None:
    assert call(MODEL.nodes[1], ("a0",)) == "a0.to(torch.float32)"
    assert call(MODEL.nodes[1], ("a0",), float64=True) == "a0.to(torch.float64)"
    assert call(MODEL.nodes[4], ("a0",), float64=True) == "a0.to(torch.int64)"


@pytest.mark.parametrize(
    ("op", "attrs", "text"),
    [
        ("squeeze", {"dim": None}, "a0.squeeze()"),
        ("squeeze", {"dim": -1}, "a0.squeeze(-1)"),
        ("squeeze", {"dim": (0, -1)}, "a0.squeeze((0, -1))"),
        ("slice", {"dim": 0, "start": None, "end": -1, "step": 1}, "a0[:-1]"),
        ("slice", {"dim": 1, "start": 1, "end": None, "step": 2}, "a0[:, 1::2]"),
        ("slice", {"dim": -2, "start": 1, "end": 2, "step": 1}, "a0[..., 1:2, :]"),
        ("sum", {"dim": None, "keepdim": True}, "torch.sum(a0, dim=None, keepdim=True)"),
        ("rsub_scalar", {"other": -1.5}, "-1.5 - a0"),
        ("add_scalar", {"other": 1e300}, "a0 + 1e+300"),
        ("reshape", {"shape": (2,)}, "a0.reshape((2,))"),
    ],
)
def test_calls(op: str, attrs: Attrs, text: str) -> None:
    assert call(Node(op, ("x0",), attrs, ()), ("a0",)) == text


def widened(item: Input) -> torch.Tensor:
    tensor = empty(item)
    return tensor.double() if tensor.is_floating_point() else tensor


def test_float64_source_stays_in_float64() -> None:
    """On float64 inputs nothing is float32, so far as no Python number meets an integer tensor (see below)."""
    graphs = [generate(NumpySource(6, index)).graph for index in range(100)]
    graphs = [g for g in graphs if not any(t.dtype == "int64" for n in g.nodes for t in g.arg_types(n))]
    assert len(graphs) >= 30
    for graph in graphs:
        types = [type_text(t) for t in run(graph, widened, float64=True)]
        assert types == [str(t).replace("float32", "float64") for t in graph.output_types], render(graph)


@pytest.mark.parametrize(
    ("op", "attrs"), [("add_scalar", {"other": 0.5}), ("mul_scalar", {"other": 0.5}), ("clamp", {"min": 0.5, "max": 2})]
)
def test_float64_source_of_an_integer_tensor_and_a_float_number(op: str, attrs: Attrs) -> None:
    node = Node(op, ("x0",), attrs, (value("v0", "float32[2]"),))
    graph = Graph((Input(value("x0", "int64[2]")),), (node,), ("v0",))
    assert type_text(run(graph, empty, float64=True)[0]) == "float64[2]"


# --- no attribute reaches the text but through its kind

PAYLOADS: tuple[Attr, ...] = (
    "0); __import__('os').abort(",
    "float32) or __import__('os').abort(",
    "",
    ("0",),
    (0, "__import__('os')"),
    ((0,),),
    float("nan"),
    float("inf"),
)

ATTRIBUTES = [
    pytest.param(op, key, id=f"{op.name}-{key}") for op in OPS for key in op.schema
]  # fmt: skip


@pytest.mark.parametrize(("op", "key"), ATTRIBUTES)
def test_an_attribute_outside_its_schema_is_refused_before_rendering(op: Op, key: str) -> None:
    case = generate(NumpySource(0), ops=[op])
    index, node = next((i, n) for i, n in enumerate(case.graph.nodes) if n.op == op.name)
    for payload in PAYLOADS:
        attacked = replace(node, attrs={**node.attrs, key: payload})
        nodes = (*case.graph.nodes[:index], attacked, *case.graph.nodes[index + 1 :])
        with pytest.raises(Invalid, match=rf"^nodes\[{index}\] \({op.name}\): {key} must be "):
            check(replace(case, graph=replace(case.graph, nodes=nodes)))


@pytest.mark.parametrize(("op", "key"), ATTRIBUTES)
def test_drawn_attributes_render_as_literals(op: Op, key: str) -> None:
    case = generate(NumpySource(0), ops=[op])
    kind = op.schema[key]
    for node in case.graph.nodes:
        if node.op == op.name and kind is not DTYPE:
            assert eval(kind.render(node.attrs[key]), {"__builtins__": {}}) == node.attrs[key]


def test_names_cannot_break_out() -> None:
    bad = replace(MODEL, inputs=(Input(value("x0): import os; (", "float32[2,3]")),))
    with pytest.raises(Invalid, match=r"^inputs\[0\]: 'x0\): import os; \(' is no name; "):
        check(Case(bad, {}))
