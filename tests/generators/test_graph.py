from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.graph import NAME, Case, DType, Graph, Input, Invalid, Node, Role, Sym, TensorType, Value

DIMS = st.integers(0, 9_999_999_999) | st.from_regex(NAME, fullmatch=True).map(Sym)
TYPES = st.builds(TensorType, st.sampled_from(DType), st.lists(DIMS, max_size=6).map(tuple))

X = Value("x0", TensorType.parse("float32[n,3]"))
Y = Value("v0", TensorType.parse("float32[n,3,m]"))
GRAPH = Graph((Input(X),), (Node("unsqueeze", ("x0",), {"dim": -1}, (Y,)),), ("v0",))


@given(TYPES)
def test_text_round_trip(type: TensorType) -> None:
    assert TensorType.parse(str(type)) == type


def test_text() -> None:
    assert str(TensorType(DType.FLOAT32, (2, Sym("n")))) == "float32[2,n]"
    assert TensorType.parse("bool[]") == TensorType(DType.BOOL, ())
    assert TensorType.parse("int64[0,10]").sizes == (0, 10)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", "''"),
        ("float32", "'float32'"),
        ("float16[2]", "'float16[2]'"),
        ("Float32[2]", "'Float32[2]'"),
        ("float32[2", "'float32[2'"),
        ("float32[-1]", "'float32[-1]'"),
        ("float32[2, 3]", "'float32[2, 3]'"),
        ("float32[[2]]", "'float32[[2]]'"),
        ("float32[N]", "'float32[N]'"),
        ("float32[2]\n", r"'float32[2]\n'"),
        ("float32[2]; import os", "'float32[2]; import os'"),
    ],
)
def test_bad_type_is_refused_and_shown(text: str, shown: str) -> None:
    with pytest.raises(Invalid) as error:
        TensorType.parse(text)
    assert str(error.value) == f"{shown} is no tensor type; expected e.g. float32[2,3] with one of {', '.join(DType)}"


@pytest.mark.parametrize("dim", ["", "02", "2n", "_n", "12345678901", "n" * 33])
def test_bad_dimension_is_refused_and_shown(dim: str) -> None:
    with pytest.raises(Invalid) as error:
        TensorType.parse(f"float32[2,{dim}]")
    assert str(error.value) == f"{dim!r} is no dimension: expected a size or a symbol"


def test_symbols_have_no_size() -> None:
    for ask in (lambda: X.type.sizes, lambda: X.type.numel):
        with pytest.raises(Invalid, match=r"^float32\[n,3\] has symbolic dimensions: bind the graph to sizes first$"):
            ask()


def test_numel_never_overflows() -> None:
    assert TensorType(DType.BOOL, (9_999_999_999,) * 3).numel == 9_999_999_999**3


def test_bind_replaces_every_symbol() -> None:
    bound = GRAPH.bind({"n": 2, "m": 1, "unused": 7})
    assert {name: str(type) for name, type in bound.types.items()} == {"x0": "float32[2,3]", "v0": "float32[2,3,1]"}
    assert bound.outputs == GRAPH.outputs
    assert bound.nodes[0].attrs == {"dim": -1}


def test_bind_leaves_other_symbols_and_the_original() -> None:
    assert str(GRAPH.bind({"n": 2}).types["v0"]) == "float32[2,3,m]"
    assert str(GRAPH.types["v0"]) == "float32[n,3,m]"


def test_a_case_binds_its_graph() -> None:
    case = Case(GRAPH, {}, {"n": 4, "m": 1})
    assert case.bound.output_types == (TensorType.parse("float32[4,3,1]"),)


def test_questions_to_a_graph() -> None:
    assert [value.name for value in GRAPH.values()] == ["x0", "v0"]
    assert GRAPH.ops == ("unsqueeze",)
    assert GRAPH.arg_types(GRAPH.nodes[0]) == (X.type,)
    assert GRAPH.output_types == (Y.type,)


def test_arrays_by_role_in_the_graphs_order() -> None:
    inputs = (Input(X), Input(Value("w0", X.type), Role.PARAM), Input(Value("x1", X.type)))
    tensors = {name: np.zeros(1) for name in ("x1", "w0", "x0")}
    case = Case(replace(GRAPH, inputs=inputs), tensors)
    assert list(case.arrays(Role.INPUT)) == ["x0", "x1"]
    assert list(case.arrays(Role.PARAM)) == ["w0"]


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
        node.attrs["dim"] = 2  # type: ignore[index]
    assert node.attrs == {"dim": 0}
