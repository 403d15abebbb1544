"""An ONNX file as one case: all of its nodes, its own sizes, and the numbers that are known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from fuzzer.api.model_cases import cases_of
from fuzzer.seeds.onnx import whole_model
from generators.domain import ANY
from generators.graph import Array, Invalid, Role

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("readers_here")]

node = helper.make_node
X = {"x": np.arange(-6, 6, dtype=np.float32).reshape(3, 4)}


def save(path: Path, nodes: Sequence[onnx.NodeProto], outputs: str = "y", **tensors: Any) -> Path:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 4])],
        [helper.make_empty_tensor_value_info(name) for name in outputs.split()],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in tensors.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def test_a_model_is_one_case_with_the_numbers_that_are_known(tmp_path: Path) -> None:
    """Large weights keep their sizes, and are drawn; integers and single numbers are those of the file."""
    nodes = [
        node("MatMul", ["x", "w"], ["a"]),
        node("Gather", ["a", "rows"], ["b"], axis=0),
        node("Add", ["b", "half"], ["y"]),
        node("Sqrt", ["x"], ["z"]),
    ]
    weights, rows = np.full((4, 300), 7, np.float32), np.array([2, 0], np.int64)
    path = save(tmp_path / "net.onnx", nodes, "y z", w=weights, rows=rows, half=np.float32(0.5))
    model = whole_model.read(path, X)
    graph, tensors = model.case.graph, list(model.case.tensors.values())
    assert model.line == "net: 4 of 4 nodes have a row"
    assert (graph.dialect, graph.opset, graph.ops) == ("onnx", 17, ("MatMul", "Gather", "Add", "Sqrt"))
    assert [str(type) for type in graph.output_types] == ["float32[2,300]", "float32[3,4]"]
    roles = {str(item.value.type): item.role for item in graph.inputs}
    assert roles == {
        "float32[4,300]": Role.PARAM,
        "int64[2]": Role.PARAM,
        "float32[]": Role.PARAM,
        "float32[3,4]": Role.INPUT,
    }
    assert any(array is not weights and array.shape == (4, 300) and not np.all(array == 7) for array in tensors)
    assert any(array.dtype == np.int64 and array.tolist() == [2, 0] for array in tensors)
    assert any(array.shape == () and array == 0.5 for array in tensors)
    (x,) = (item for item in graph.inputs if item.role is Role.INPUT)
    assert np.array_equal(model.case.tensors[x.value.name], X["x"])
    assert x.domain == ANY, "the root of negative numbers is defined, and the user wants it"
    (drawn,) = (item for item in whole_model.read(path).case.graph.inputs if item.role is Role.INPUT)
    assert drawn.domain != ANY


@pytest.mark.parametrize(("indices", "domain"), [([1, 0, 1, 2], "distinct 0 2 along 0"), ([1, 1, 1, 1], "within 0 2")])
def test_equal_indices_stay_in_range(tmp_path: Path, indices: list[int], domain: str) -> None:
    """They are drawn without repetition. Those of a model may repeat, and others in their place must be positions."""
    at = np.array([[0, 1, 0, 1], indices])
    path = save(
        tmp_path / "net.onnx", [node("ScatterElements", ["x", "at", "to"], ["y"])], at=at, to=np.ones((2, 4), "f")
    )
    domains = sorted(str(item.domain) for item in whole_model.read(path).case.graph.inputs)
    assert domains == ["any", "any", domain]


@pytest.mark.parametrize(
    ("inputs", "why"),
    [
        ({"z": X["x"]}, "it has no input 'z'; its inputs are x"),
        ({"x": X["x"].astype(np.float64)}, "x is float64[3, 4], and the model needs float32[3,4]"),
        ({"x": X["x"][:2]}, "x is float32[2, 4], and the model needs float32[3,4]"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(tmp_path: Path, inputs: dict[str, Array], why: str) -> None:
    path = save(tmp_path / "net.onnx", [node("Relu", ["x"], ["y"])])
    with pytest.raises(Invalid) as refused:
        whole_model.read(path, inputs)
    assert str(refused.value) == f"{path}: {why}"


def test_what_is_no_model_or_too_large_is_refused_with_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Path) -> str:
        with pytest.raises(Invalid) as why:
            whole_model.read(path)
        return str(why.value).removeprefix(f"{path}: ")

    assert refused(tmp_path / "none.onnx") == "no such file"
    assert refused(tmp_path) == "expected an .onnx file"
    (tmp_path / "bad.onnx").write_bytes(b"\x80\x04")
    assert refused(tmp_path / "bad.onnx") == "is no ONNX file, or only the beginning of one"
    own = save(tmp_path / "own.onnx", [node("Softmax", ["x"], ["y"], unheard_of=1)])
    says = r"onnxruntime refuses the model: .*{}.*; nothing of it is judged until that is corrected"
    assert re.fullmatch(says.format("Unrecognized attribute: unheard_of"), refused(own))
    wrong = save(tmp_path / "wrong.onnx", [node("Relu", ["x"], ["a"]), node("MatMul", ["a", "x"], ["y"])])
    assert re.fullmatch(says.format("Incompatible dimensions"), refused(wrong))
    path = save(tmp_path / "net.onnx", [node("Relu", ["x"], ["a"]), node("Neg", ["a"], ["y"])])
    monkeypatch.setattr(whole_model, "MOST_BYTES", 47)
    rest = "; `fuzz import` cuts a model into cases with smaller sizes"
    assert refused(path) == "0 MiB of inputs and weights are more than 0" + rest
    monkeypatch.setattr(whole_model, "MOST_PARTS", 1)
    assert refused(path) == "2 tensors or results are more than 1" + rest
    monkeypatch.setattr(whole_model, "MOST_NODES", 1)
    assert refused(path) == "2 nodes are more than 1" + rest


def test_open_sizes_have_the_numbers_that_are_wanted(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", "m"]) for name in "xy"]
    graph = helper.make_graph([node("Relu", ["x"], ["y"])], "g", values[:1], values[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    assert [str(type) for type in whole_model.read(path, sizes={"m": 7}).case.graph.output_types] == ["float32[2,7]"]
    with pytest.raises(Invalid, match=r"it has no open size 'k'; its open sizes are m, n$"):
        whole_model.read(path, sizes={"k": 7})
    found = cases_of(path).cases
    assert [case.graph.output_types[0].sizes for case in found] == [(2, 2), (1, 1), (7, 7)]
    assert [case.given is not None for case in found] == [True] * 3
    assert len(cases_of(path, sizes={"n": 5}).cases) == 1
