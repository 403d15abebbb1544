from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.graph import (
    NAME,
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
from generators.symbolic import Size

DIMS = st.integers(0, 9_999_999_999) | st.from_regex(NAME, fullmatch=True).map(Expr.symbol)
TYPES = st.builds(TensorType, st.sampled_from(DType), st.lists(DIMS, max_size=6).map(tuple))

X = Value("x0", TensorType.parse("float32[n,3]"))
Y = Value("v0", TensorType.parse("float32[n,3,m]"))
GRAPH = Graph(
    (Input(X),),
    (Node("unsqueeze", ("x0",), {"dim": -1}, (Y,)),),
    ("v0",),
    symbols=(Symbol("n", 1, 8), Symbol("m", 1, 8)),
)


@pytest.mark.slow
@given(TYPES)
def test_a_type_is_read_back_from_its_text(type: TensorType) -> None:
    assert TensorType.parse(str(type)) == type


def test_text() -> None:
    assert str(TensorType(DType.FLOAT32, (2, Expr.symbol("n")))) == "float32[2,n]"
    assert TensorType.parse("bool[]") == TensorType(DType.BOOL, ())
    assert TensorType.parse("int64[0,10]").sizes == (0, 10)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", "''"),
        ("float32", "'float32'"),
        ("complex64[2]", "'complex64[2]'"),
        ("Float32[2]", "'Float32[2]'"),
        ("float32[2", "'float32[2'"),
        ("float32[2, 3]", "'float32[2, 3]'"),
        ("float32[[2]]", "'float32[[2]]'"),
        ("float32[N]", "'float32[N]'"),
        ("float32[2]\n", r"'float32[2]\n'"),
        ("float32[2]; import os", "'float32[2]; import os'"),
    ],
)
def test_the_message_shows_an_invalid_type(text: str, shown: str) -> None:
    with pytest.raises(Invalid) as error:
        TensorType.parse(text)
    assert str(error.value) == f"{shown} is no tensor type, such as float32[2,3]"


@pytest.mark.parametrize("dim", ["", "2n", "_n", "n" * 33, "n+", "n//0", "n//m"])
def test_the_message_shows_an_invalid_dimension(dim: str) -> None:
    with pytest.raises(Invalid) as error:
        TensorType.parse(f"float32[2,{dim}]")
    assert str(error.value) == f"{dim!r} is no dimension: expected a size, a symbol or a formula of them"


@pytest.mark.parametrize(("dim", "right"), [("02", "2"), ("-1", "-1"), ("n*2", "2*n"), ("1+n", "n+1"), ("n-n", "0")])
def test_a_dimension_can_be_written_in_one_way_only(dim: str, right: str) -> None:
    with pytest.raises(Invalid) as error:
        TensorType.parse(f"float32[2,{dim}]")
    assert str(error.value) == f"{dim!r} is no dimension: write it {right}"


def test_sizes_that_keep_their_formula_become_formulas() -> None:
    n = Size.symbol("n", 5)
    type = TensorType(DType.FLOAT32, (n, 2 * n + 1, n - n, 4))
    assert type.sizes == (5, 11, 0, 4)
    assert str(type.formal()) == "float32[n,2*n+1,0,4]"
    assert str(type.formal().bind({"n": 3})) == "float32[3,7,0,4]"


def test_a_symbolic_type_has_no_sizes() -> None:
    for read_sizes in (lambda: X.type.sizes, lambda: X.type.numel):
        with pytest.raises(Invalid, match=r"^float32\[n,3\] has symbolic dimensions: bind the graph to sizes first$"):
            read_sizes()


def test_numel_never_overflows() -> None:
    assert TensorType(DType.BOOL, (9_999_999_999,) * 3).numel == 9_999_999_999**3


def test_bind_replaces_every_symbol() -> None:
    bound = GRAPH.bind({"n": 2, "m": 1})
    assert bound.bind({"n": 3}) is bound, "nothing is left to bind"
    assert {name: str(type) for name, type in bound.types.items()} == {"x0": "float32[2,3]", "v0": "float32[2,3,1]"}
    assert bound.outputs == GRAPH.outputs
    assert bound.nodes[0].attrs == {"dim": -1}


def test_a_case_binds_its_graph_to_its_sizes() -> None:
    case = Case(GRAPH, {}, {"n": 4, "m": 1})
    assert case.bound.output_types == (TensorType.parse("float32[4,3,1]"),)


def test_values_operators_and_types_of_a_graph() -> None:
    assert [value.name for value in GRAPH.values()] == ["x0", "v0"]
    assert GRAPH.ops == ("unsqueeze",)
    assert GRAPH.arg_types(GRAPH.nodes[0]) == (X.type,)
    assert GRAPH.output_types == (Y.type,)


def test_inputs_and_parameters_are_in_the_graphs_order() -> None:
    inputs = (
        Input(X),
        Input(Value("b0", X.type), Role.BUFFER),
        Input(Value("w0", X.type), Role.PARAM),
        Input(Value("x1", X.type)),
    )
    tensors = {name: np.zeros(1) for name in ("x1", "w0", "b0", "x0")}
    case = Case(replace(GRAPH, inputs=inputs), tensors)
    assert list(case.inputs) == ["x0", "x1"]
    assert list(case.owned) == ["b0", "w0"]


def test_a_case_at_smaller_sizes_has_the_leading_part_of_its_tensors() -> None:
    array = np.arange(12, dtype=np.float32).reshape(4, 3)
    small = Case(GRAPH, {"x0": array}, {"n": 4, "m": 1}, ({"n": 1, "m": 1},)).instances()
    assert [case.tensors["x0"].tolist() for case in small] == [array.tolist(), [[0.0, 1.0, 2.0]]]
    assert [str(case.graph.types["v0"]) for case in small] == ["float32[4,3,1]", "float32[1,3,1]"]
    assert not any(case.graph.symbols for case in small)


def test_a_static_case_is_its_only_instance() -> None:
    case = Case(GRAPH.bind({"n": 2, "m": 1}), {})
    assert case.instances() == [case]


def test_the_default_layout_is_contiguous_and_a_title_names_the_function() -> None:
    assert Input(X).layout is Layout.CONTIGUOUS
    call = Node("torch_call", ("x0",), {"call": "torch.sin(a0)", "types": ("float32[2]",)}, (Y,))
    assert (call.title, GRAPH.nodes[0].title) == ("torch.sin", "unsqueeze")


@pytest.mark.parametrize(
    ("thing", "field"),
    [(X.type, "dtype"), (X, "name"), (GRAPH.inputs[0], "role"), (GRAPH.nodes[0], "op"), (GRAPH, "outputs")],
)
def test_nothing_can_be_assigned(thing: object, field: str) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(thing, field, None)


def test_attributes_cannot_be_changed_from_either_side() -> None:
    given_attrs = {"dim": 0}
    node = Node("unsqueeze", ("x0",), given_attrs, (Y,))
    given_attrs["dim"] = 1
    with pytest.raises(TypeError):
        node.attrs["dim"] = 2
    assert node.attrs == {"dim": 0}


def test_a_call_that_is_not_in_place_differs_in_its_form_alone() -> None:
    x = Value("v0", TensorType.parse("float32[2]"))
    plain, in_place, method = (
        Node("add", ("v1", "v2"), {}, (x,), form) for form in (Form.PLAIN, Form.INPLACE, Form.METHOD)
    )
    assert [node.not_in_place for node in (plain, in_place, method)] == [plain, plain, method]


def test_a_dtype_is_found_by_the_type_of_its_arrays() -> None:
    """None equals the float64 of numpy."""
    assert [DType.of(dtype.numpy) for dtype in DType] == list(DType)
    assert [DType.of(None), DType.of(np.dtype("complex64")), DType.of(np.dtype("O"))] == [None, None, None]
