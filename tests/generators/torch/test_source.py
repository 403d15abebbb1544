"""The rendered source of graphs, for every form of a call."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from eager import run, run_case, type_text
from graphs_by_hand import case_of
from rows import builders, each_row

from fuzzer.lanes.base.arrays import laid_out, to_torch
from generators.check import check
from generators.choice import NumpySource
from generators.graph import (
    Attrs,
    Case,
    DType,
    Form,
    Graph,
    Input,
    Invalid,
    Node,
    Role,
    Symbol,
    TensorType,
    Value,
)
from generators.random_graph import with_values
from generators.torch.ops import TABLE, Op
from generators.torch.random_graph import generate
from generators.torch.source import called, constructor, render, statements
from generators.values import plain

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def value(name: str, type: str) -> Value:
    return Value(name, TensorType.parse(type))


def zeros(item: Input) -> torch.Tensor:
    return to_torch(plain(item))


def cast(dtype: str) -> Attrs:
    return {"dtype": dtype, "non_blocking": False, "copy": False}


MODEL = Graph(
    (
        Input(value("x0", "float32[2,3]")),
        Input(value("w0", "float32[4,3]"), Role.PARAM),
        Input(value("x1", "int64[2,4]")),
        Input(value("w1", "bool[4]"), Role.PARAM),
        Input(value("b0", "float32[4]"), Role.BUFFER),
    ),
    (
        Node("linear", ("x0", "w0"), {}, (value("v0", "float32[2,4]"),)),
        Node("to", ("x1",), cast("float32"), (value("v1", "float32[2,4]"),)),
        Node("where", ("w1", "v0", "v1"), {}, (value("v2", "float32[2,4]"),)),
        Node(
            "split", ("v2",), {"sizes": (1, 3), "dim": -1}, (value("v3", "float32[2,1]"), value("v4", "float32[2,3]"))
        ),
        Node("to", ("v3",), cast("int64"), (value("v5", "int64[2,1]"),)),
        Node("setitem_scalar", ("v4",), {"index": ("0", "1:"), "value": -0.5}, (value("v6", "float32[2,3]"),)),
        Node("sub", ("b0", "v3"), {"alpha": 1}, (value("v7", "float32[2,4]"),)),
    ),
    ("v6", "v5", "v7"),
)

TEXT = """\
import torch
import torch.nn.functional as F


class Model(torch.nn.Module):
    def __init__(self, w0, w1, b0):
        super().__init__()
        self.w0 = torch.nn.Parameter(w0)
        self.register_buffer("w1", w1)
        self.register_buffer("b0", b0)

    def forward(self, x0, x1):
        v0 = F.linear(x0, self.w0)  # float32[2,4]
        v1 = x1.to(torch.float32)  # float32[2,4]
        v2 = torch.where(self.w1, v0, v1)  # float32[2,4]
        v3, v4 = torch.split(v2, (1, 3), dim=-1)  # float32[2,1], float32[2,3]
        v5 = v3.to(torch.int64)  # int64[2,1]
        v6 = v4.clone()
        v6[0, 1:] = -0.5  # float32[2,3]
        v7 = torch.sub(self.b0, v3)  # float32[2,4]
        return v6, v5, v7
"""

NO_PARAMETERS = """\
import torch
import torch.nn.functional as F


class Model(torch.nn.Module):
    def forward(self, x0):
        v0 = F.pad(x0, (1, -1), mode="constant", value=0.5)  # float32[2,3]
        return (v0,)
"""


def test_a_parameter_may_have_the_name_of_a_layer() -> None:
    """A file may name a parameter m0. Builders name parameters w0, w1, ..."""
    x, w, b = value("x0", "float32[2,3]"), value("m0", "float32[3,3]"), value("m1", "float32[3]")
    nodes = (
        Node("relu", ("x0",), {}, (value("v0", "float32[2,3]"),), Form.MODULE),
        Node("linear", ("v0", "m0", "m1"), {}, (value("v1", "float32[2,3]"),)),
        Node("relu", ("v1",), {}, (value("v2", "float32[2,3]"),), Form.MODULE),
    )
    graph = Graph((Input(x), Input(w, Role.PARAM), Input(b, Role.BUFFER)), nodes, ("v2",))
    check(Case(graph, {i.value.name: plain(i) for i in graph.inputs}))
    text = render(graph)
    assert [line.strip() for line in text.splitlines() if "self.m" in line] == [
        "self.m0 = torch.nn.Parameter(m0)",
        "self.m_0 = torch.nn.ReLU()",
        "self.m2 = torch.nn.ReLU()",
        "v0 = self.m_0(x0)  # float32[2,3]",
        "v1 = F.linear(v0, self.m0, self.m1)  # float32[2,3]",
        "v2 = self.m2(v1)  # float32[2,3]",
    ]
    assert type_text(run(graph, zeros)[0]) == "float32[2,3]"


def test_text() -> None:
    assert render(MODEL) == TEXT


def test_float64_text_differs_only_in_casts_to_floats() -> None:
    assert render(MODEL, float64=True) == TEXT.replace("x1.to(torch.float32)", "x1.to(torch.float64)")


def test_text_without_parameters_and_with_one_output() -> None:
    pad = Node("pad_constant", ("x0",), {"pad": (1, -1), "value": 0.5}, (value("v0", "float32[2,3]"),))
    assert render(Graph((Input(value("x0", "float32[2,3]")),), (pad,), ("v0",))) == NO_PARAMETERS


def test_a_parameter_an_input_and_the_same_value_twice_may_be_outputs() -> None:
    text = render(replace(MODEL, outputs=("v4", "w0", "x1", "v4")))
    assert text.endswith("        return v4, self.w0, x1, v4\n")


def test_the_source_runs() -> None:
    assert [type_text(t) for t in run(MODEL, zeros)] == ["float32[2,3]", "int64[2,1]", "float32[2,4]"]


# --- layers

STATISTICS: Attrs = {"momentum": 0.1, "eps": 1e-5}
LAYERS = Graph(
    (
        Input(value("x0", "float32[2,3]")),
        Input(value("w0", "float32[3,3]"), Role.PARAM),
        Input(value("w1", "float32[3]"), Role.PARAM),
        Input(value("w2", "float32[3]"), Role.PARAM),
        Input(value("b0", "float32[3]"), Role.BUFFER),
        Input(value("b1", "float32[3]"), Role.BUFFER),
    ),
    (
        Node("linear", ("x0", "w0", "w1"), {}, (value("v0", "float32[2,3]"),), Form.MODULE),
        Node("linear", ("v0", "w0"), {}, (value("v1", "float32[2,3]"),), Form.MODULE),
        Node("batch_norm", ("v1", "b0", "b1"), STATISTICS, (value("v2", "float32[2,3]"),), Form.MODULE),
        Node("mul", ("v2", "w2"), {}, (value("v3", "float32[2,3]"),)),
        Node("relu", ("v3",), {}, (value("v4", "float32[2,3]"),), Form.MODULE),
    ),
    ("v4", "b1"),
)

LAYERS_TEXT = """\
import torch
import torch.nn.functional as F


class Model(torch.nn.Module):
    def __init__(self, w0, w1, w2, b0, b1):
        super().__init__()
        self.w0 = torch.nn.Parameter(w0)
        self.w2 = torch.nn.Parameter(w2)
        self.register_buffer("b1", b1)
        self.m0 = torch.nn.Linear(3, 3)
        self.m0.weight = self.w0
        self.m0.bias = torch.nn.Parameter(w1)
        self.m1 = torch.nn.Linear(3, 3, bias=False)
        self.m1.weight = self.w0
        self.m2 = torch.nn.BatchNorm1d(3, affine=False, track_running_stats=True)
        self.m2.running_mean = b0
        self.m2.running_var = self.b1
        self.m4 = torch.nn.ReLU()

    def forward(self, x0):
        v0 = self.m0(x0)  # float32[2,3]
        v1 = self.m1(v0)  # float32[2,3]
        v2 = self.m2(v1)  # float32[2,3]
        v3 = torch.mul(v2, self.w2)  # float32[2,3]
        v4 = self.m4(v3)  # float32[2,3]
        return v4, self.b1
"""


def test_a_parameter_with_other_readers_stays_in_the_module() -> None:
    """Two layers share w0. One layer has w1 and b0. No layer has w2, and b1 is also an output."""
    assert render(LAYERS) == LAYERS_TEXT
    assert [type_text(t) for t in run(LAYERS, zeros)] == ["float32[2,3]", "float32[3]"]


def test_a_shared_parameter_is_one_parameter() -> None:
    scope: dict[str, type[torch.nn.Module]] = {}
    exec(render(LAYERS), scope)
    tensors = {i.value.name: zeros(i) for i in LAYERS.inputs if i.role.is_owned}
    model = scope["Model"](*tensors.values())
    assert model.m0.weight is model.m1.weight is model.w0
    assert sorted(name for name, _ in model.named_parameters()) == ["m0.bias", "w0", "w2"]


LSTM: Attrs = {"has_biases": True, "num_layers": 1, "bidirectional": False, "batch_first": True}
LSTM_TYPES = "float32[2,3,4] float32[1,2,5] float32[1,2,5] float32[20,4] float32[20,5] float32[20] float32[20]"


@pytest.mark.parametrize(
    ("op", "attrs", "types", "made", "lines"),
    [
        (
            "softmax",
            {"dim": 1, "dtype": None},
            "float32[2,3]",
            ["m = torch.nn.Softmax(dim=1)"],
            ["v0 = m(a0)"],
        ),
        (
            "conv2d",
            {"stride": (2, 1), "padding": "valid", "dilation": 1, "groups": 2},
            "float32[1,4,5,5] float32[6,2,3,1] float32[6]",
            [
                "m = torch.nn.Conv2d(4, 6, (3, 1), stride=(2, 1), padding='valid', groups=2)",
                "m.weight = a1",
                "m.bias = a2",
            ],
            ["v0 = m(a0)"],
        ),
        (
            "embedding",
            {"padding_idx": -1, "norm_type": 2.0, "scale_grad_by_freq": False, "sparse": True},
            "int64[2] float32[7,3]",
            ["m = torch.nn.Embedding(7, 3, padding_idx=-1, sparse=True)", "m.weight = a1"],
            ["v0 = m(a0)"],
        ),
        (
            "pad_constant",
            {"pad": (1, 2), "value": 0.5},
            "float32[2,3]",
            ["m = torch.nn.ConstantPad1d((1, 2), 0.5)"],
            ["v0 = m(a0)"],
        ),
        (
            "lstm",
            LSTM,
            LSTM_TYPES,
            [
                "m = torch.nn.LSTM(4, 5, batch_first=True)",
                "m.weight_ih_l0 = a3",
                "m.weight_hh_l0 = a4",
                "m.bias_ih_l0 = a5",
                "m.bias_hh_l0 = a6",
            ],
            ["v0, (v1, v2) = m(a0, (a1, a2))"],
        ),
    ],
)
def test_layers(op: str, attrs: Attrs, types: str, made: list[str], lines: list[str]) -> None:
    operands = tuple(map(TensorType.parse, types.split()))
    results = tuple(Value(f"v{i}", type) for i, type in enumerate(TABLE[op].results(operands, attrs)))
    args = tuple(f"a{i}" for i in range(len(operands)))
    node = Node(op, args, attrs, results, Form.MODULE)
    assert TABLE[op].expresses(Form.MODULE, operands, attrs)
    assert constructor(node, args, operands, "m") == made
    assert statements(node, args, "m") == lines


def test_other_forms_need_no_constructor() -> None:
    for node in MODEL.nodes:
        assert constructor(node, node.args, MODEL.arg_types(node), "m") == []


# --- calls


def lines(op: str, attrs: Attrs, form: Form = Form.PLAIN, operands: int = 1, results: int = 1) -> list[str]:
    made = tuple(value(f"v{i}", "float32[2]") for i in range(results))
    args = tuple(f"a{i}" for i in range(operands))
    return statements(Node(op, args, attrs, made, form), args)


ONE: Attrs = {"alpha": 1}
SUM: Attrs = {"dim": None, "keepdim": False, "dtype": None}
SORT: Attrs = {"dim": -1, "descending": False, "stable": False}


@pytest.mark.parametrize(
    ("op", "form", "operands", "attrs", "text"),
    [
        ("add", Form.PLAIN, 2, ONE, "v0 = torch.add(a0, a1)"),
        ("add", Form.PLAIN, 2, {"alpha": -2}, "v0 = torch.add(a0, a1, alpha=-2)"),
        ("add", Form.METHOD, 2, ONE, "v0 = a0.add(a1)"),
        ("add", Form.METHOD, 2, {"alpha": 0.5}, "v0 = a0.add(a1, alpha=0.5)"),
        ("add", Form.OPERATOR, 2, ONE, "v0 = a0 + a1"),
        ("sub", Form.FUNCTION, 2, ONE, "v0 = torch.subtract(a0, a1)"),
        ("neg", Form.OPERATOR, 1, {}, "v0 = -a0"),
        ("neg", Form.METHOD, 1, {}, "v0 = a0.neg()"),
        ("neg", Form.INPLACE, 1, {}, "v0 = a0.neg_()"),
        ("relu", Form.PLAIN, 1, {}, "v0 = torch.relu(a0)"),
        ("relu", Form.FUNCTION, 1, {}, "v0 = F.relu(a0)"),
        ("relu", Form.INPLACE, 1, {}, "v0 = F.relu(a0, inplace=True)"),
        ("where", Form.METHOD, 3, {}, "v0 = a1.where(a0, a2)"),
        ("add_scalar", Form.OPERATOR, 1, {"other": -1.5}, "v0 = -1.5 + a0"),
        ("add_scalar", Form.PLAIN, 1, {"other": 1e300}, "v0 = a0 + 1e+300"),
        ("rsub_scalar", Form.PLAIN, 1, {"other": True}, "v0 = True - a0"),
        ("reshape", Form.PLAIN, 1, {"shape": (2,)}, "v0 = a0.reshape((2,))"),
        ("reshape", Form.FUNCTION, 1, {"shape": (-1, 2)}, "v0 = torch.reshape(a0, (-1, 2))"),
        ("squeeze", Form.PLAIN, 1, {"dim": None}, "v0 = a0.squeeze()"),
        ("squeeze", Form.PLAIN, 1, {"dim": -1}, "v0 = a0.squeeze(-1)"),
        ("squeeze", Form.PLAIN, 1, {"dim": (0, -1)}, "v0 = a0.squeeze((0, -1))"),
        ("squeeze", Form.FUNCTION, 1, {"dim": None}, "v0 = torch.squeeze(a0)"),
        ("slice", Form.PLAIN, 1, {"dim": 0, "start": None, "end": -1, "step": 1}, "v0 = a0[:-1]"),
        ("slice", Form.PLAIN, 1, {"dim": 1, "start": 1, "end": None, "step": 2}, "v0 = a0[:, 1::2]"),
        ("slice", Form.PLAIN, 1, {"dim": -2, "start": 1, "end": 2, "step": 1}, "v0 = a0[..., 1:2, :]"),
        ("sum", Form.PLAIN, 1, SUM, "v0 = torch.sum(a0, dim=None)"),
        ("sum", Form.PLAIN, 1, {**SUM, "keepdim": True}, "v0 = torch.sum(a0, dim=None, keepdim=True)"),
        ("sum", Form.FUNCTION, 1, {**SUM, "dtype": "int8"}, "v0 = torch.sum(a0, dtype=torch.int8)"),
        ("sum", Form.METHOD, 1, {**SUM, "dim": (1,)}, "v0 = a0.sum((1,), False, dtype=None)"),
        ("clamp", Form.PLAIN, 1, {"min": None, "max": 2}, "v0 = torch.clamp(a0, max=2)"),
        ("clamp", Form.INPLACE, 1, {"min": None, "max": 2.5}, "v0 = a0.clamp_(None, 2.5)"),
        ("to", Form.PLAIN, 1, {**cast("bfloat16"), "copy": True}, "v0 = a0.to(torch.bfloat16, copy=True)"),
        ("to", Form.METHOD, 1, cast("int64"), "v0 = a0.long()"),
        ("to", Form.FUNCTION, 1, cast("uint8"), "v0 = a0.type(torch.uint8)"),
        ("gelu", Form.PLAIN, 1, {"approximate": "tanh"}, "v0 = F.gelu(a0, approximate='tanh')"),
        ("norm", Form.PLAIN, 1, {**SUM, "dim": 0, "p": "-inf"}, 'v0 = torch.norm(a0, p=float("-inf"), dim=0)'),
        ("einsum", Form.PLAIN, 2, {"equation": "ij,jk->ik"}, "v0 = torch.einsum('ij,jk->ik', a0, a1)"),
        ("einsum", Form.FUNCTION, 2, {"equation": "ij,jk"}, "v0 = torch.einsum('ij,jk', [a0, a1])"),
        ("getitem", Form.PLAIN, 2, {"index": ("None", "-2", "{1}", "...")}, "v0 = a0[None, -2, a1, ...]"),
        ("getitem", Form.PLAIN, 1, {"index": ("[0, 1]", "1:-1:2", ":")}, "v0 = a0[[0, 1], 1:-1:2, :]"),
        ("cat", Form.PLAIN, 3, {"dim": 0}, "v0 = torch.cat((a0, a1, a2))"),
        ("cat", Form.PLAIN, 2, {"dim": -1}, "v0 = torch.cat((a0, a1), dim=-1)"),
    ],
)  # fmt: skip
def test_calls(op: str, form: Form, operands: int, attrs: Attrs, text: str) -> None:
    assert lines(op, attrs, form, operands) == [text]


@pytest.mark.parametrize(
    ("op", "form", "operands", "attrs", "text"),
    [
        ("sort", Form.PLAIN, 1, SORT, "v0, v1 = torch.sort(a0)"),
        ("sort", Form.PLAIN, 1, {**SORT, "descending": True}, "v0, v1 = torch.sort(a0, descending=True)"),
        ("sort", Form.METHOD, 1, SORT, "v0, v1 = a0.sort(dim=-1, descending=False, stable=False)"),
        ("split", Form.PLAIN, 1, {"sizes": (1, 1), "dim": 0}, "v0, v1 = torch.split(a0, (1, 1))"),
        ("split", Form.METHOD, 1, {"sizes": (1, 1), "dim": 0}, "v0, v1 = a0.split((1, 1), 0)"),
    ],
)
def test_calls_with_two_results(op: str, form: Form, operands: int, attrs: Attrs, text: str) -> None:
    assert lines(op, attrs, form, operands, results=2) == [text]


def test_a_list_of_one_result_is_unpacked() -> None:
    assert lines("split", {"sizes": (2,), "dim": 0}) == ["(v0,) = torch.split(a0, (2,))"]
    assert lines("unbind", {"dim": 1}, Form.METHOD) == ["(v0,) = a0.unbind(1)"]
    assert lines("neg", {}) == ["v0 = torch.neg(a0)"]


@pytest.mark.parametrize(
    ("op", "form", "operands", "attrs", "text"),
    [
        ("add", Form.INPLACE, 2, ONE, ["v0 = a0", "v0 += a1"]),
        ("add", Form.INPLACE, 2, {"alpha": 2}, ["v0 = a0.add_(a1, alpha=2)"]),
        ("add_scalar", Form.INPLACE, 1, {"other": 2}, ["v0 = a0", "v0 += 2"]),
        ("add_scalar", Form.INPLACE, 1, {"other": -3}, ["v0 = a0.add_(-3)"]),
        ("mul", Form.INPLACE, 2, {}, ["v0 = a0", "v0 *= a1"]),
        ("setitem", Form.PLAIN, 3, {"index": ("{2}", ":-1")}, ["v0 = a0.clone()", "v0[a2, :-1] = a1"]),
        ("setitem", Form.INPLACE, 3, {"index": ("{2}", ":-1")}, ["v0 = a0", "v0[a2, :-1] = a1"]),
        ("setitem_scalar", Form.PLAIN, 1, {"index": ("0",), "value": 2.0}, ["v0 = a0.clone()", "v0[0] = 2.0"]),
        ("setitem_update", Form.INPLACE, 2, {"index": ("...",), "operator": "*="}, ["v0 = a0", "v0[...] *= a1"]),
    ],
)
def test_calls_of_several_statements(op: str, form: Form, operands: int, attrs: Attrs, text: list[str]) -> None:
    assert lines(op, attrs, form, operands) == text


def test_a_form_that_cannot_express_an_attribute_is_for_its_default_only() -> None:
    types = (TensorType.parse("float32[2]"),) * 2
    assert TABLE["add"].expresses(Form.OPERATOR, types, {"alpha": 1})
    assert not TABLE["add"].expresses(Form.OPERATOR, types, {"alpha": 2})
    assert TABLE["cumsum"].expresses(Form.INPLACE, types[:1], {"dim": 0, "dtype": None})
    assert not TABLE["cumsum"].expresses(Form.INPLACE, types[:1], {"dim": 0, "dtype": "float32"})


def test_names_cannot_contain_code() -> None:
    bad = replace(MODEL, inputs=(Input(value("x0): import os; (", "float32[2,3]")),))
    with pytest.raises(Invalid, match=r"^inputs\[0\]: 'x0\): import os; \(' is no name; "):
        check(Case(bad, {}))


def test_operators_are_called_as_their_source_calls_them() -> None:
    graph = case_of(
        {"x0": "float32[2,3]"},
        [("v0", "neg:method", "x0"), ("v1", "pow_scalar", "v0", {"exponent": 2})],
        "v1",
    ).graph
    assert [called(graph, node) for node in graph.nodes] == ["Tensor.neg", "v0 ** 2"]


@pytest.mark.parametrize(
    ("op", "attrs", "shown"),
    [
        ("over_root_size", {"dim": 0}, "x0 / x0.size(0) ** 0.5"),
        ("view", {"size": (2, 1)}, "Tensor.view"),
        ("as_strided:method", {"size": (1,), "stride": (1,)}, "Tensor.as_strided"),
        ("clone:method", {}, "Tensor.clone"),
    ],
)
def test_a_row_of_several_calls_has_the_name_of_what_it_computes(op: str, attrs: Attrs, shown: str) -> None:
    """And not that of a size, or of a copy, that it needs for this."""
    graph = case_of({"x0": "float32[2]"}, [("v0", op, "x0", attrs)], "v0").graph
    assert called(graph, graph.nodes[0]) == shown


# --- double precision


@pytest.mark.parametrize(
    ("op", "form", "attrs", "text"),
    [
        ("to", Form.PLAIN, cast("float32"), "v0 = a0.to(torch.float64)"),
        ("to", Form.PLAIN, cast("float16"), "v0 = a0.to(torch.float64)"),
        ("to", Form.METHOD, cast("bfloat16"), "v0 = a0.double()"),
        ("to", Form.PLAIN, cast("int8"), "v0 = a0.to(torch.int8)"),
        ("sum", Form.PLAIN, SUM, "v0 = torch.sum(a0, dim=None)"),
        ("sum", Form.FUNCTION, {**SUM, "dtype": "float16"}, "v0 = torch.sum(a0, dtype=torch.float64)"),
    ],
)
def test_float64_calls(op: str, form: Form, attrs: Attrs, text: str) -> None:
    node = Node(op, ("x0",), attrs, (value("v0", "float32[2]"),), form)
    assert statements(node, ("a0",), float64=True) == [text]


def in_float64(type: TensorType) -> str:
    return str(type.with_dtype(DType.FLOAT64) if type.dtype.is_float else type)


def in_double(case: Case) -> list[str]:
    def tensor(item: Input) -> torch.Tensor:
        made = laid_out(to_torch(case.tensors[item.value.name]), item.layout)
        return made.double() if made.is_floating_point() else made

    return [type_text(t) for t in run(case.bound, tensor, float64=True)]


@pytest.mark.slow
def test_float64_source_stays_in_float64() -> None:
    for index in range(100):
        case = generate(NumpySource(6, index))
        assert in_double(case) == list(map(in_float64, case.bound.output_types)), render(case.bound, float64=True)


@pytest.mark.exhaustive
@each_row()
def test_float64_source_of_every_row(op: Op) -> None:
    for builder in builders(op, 3):
        case = with_values(builder)
        assert in_double(case) == list(map(in_float64, case.graph.output_types)), render(case.graph, float64=True)


@pytest.mark.slow
def test_float64_source_computes_what_the_graph_does() -> None:
    """On float64 inputs, both sources compute the same."""
    doubles = [case for case in (generate(NumpySource(7, index)) for index in range(400)) if of_doubles(case)]
    assert len(doubles) >= 10
    for case in doubles:
        outputs = run(case.bound, lambda item, case=case: to_torch(case.tensors[item.value.name]), float64=True)
        for a, b in zip(outputs, run_case(case), strict=True):
            assert torch.allclose(a.double(), b.double(), equal_nan=True), render(case.graph)


def of_doubles(case: Case) -> bool:
    floats = {type.dtype for type in case.graph.types.values() if type.dtype.is_float}
    return floats == {DType.FLOAT64}


@pytest.mark.parametrize(
    ("op", "more"), [("conv1d", {}), ("conv1d_padded", {"pad": (0, 0), "padding_mode": "circular"})]
)
def test_a_layer_of_open_sizes_has_a_name(op: str, more: Attrs) -> None:
    """A sighting is saved with the names of its suspects, before anything gives its sizes numbers."""
    x, w = (Value(name, TensorType.parse(f"float32[{size},n,1]")) for name, size in (("x", 1), ("w", 2)))
    node = Node(op, ("x", "w"), {**TABLE[op].defaults, **more}, (Value("v0", x.type),), Form.MODULE)
    graph = Graph((Input(x), Input(w, Role.PARAM)), (node,), ("v0",), symbols=(Symbol("n", 1, 3),))
    assert called(graph, node) == "torch.nn.Conv1d"
