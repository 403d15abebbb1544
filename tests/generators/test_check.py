from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from generators.builder import Builder
from generators.case_file import decode, encode
from generators.check import check, retyped
from generators.choice import NumpySource
from generators.domain import NONZERO, POSITIVE, Domain, distinct, index, within
from generators.graph import (
    Array,
    Attrs,
    Case,
    DType,
    Expr,
    Form,
    Graph,
    Input,
    Invalid,
    Layout,
    Node,
    Role,
    Symbol,
    TensorType,
    Value,
)
from generators.op import Types
from generators.table import TABLE


def value(name: str, type: str) -> Value:
    return Value(name, TensorType.parse(type))


def node(op: str, args: str, attrs: Attrs, *results: Value, form: Form = Form.PLAIN) -> Node:
    return Node(op, tuple(args.split()), attrs, results, form)


X = value("x0", "float32[2,3]")
RELU = node("relu", "x0", {}, value("v0", "float32[2,3]"))
OVER_ROWS: Attrs = {"dim": (1,), "keepdim": False, "dtype": None}
SUM = node("sum", "v0", OVER_ROWS, value("v1", "float32[2]"))
GRAPH = Graph((Input(X),), (RELU, SUM), ("v1",))
ZEROS = np.zeros((2, 3), np.float32)
GOOD = Case(GRAPH, {"x0": ZEROS})


def graph(**changes: Any) -> Case:
    return replace(GOOD, graph=replace(GRAPH, **changes))


def nodes(*items: Node) -> Case:
    return graph(nodes=items, outputs=(items[-1].results[0].name,))


def inputs(*values: Value) -> Case:
    return graph(inputs=tuple(map(Input, values)))


def refusal(case: Case) -> str:
    with pytest.raises(Invalid) as error:
        check(case)
    return str(error.value)


def test_a_valid_case_passes() -> None:
    check(GOOD)


TOO_LARGE = "is larger than rank 8 or 67108864 elements"
BAD_NAME = "expected lower-case letters, then digits"


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (nodes(replace(RELU, op="rleu")), "nodes[0] (rleu): 'rleu' is not in the operator table; `fuzz ops` lists it"),
        (nodes(SUM, RELU), "nodes[0] (sum): operand 'v0' is not defined before its use"),
        (nodes(replace(RELU, args=("v0",))), "nodes[0] (relu): operand 'v0' is not defined before its use"),
        (nodes(RELU, RELU), "nodes[1] (relu): 'v0' is defined twice"),
        (nodes(replace(RELU, results=(X,))), "nodes[0] (relu): 'x0' is defined twice"),
        (inputs(X, X), "inputs[1]: 'x0' is defined twice"),
        (
            nodes(replace(RELU, results=(Value("x; import os", X.type),))),
            f"nodes[0] (relu): 'x; import os' is no name; {BAD_NAME}",
        ),
        (inputs(X, Value("", X.type)), f"inputs[1]: '' is no name; {BAD_NAME}"),
        (inputs(X, Value("X1", X.type)), f"inputs[1]: 'X1' is no name; {BAD_NAME}"),
        (inputs(X, Value("__class__", X.type)), f"inputs[1]: '__class__' is no name; {BAD_NAME}"),
        (inputs(X, Value("x1\n", X.type)), f"inputs[1]: 'x1\\n' is no name; {BAD_NAME}"),
        (inputs(X, Value("x" * 33, X.type)), f"inputs[1]: '{'x' * 33}' is no name; {BAD_NAME}"),
        (
            nodes(replace(RELU, results=(value("v0", "float64[2,3]"),))),
            "nodes[0] (relu): declared as float64[2,3], but gives float32[2,3]",
        ),
        (
            nodes(RELU, replace(SUM, results=(value("v1", "float32[3]"),))),
            "nodes[1] (sum): declared as float32[3], but gives float32[2]",
        ),
        (
            graph(nodes=(replace(RELU, results=()),), outputs=("x0",)),
            "nodes[0] (relu): has 1 results, not 0",
        ),
        (nodes(replace(RELU, args=("x0", "x0"))), "nodes[0] (relu): takes 1 to 1 operands, not 2"),
        (graph(outputs=()), "outputs: a graph needs at least one"),
        (graph(outputs=("v1", "v2")), "outputs[1]: no value is called 'v2'"),
        (graph(dialect="jax"), "dialect 'jax' is not known; this version reads 'torch', 'onnx', 'relax'"),
        (graph(dialect="onnx"), "nodes[0]: 'relu' is no operator of onnx; `fuzz ops` lists them"),
        (graph(opset=13), "opset: only graphs of ONNX have one"),
        (inputs(X, value("x1", "float32[67108865]")), f"inputs[1]: x1: float32[67108865] {TOO_LARGE}"),
        (inputs(X, value("x1", f"bool[1{',1' * 8}]")), f"inputs[1]: x1: bool[1{',1' * 8}] {TOO_LARGE}"),
        (
            nodes(node("expand", "x0", {"shape": (1 << 26, 2, 3)}, value("v0", "float32[67108864,2,3]"))),
            f"nodes[0] (expand): v0: float32[67108864,2,3] {TOO_LARGE}",
        ),
    ],
)
def test_an_invalid_graph_is_refused_and_the_place_is_named(case: Case, message: str) -> None:
    assert refusal(case) == message


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({}, "tensors: expected ['x0'], found []"),
        ({"x0": ZEROS, "x1": ZEROS}, "tensors: expected ['x0'], found ['x0', 'x1']"),
        ({"x1": ZEROS}, "tensors: expected ['x0'], found ['x1']"),
        ({"x0": ZEROS.astype(np.float64)}, "tensors: x0 is float64[2, 3], declared as float32[2,3]"),
        ({"x0": ZEROS.astype(">f4")}, "tensors: x0 is >f4[2, 3], declared as float32[2,3]"),
        ({"x0": ZEROS.T}, "tensors: x0 is float32[3, 2], declared as float32[2,3]"),
        ({"x0": ZEROS[0]}, "tensors: x0 is float32[3], declared as float32[2,3]"),
    ],
)
def test_wrong_tensors_are_refused(tensors: Mapping[str, Array], message: str) -> None:
    assert refusal(replace(GOOD, tensors=tensors)) == message


def with_domain(type: str, domain: Domain, *numbers: int) -> Case:
    x, y = value("x0", type), value("v0", type)
    array = np.array(numbers, x.type.dtype.numpy).reshape(x.type.sizes)
    clone = node("clone", "x0", {}, y)
    return Case(Graph((Input(x, domain=domain),), (clone,), ("v0",)), {"x0": array})


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (with_domain("int64[]", within(-2, 4), -(2**62)), "x0 holds numbers that are not within -2 4"),
        (with_domain("int64[2]", index(3), 0, 3), "x0 holds numbers that are not within -3 2"),
        (with_domain("int32[2]", NONZERO, 1, 0), "x0 holds numbers that are not nonzero"),
        (with_domain("float32[1]", POSITIVE, -1), "x0 holds numbers that are not positive"),
        (with_domain("int64[2]", distinct(0, 3, 0), 1, 1), "x0 holds numbers that are not distinct 0 3 along 0"),
        (
            with_domain("int64[3]", distinct(0, 1, 7), 0, 1, 1),
            "x0 is int64[3], which has no axis 7 to be distinct 0 1 along 7",
        ),
        (with_domain("int64[]", distinct(0, 1, 0), 0), "x0 is int64[], which has no axis 0 to be distinct 0 1 along 0"),
        (with_domain("uint8[1]", within(0, 999_999), 1), "x0 is uint8, which cannot hold all numbers within 0 999999"),
        (with_domain("uint8[1]", within(-1, 1), 1), "x0 is uint8, which cannot hold all numbers within -1 1"),
        (with_domain("bool[1]", within(0, 6), 1), "x0 is bool, which cannot hold all numbers within 0 6"),
    ],
)
def test_numbers_outside_their_domain_are_refused(case: Case, message: str) -> None:
    assert refusal(case) == f"tensors: {message}"
    with pytest.raises(Invalid, match=re.escape(message)):
        decode(*encode(case))


@pytest.mark.parametrize(
    "case",
    [
        with_domain("int64[]", within(-2, 4), 4),
        with_domain("bool[2]", within(0, 1), 0, 1),
        with_domain("uint8[2]", within(0, 255), 0, 255),
        with_domain("int64[2,2]", distinct(0, 1, 1), 0, 1, 1, 0),
        with_domain("float32[1]", within(0, 999_999), 9),
        with_domain("float32[0]", POSITIVE),
    ],
)
def test_numbers_in_their_domain_are_accepted(case: Case) -> None:
    check(decode(*encode(case)))


def test_the_numbers_of_symbolic_inputs_are_checked_at_the_largest_size() -> None:
    x, y = (Value(name, TensorType(DType.INT64, (Expr.parse("n"),))) for name in ("x0", "v0"))
    symbolic = Graph((Input(x, domain=index(2)),), (node("clone", "x0", {}, y),), ("v0",), symbols=(Symbol("n", 1, 3),))
    good = Case(symbolic, {"x0": np.array([0, 1, -2])}, {"n": 3}, ({"n": 1},))
    check(good)
    last = replace(good, tensors={"x0": np.array([0, 1, 2])})
    assert refusal(last) == "tensors: x0 holds numbers that are not within -2 1"


DIMS = "dim must be an integer, a list of integers or null"


@pytest.mark.parametrize(
    ("attrs", "message"),
    [
        ({}, "takes attributes ['dim', 'dtype', 'keepdim'], not []"),
        ({"dim": (1,)}, "takes attributes ['dim', 'dtype', 'keepdim'], not ['dim']"),
        (
            {**OVER_ROWS, "out": None},
            "takes attributes ['dim', 'dtype', 'keepdim'], not ['dim', 'dtype', 'keepdim', 'out']",
        ),
        ({**OVER_ROWS, "dim": 1.0}, f"{DIMS}, not 1.0"),
        ({**OVER_ROWS, "dim": True}, f"{DIMS}, not True"),
        ({**OVER_ROWS, "dim": "1"}, f"{DIMS}, not '1'"),
        ({**OVER_ROWS, "dim": (1.0,)}, f"{DIMS}, not (1.0,)"),
        ({**OVER_ROWS, "dim": (True,)}, f"{DIMS}, not (True,)"),
        ({**OVER_ROWS, "dim": (None,)}, f"{DIMS}, not (None,)"),
        ({**OVER_ROWS, "dim": ((1,),)}, f"{DIMS}, not ((1,),)"),
        ({**OVER_ROWS, "dim": 2}, "dim 2 is out of range for rank 2"),
        ({**OVER_ROWS, "dim": (0, -2)}, "dims (0, -2) repeat an axis"),
        ({**OVER_ROWS, "keepdim": 0}, "keepdim must be true or false, not 0"),
        ({**OVER_ROWS, "keepdim": None}, "keepdim must be true or false, not None"),
        ({**OVER_ROWS, "dtype": "float"}, "dtype must be a dtype or null, not 'float'"),
        ({**OVER_ROWS, "dtype": "load"}, "dtype must be a dtype or null, not 'load'"),
        ({**OVER_ROWS, "dtype": ("float32",)}, "dtype must be a dtype or null, not ('float32',)"),
    ],
)
def test_attributes_must_be_those_of_the_operator(attrs: Attrs, message: str) -> None:
    assert refusal(nodes(RELU, replace(SUM, attrs=attrs))) == f"nodes[1] (sum): {message}"


NUMBER = "a finite number"
ITEMS = "index must be a list of items: -2, 1:-1:2, None, ..., [0, -1], or {1} for operand 1"
SIDES = "padding must be a number, or one for each dimension, or 'same' or 'valid'"


@pytest.mark.parametrize(
    ("op", "attrs", "message"),
    [
        ("cumsum", {"dim": True, "dtype": None}, "dim must be an integer, not True"),
        ("cumsum", {"dim": 1.0, "dtype": None}, "dim must be an integer, not 1.0"),
        ("cumsum", {"dim": 2**63, "dtype": None}, f"dim must be an integer, not {2**63}"),
        ("reshape", {"shape": (-2, 3)}, "shape must be a list of sizes, or -1, not (-2, 3)"),
        ("permute", {"dims": 1}, "dims must be a list of integers, not 1"),
        ("permute", {"dims": ("0",)}, "dims must be a list of integers, not ('0',)"),
        ("add_scalar", {"other": float("nan")}, f"other must be {NUMBER}, true or false, not nan"),
        ("add_scalar", {"other": float("inf")}, f"other must be {NUMBER}, true or false, not inf"),
        ("add_scalar", {"other": None}, f"other must be {NUMBER}, true or false, not None"),
        ("clamp", {"min": True, "max": None}, f"min must be {NUMBER} or null, not True"),
        ("to", {"dtype": None, "non_blocking": False, "copy": False}, "dtype must be a dtype, not None"),
        ("to", {"dtype": "load", "non_blocking": False, "copy": False}, "dtype must be a dtype, not 'load'"),
        ("gelu", {"approximate": "Tanh"}, "approximate must be one of none, tanh, not 'Tanh'"),
        ("gelu", {"approximate": None}, "approximate must be one of none, tanh, not None"),
        ("squeeze", {"dim": ((0,),)}, "dim must be null, an integer or a list of integers, not ((0,),)"),
        ("einsum", {"equation": "ij->ji)"}, "equation must be an einsum equation, not 'ij->ji)'"),
        ("getitem", {"index": "0"}, f"{ITEMS}, not '0'"),
        ("getitem", {"index": ("0, 1",)}, f"{ITEMS}, not ('0, 1',)"),
        ("getitem", {"index": ("x0",)}, f"{ITEMS}, not ('x0',)"),
        (
            "conv2d",
            {"stride": 1, "dilation": 1, "groups": 1, "padding": "full"},
            f"{SIDES}, not 'full'",
        ),
    ],
)
def test_attributes_of_every_kind_are_checked(op: str, attrs: Attrs, message: str) -> None:
    args = "x0 x0" if op == "conv2d" else "x0"
    assert refusal(nodes(node(op, args, attrs, value("v0", "float32[2,3]")))) == f"nodes[0] ({op}): {message}"


# --- symbols, sizes, and further sizes

N = Symbol("n", 1, 4)


def symbolic(**changes: Any) -> Case:
    relu = node("relu", "x0", {}, value("v0", "float32[n,3]"))
    total = node("sum", "v0", OVER_ROWS, value("v1", "float32[n]"))
    graph = Graph((Input(value("x0", "float32[n,3]")),), (relu, total), ("v1",), symbols=(N,))
    case = Case(graph, {"x0": ZEROS}, {"n": 2}, ({"n": 1},))
    for key, changed in changes.items():
        if key in ("symbols", "nodes", "outputs"):
            case = replace(case, graph=replace(case.graph, **{key: changed}))
        else:
            case = replace(case, **{key: changed})
    return case


def test_a_symbolic_case_passes_at_all_its_sizes() -> None:
    check(symbolic())
    for case in symbolic().instances():
        check(case)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (symbolic(symbols=()), "symbols: n is not declared"),
        (symbolic(symbols=(Symbol("m", 1, 4),), sizes={"m": 1}, also=()), "symbols: n is not declared"),
        (symbolic(symbols=(N, N)), "symbols: one is declared twice"),
        (symbolic(symbols=(N, Symbol("N", 1, 4))), "symbols: 'N' from 1 to 4 is no dimension"),
        (symbolic(symbols=(N, Symbol("m\n", 1, 4))), "symbols: 'm\\n' from 1 to 4 is no dimension"),
        (symbolic(symbols=(Symbol("n", -1, 4),)), "symbols: 'n' from -1 to 4 is no dimension"),
        (symbolic(symbols=(Symbol("n", 4, 1),)), "symbols: 'n' from 4 to 1 is no dimension"),
        (symbolic(sizes={}), "sizes: expected ['n'], found []"),
        (symbolic(sizes={"m": 2}), "sizes: expected ['n'], found ['m']"),
        (symbolic(sizes={"n": 2, "m": 2}), "sizes: expected ['n'], found ['m', 'n']"),
        (symbolic(sizes={"n": 0}), "sizes.n: 0 is not within 1 to 4"),
        (symbolic(sizes={"n": 5}), "sizes.n: 5 is not within 1 to 4"),
        (symbolic(sizes={"n": 3}), "tensors: x0 is float32[2, 3], declared as float32[3,3]"),
        (symbolic(also=({"n": 1}, {})), "also[1]: expected ['n'], found []"),
        (symbolic(also=({"n": 0},)), "also[0].n: 0 is not within 1 to 4"),
        (symbolic(also=({"n": 1}, {"n": 3})), "also[1].n: 3 is larger than the tensors' 2"),
        (symbolic(also=({"n": 1},) * 9), "also: more than 8 bindings"),
        (replace(GOOD, sizes={"n": 2}), "sizes: expected [], found ['n']"),
        (replace(GOOD, also=({"n": 2},)), "also[0]: expected [], found ['n']"),
    ],
)
def test_sizes_that_do_not_fit_the_symbols_are_refused(case: Case, message: str) -> None:
    assert refusal(case) == message


@pytest.mark.parametrize(
    ("last", "message"),
    [
        (
            node("sum", "v0", OVER_ROWS, value("v1", "float32[2]")),
            "(sum): declared as float32[2], but gives float32[1]",
        ),
        (
            node("sum", "v0", OVER_ROWS, value("v1", "float32[2*n-2]")),
            "(sum): declared as float32[0], but gives float32[1]",
        ),
        (
            node("reshape", "v0", {"shape": (3, 2)}, value("v1", "float32[3,2]")),
            "(reshape): [1, 3] cannot be reshaped to (3, 2)",
        ),
    ],
)
def test_a_graph_that_is_valid_for_one_size_only_is_refused(last: Node, message: str) -> None:
    case = symbolic(nodes=(symbolic().graph.nodes[0], last))
    check(replace(case, also=()))
    assert refusal(case) == f"nodes[1] {message}"


def test_a_formula_that_is_negative_for_some_size_is_refused() -> None:
    x = Input(value("x0", "float32[n-2]"))
    relu = node("relu", "x0", {}, value("v0", "float32[n-2]"))
    graph = Graph((x,), (relu,), ("v0",), symbols=(N,))
    case = Case(graph, {"x0": np.zeros(0, np.float32)}, {"n": 2}, ({"n": 1},))
    check(replace(case, also=()))
    assert refusal(case) == "inputs[0]: x0: float32[-1] has a negative size"


# --- forms

Y = value("x1", "float32[2,3]")
NEG = node("neg", "x0", {}, value("v0", "float32[2,3]"))
ADD = node("add", "v0 x1", {"alpha": 1}, value("v1", "float32[2,3]"), form=Form.INPLACE)
MIXED = node("add", "v0 x1", {"alpha": 1}, value("v1", "float64[2,3]"), form=Form.INPLACE)
TWO = {"x0": ZEROS, "x1": ZEROS}


def in_place(*items: Node, outputs: str = "v1", second: str = "float32[2,3]") -> Case:
    inputs = (Input(X), Input(value("x1", second)))
    array = ZEROS.astype(inputs[1].value.type.dtype.numpy)
    return Case(Graph(inputs, items, tuple(outputs.split())), {"x0": ZEROS, "x1": array})


def test_a_result_that_nothing_else_reads_may_be_changed_in_place() -> None:
    check(in_place(NEG, ADD))
    check(in_place(NEG, ADD, node("neg", "v1", {}, value("v2", "float32[2,3]"), form=Form.INPLACE), outputs="v2"))


READ = "v0 is read elsewhere"


@pytest.mark.parametrize(
    ("case", "why"),
    [
        (in_place(NEG, ADD, outputs="v1 v0"), READ),
        (in_place(NEG, replace(ADD, args=("v0", "v0"))), READ),
        (in_place(NEG, ADD, node("abs", "v0", {}, value("v2", "float32[2,3]"))), READ),
        (in_place(NEG, ADD, node("view_as", "v0 x1", {}, value("v2", "float32[2,3]"))), READ),
        (in_place(NEG, MIXED, second="float64[2,3]"), "v0 has another type than the result"),
        (
            in_place(node("transpose", "x0", {"dim0": 0, "dim1": 0}, value("v0", "float32[2,3]")), ADD),
            "v0 may be part of an input",
        ),
    ],
)
def test_a_value_with_other_readers_must_not_be_changed_in_place(case: Case, why: str) -> None:
    assert refusal(case) == f"nodes[1] (add): cannot work in place: {why}"


@pytest.mark.parametrize("role", Role)
def test_an_input_must_not_be_changed_in_place(role: Role) -> None:
    case = Case(Graph((Input(X, role), Input(Y)), (replace(ADD, args=("x0", "x1")),), ("v1",)), TWO)
    assert refusal(case) == "nodes[0] (add): cannot work in place: x0 may be part of an input"


@pytest.mark.parametrize(
    ("item", "form"),
    [
        (node("reshape", "x0", {"shape": (6,)}, value("v0", "float32[6]")), Form.INPLACE),
        (node("relu", "x0", {}, value("v0", "float32[2,3]")), Form.OPERATOR),
        (node("add", "x0 x0", {"alpha": 2}, value("v0", "float32[2,3]")), Form.OPERATOR),
        (node("add", "x0 x0", {"alpha": 1}, value("v0", "float32[2,3]")), Form.MODULE),
        (node("softmax", "x0", {"dim": 0, "dtype": "float64"}, value("v0", "float64[2,3]")), Form.MODULE),
    ],
)
def test_a_form_that_the_row_does_not_have_is_refused(item: Node, form: Form) -> None:
    check(nodes(item))
    broken = nodes(replace(item, form=form))
    assert refusal(broken) == f"nodes[0] ({item.op}): has no {form} form for these operands and attributes"


def layer(weight: Role, bias: Role) -> Case:
    inputs = (
        Input(X),
        Input(value("w0", "float32[4,3]"), weight),
        Input(value("w1", "float32[4]"), bias),
    )
    linear = node("linear", "x0 w0 w1", {}, value("v0", "float32[2,4]"), form=Form.MODULE)
    arrays = {"w0": np.zeros((4, 3), np.float32), "w1": np.zeros(4, np.float32)}
    return Case(Graph(inputs, (linear,), ("v0",)), {"x0": ZEROS, **arrays})


def test_a_layer_must_own_its_parameters() -> None:
    check(layer(Role.PARAM, Role.PARAM))
    check(layer(Role.BUFFER, Role.PARAM))
    for roles in ((Role.INPUT, Role.PARAM), (Role.PARAM, Role.INPUT)):
        assert refusal(layer(*roles)) == "nodes[0] (linear): a layer's parameters must belong to the model"


def test_a_parameter_of_a_layer_must_not_be_computed() -> None:
    weight = node("neg", "w0", {}, value("v1", "float32[4,3]"))
    case = layer(Role.PARAM, Role.PARAM)
    linear = replace(case.graph.nodes[0], args=("x0", "v1", "w1"))
    broken = replace(case, graph=replace(case.graph, nodes=(weight, linear)))
    assert refusal(broken) == "nodes[1] (linear): a layer's parameters must belong to the model"


# --- layouts


def laid_out(layout: Layout, role: Role = Role.INPUT, type: str = "float32[2,3]", array: Array = ZEROS) -> Case:
    x = value("x0", type)
    relu = node("relu", "x0", {}, Value("v0", x.type))
    return Case(Graph((Input(x, role, layout=layout),), (relu,), ("v0",)), {"x0": array})


@pytest.mark.parametrize("layout", Layout)
def test_inputs_of_two_dimensions_may_have_any_layout(layout: Layout) -> None:
    check(laid_out(layout))


NO_LAYOUT = "only inputs of rank 2 and more can"
ROWS = np.array([[0, 1, 2], [0, 1, 2]], np.float32)
SIGNS = np.array([[0, 1, 2], [-0.0, 1, 2]], np.float32)


@pytest.mark.parametrize("layout", [layout for layout in Layout if layout is not Layout.CONTIGUOUS])
def test_other_values_must_be_contiguous(layout: Layout) -> None:
    line = laid_out(layout, type="float32[3]", array=ZEROS[0])
    for case in (line, laid_out(layout, Role.PARAM), laid_out(layout, Role.BUFFER)):
        assert refusal(case) == f"tensors: x0 cannot be {layout}: {NO_LAYOUT}"


def test_the_slices_of_an_expanded_input_must_be_equal() -> None:
    check(laid_out(Layout.EXPANDED, array=ROWS))
    check(laid_out(Layout.EXPANDED, array=ROWS * np.float32("nan")))
    check(laid_out(Layout.EXPANDED, type="float32[0,3]", array=ROWS[:0]))
    for array in (ROWS.T.reshape(2, 3), SIGNS):
        assert refusal(laid_out(Layout.EXPANDED, array=array)) == "tensors: x0 is expanded, but its slices differ"


# --- retyped


def test_retyped_infers_all_types_from_the_inputs() -> None:
    changed = replace(GRAPH, inputs=(Input(value("x0", "float64[5,3]")),))
    assert {name: str(type) for name, type in retyped(changed).types.items()} == {
        "x0": "float64[5,3]",
        "v0": "float64[5,3]",
        "v1": "float64[5]",
    }


SPLIT = node("split", "x0", {"sizes": (1, 1), "dim": 0}, value("v0", "float32[1,3]"), value("v0", "float32[1,3]"))


def test_one_node_cannot_define_a_name_twice() -> None:
    assert refusal(nodes(SPLIT)) == "nodes[0] (split): 'v0' is defined twice"


@pytest.mark.parametrize("name", ["if", "self", "torch"])
def test_a_name_that_breaks_the_rendered_source_is_refused(name: str) -> None:
    broken = replace(graph(inputs=(Input(Value(name, X.type)),)), tensors={name: ZEROS})
    assert name in refusal(replace(broken, graph=replace(broken.graph, nodes=(replace(RELU, args=(name,)), SUM))))


@pytest.mark.parametrize("name", ["forward", "eval", "training"])
def test_a_parameter_that_hides_a_method_is_refused(name: str) -> None:
    broken = replace(graph(inputs=(Input(Value(name, X.type), Role.PARAM),)), tensors={name: ZEROS})
    assert name in refusal(replace(broken, graph=replace(broken.graph, nodes=(replace(RELU, args=(name,)), SUM))))


@pytest.mark.parametrize(
    ("op", "type", "attrs"),
    [
        ("add_scalar", "float32[2]", {"other": 10**400}),
        ("group_norm", "float32[0,4]", {"num_groups": 0, "eps": 1e-5}),
        ("reshape", "float32[1]", {"shape": (True,)}),
        ("reshape", "float32[0]", {"shape": (-1, 0)}),
        ("unsqueeze", "float32[2]", {"dim": 2**62}),
    ],
)
def test_nonsensical_attributes_raise_invalid(op: str, type: str, attrs: Attrs) -> None:
    x = value("x0", type)
    call = node(op, "x0", attrs, value("v0", type))
    array = np.zeros(x.type.sizes, x.type.dtype.numpy)
    assert refusal(Case(Graph((Input(x),), (call,), ("v0",)), {"x0": array})).startswith(f"nodes[0] ({op}): ")


@pytest.mark.parametrize("error", [ZeroDivisionError, OverflowError, IndexError, KeyError, MemoryError, TypeError])
def test_what_a_rule_does_not_foresee_is_refused_in_a_file_and_shown_while_drawing(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def infer(types: Types, attrs: Attrs) -> TensorType:
        raise error("of this rule")

    row = replace(TABLE["relu"], infer=infer)
    monkeypatch.setattr("generators.check.TABLE", {"relu": row})
    assert refusal(GOOD).startswith(f"nodes[0] (relu): no rule for these operands and attributes: {error.__name__}: ")
    with pytest.raises(error):
        Builder(NumpySource(1)).grow(row)
