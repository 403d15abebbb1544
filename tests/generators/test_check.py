from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from generators.check import check, retyped
from generators.graph import Array, Attrs, Case, Graph, Input, Invalid, Node, Role, TensorType, Value


def value(name: str, type: str) -> Value:
    return Value(name, TensorType.parse(type))


def node(op: str, args: str, attrs: Attrs, *results: Value) -> Node:
    return Node(op, tuple(args.split()), attrs, results)


X = value("x0", "float32[2,3]")
RELU = node("relu", "x0", {}, value("v0", "float32[2,3]"))
SUM = node("sum", "v0", {"dim": (1,), "keepdim": False}, value("v1", "float32[2]"))
GRAPH = Graph((Input(X),), (RELU, SUM), ("v1",))
ZEROS = np.zeros((2, 3), np.float32)
GOOD = Case(GRAPH, {"x0": ZEROS})


def graph(**changes: object) -> Case:
    return replace(GOOD, graph=replace(GRAPH, **changes))  # type: ignore[arg-type]


def nodes(*items: Node) -> Case:
    return graph(nodes=items, outputs=(items[-1].results[0].name,))


def inputs(*values: Value) -> Case:
    return graph(inputs=tuple(map(Input, values)))


def refusal(case: Case) -> str:
    with pytest.raises(Invalid) as error:
        check(case)
    return str(error.value)


def test_a_good_case_passes() -> None:
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
        (graph(dialect="onnx"), "dialect 'onnx' is not known; this version reads 'torch'"),
        (inputs(X, value("x1", "float32[67108865]")), f"inputs[1]: x1: float32[67108865] {TOO_LARGE}"),
        (inputs(X, value("x1", f"bool[1{',1' * 8}]")), f"inputs[1]: x1: bool[1{',1' * 8}] {TOO_LARGE}"),
        (
            nodes(node("expand", "x0", {"shape": (1 << 26, 2, 3)}, value("v0", "float32[67108864,2,3]"))),
            f"nodes[0] (expand): v0: float32[67108864,2,3] {TOO_LARGE}",
        ),
    ],
)
def test_a_broken_graph_is_refused_at_its_place(case: Case, message: str) -> None:
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


@pytest.mark.parametrize(
    ("attrs", "message"),
    [
        ({}, "takes attributes ['dim', 'keepdim'], not []"),
        ({"dim": (1,)}, "takes attributes ['dim', 'keepdim'], not ['dim']"),
        (
            {"dim": (1,), "keepdim": False, "out": None},
            "takes attributes ['dim', 'keepdim'], not ['dim', 'keepdim', 'out']",
        ),
        ({"dim": 1, "keepdim": False}, "dim must be a list of integers or null, not 1"),
        ({"dim": (1.0,), "keepdim": False}, "dim must be a list of integers or null, not (1.0,)"),
        ({"dim": (True,), "keepdim": False}, "dim must be a list of integers or null, not (True,)"),
        ({"dim": "1", "keepdim": False}, "dim must be a list of integers or null, not '1'"),
        ({"dim": (1,), "keepdim": 0}, "keepdim must be true or false, not 0"),
        ({"dim": (1,), "keepdim": None}, "keepdim must be true or false, not None"),
    ],
)
def test_attributes_must_be_those_of_the_operator(attrs: Attrs, message: str) -> None:
    assert refusal(nodes(RELU, replace(SUM, attrs=attrs))) == f"nodes[1] (sum): {message}"


@pytest.mark.parametrize(
    ("op", "attrs", "message"),
    [
        ("cumsum", {"dim": True}, "dim must be an integer, not True"),
        ("cumsum", {"dim": 1.0}, "dim must be an integer, not 1.0"),
        ("reshape", {"shape": (-2, 3)}, "shape must be a list of sizes, or -1, not (-2, 3)"),
        ("add_scalar", {"other": float("nan")}, "other must be a finite number, not nan"),
        ("add_scalar", {"other": float("inf")}, "other must be a finite number, not inf"),
        ("add_scalar", {"other": True}, "other must be a finite number, not True"),
        ("to", {"dtype": "float16"}, "dtype must be a dtype, not 'float16'"),
        ("to", {"dtype": "load"}, "dtype must be a dtype, not 'load'"),
        ("squeeze", {"dim": ((0,),)}, "dim must be null, an integer or a list of integers, not ((0,),)"),
    ],
)
def test_every_kind_of_attribute_is_checked(op: str, attrs: Attrs, message: str) -> None:
    assert refusal(nodes(node(op, "x0", attrs, value("v0", "float32[2,3]")))) == f"nodes[0] ({op}): {message}"


def symbolic(sizes: Mapping[str, int]) -> Case:
    relu = node("relu", "x0", {}, value("v0", "float32[n,3]"))
    total = node("sum", "v0", {"dim": (1,), "keepdim": False}, value("v1", "float32[n]"))
    return Case(Graph((Input(value("x0", "float32[n,3]")),), (relu, total), ("v1",)), {"x0": ZEROS}, sizes)


def test_a_symbolic_case_passes_when_bound() -> None:
    check(symbolic({"n": 2}))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({}, "sizes: nothing binds n"),
        ({"m": 2}, "sizes: nothing binds n"),
        ({"n": -1}, "sizes.n: -1 is negative"),
        ({"n": 3}, "tensors: x0 is float32[2, 3], declared as float32[3,3]"),
    ],
)
def test_symbols_need_fitting_sizes(sizes: Mapping[str, int], message: str) -> None:
    assert refusal(symbolic(sizes)) == message


def test_retyped_infers_afresh_from_the_inputs() -> None:
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
        pytest.param(
            "add_scalar",
            "float32[2]",
            {"other": 10**400},
        ),
        pytest.param(
            "group_norm",
            "float32[0,4]",
            {"num_groups": 2},
        ),
        pytest.param(
            "reshape",
            "float32[1]",
            {"shape": (True,)},
        ),
    ],
)
def test_odd_but_readable_attributes_give_invalid(op: str, type: str, attrs: Attrs) -> None:
    x = value("x0", type)
    call = node(op, "x0", attrs, value("v0", type))
    array = np.zeros(x.type.sizes, x.type.dtype.numpy)
    assert refusal(Case(Graph((Input(x),), (call,), ("v0",)), {"x0": array})).startswith(f"nodes[0] ({op}): ")
