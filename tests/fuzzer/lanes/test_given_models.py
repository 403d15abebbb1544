"""Lanes run the model that a person gave, not the one of the graph: here the graph says another thing on purpose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from given_by_hand import case_of, document
from onnx import TensorProto, helper, numpy_helper
from torch.export import ExportedProgram

from fuzzer.cases.open_sizes import lanes_of_given
from fuzzer.isolate.fleet import Fleet
from fuzzer.lanes import needed, readers_of
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.onnx.given import given_file, without_numbers
from fuzzer.lanes.onnx.imported_file import file_of_lane, onnx_file, onnx_file_as_exported
from fuzzer.lanes.runners import runner_of
from fuzzer.lanes.torch import onnx_file as onnx_file_of_exporter
from fuzzer.lanes.torch.given import FlatModule, given_program
from fuzzer.lanes.torch.prepared import exported, exported_raw, module_of
from generators.graph import Case
from oracles.lane import Engine, Importer, LaneSpec
from oracles.outcome import Ran, Skipped

X = np.array([[-1, 2, 3], [4, -5, 6]], np.float32)
W = np.array([[1, 2], [3, 4], [5, 6]], np.float32)


class Scaled(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = torch.nn.Parameter(torch.zeros(3, 2))

    def forward(self, x: torch.Tensor, times: int = 2, *, more: torch.Tensor) -> dict[str, Any]:
        return {"b": [more + 1], "a": x @ self.w * times}


def program() -> Case:
    model = document(Scaled(), (torch.zeros(2, 3), 4), {"more": torch.zeros(2)})
    names = {"x0": "x", "x1": "more", "w0": "p_w"}
    return case_of("torch", "neg", model, names, {"w0": W, "x0": X, "x1": np.ones(2, np.float32)})


def file(shape: tuple[int | str, ...] = (2, 3), elsewhere: bool = False) -> Case:
    initializer = numpy_helper.from_array(np.zeros_like(W), "weight")
    other = numpy_helper.from_array(np.ones(2, np.float32), "kept")
    if elsewhere:
        other.ClearField("raw_data")
        other.data_location = TensorProto.EXTERNAL
        other.external_data.add(key="location", value="weights.bin")
    nodes = [helper.make_node("MatMul", ["in", "weight"], ["m"]), helper.make_node("Add", ["m", "kept"], ["out"])]
    inputs = [helper.make_tensor_value_info("in", TensorProto.FLOAT, shape)]
    outputs = [helper.make_tensor_value_info("out", TensorProto.FLOAT, (shape[0], 2))]
    graph = helper.make_graph(nodes, "g", inputs, outputs, [initializer, other])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    names = {"x0": "in", "w0": "weight"}
    arrays = {"w0": W, "x0": X}
    is_open = isinstance(shape[0], str)
    return case_of("onnx", "Neg-13", without_numbers(model, {"weight"}), names, arrays, opset=13, open=is_open)


def test_a_program_gets_the_numbers_of_the_case() -> None:
    given = given_program(program())
    assert given.state_dict["w"].tolist() == W.tolist()
    assert [each.tolist() for each in FlatModule(given)(torch.tensor(X), torch.ones(2))] == [
        [2.0, 2.0],
        (X @ W * 4).tolist(),
    ]


class CountsInBuffer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("runs", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.runs.add_(1)
        return x * self.runs


class CountsUnsaved(CountsInBuffer):
    """The buffer is none of what PyTorch saves of the model, as that of a cache."""

    def __init__(self) -> None:
        torch.nn.Module.__init__(self)
        self.register_buffer("runs", torch.zeros(3), persistent=False)


class CountsInConstant(CountsInBuffer):
    def __init__(self) -> None:
        torch.nn.Module.__init__(self)
        self.runs = torch.zeros(3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "parts"),
    [
        (CountsInBuffer, (exported_raw, exported)),
        (CountsUnsaved, (exported_raw, exported)),
        (CountsInConstant, (exported_raw,)),
    ],
)
def test_a_run_changes_nothing_that_other_lanes_get(
    model: type[torch.nn.Module], parts: tuple[Callable[[PreparedCase], ExportedProgram], ...]
) -> None:
    """PyTorch decomposes no program that changes a constant."""
    x = np.ones((2, 3), np.float32)
    prepared = PreparedCase(
        case_of("torch", "neg", document(model(), (torch.zeros(2, 3),)), {"x0": "x"}, {"x0": x}), Quiet()
    )
    for part in parts:
        for _ in range(2):
            (first,) = module_of(prepared, part(prepared))(torch.tensor(x))
            assert first.tolist() == x.tolist()


def test_a_case_without_the_given_model_takes_nothing_over_from_it() -> None:
    case = program()
    before = PreparedCase(case, Quiet())
    raw = exported_raw(before)
    assert exported_raw(PreparedCase(case, Quiet(), before)) is raw
    assert exported_raw(PreparedCase(replace(case, given=None), Quiet(), before)) is not raw


def test_complex_tensors_are_real_views_outside_of_a_program() -> None:
    class Rotated(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.turn = torch.nn.Parameter(torch.tensor([1j, 2 + 0j]))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.turn

    model = document(Rotated(), (torch.zeros(2, dtype=torch.complex64),))
    w, x = np.array([[0, 1], [2, 0]], np.float32), np.array([[1, 2], [3, 4]], np.float32)
    case = case_of("torch", "relu", model, {"w0": "p_turn", "x0": "x"}, {"w0": w, "x0": x})
    (result,) = FlatModule(given_program(case))(torch.tensor(x))
    assert result.tolist() == [[-2, 1], [6, 8]]


def test_a_file_gets_the_numbers_of_the_case_and_keeps_its_own() -> None:
    model = given_file(file(), open_sizes=False)
    arrays = {item.name: numpy_helper.to_array(item).tolist() for item in model.graph.initializer}
    assert arrays == {"weight": W.tolist(), "kept": [1.0, 1.0]}


@pytest.mark.parametrize(("open_sizes", "first"), [(True, "n"), (False, 2)])
def test_open_sizes_of_a_file_stay_open_or_are_those_of_the_case(open_sizes: bool, first: str | int) -> None:
    (item,) = given_file(file(("n", 3)), open_sizes=open_sizes).graph.input
    dim = item.type.tensor_type.shape.dim[0]
    assert (dim.dim_param or dim.dim_value) == first


def test_no_other_file_is_opened() -> None:
    with pytest.raises(ValueError, match="the given model has tensors in other files"):
        given_file(file(elsewhere=True), open_sizes=False)


def test_what_is_no_file_says_so() -> None:
    case = case_of("onnx", "Neg-13", b"\xff\xff", {"x0": "in"}, {"x0": X}, opset=13)
    with pytest.raises(ValueError, match="is no file of ONNX"):
        given_file(case, open_sizes=False)


def test_without_numbers_keeps_types_and_names() -> None:
    given = file().given
    assert given is not None
    left = onnx.load_from_string(given.model)
    weight = next(item for item in left.graph.initializer if item.name == "weight")
    assert (list(weight.dims), weight.data_type, weight.raw_data) == ([3, 2], TensorProto.FLOAT, b"")


class Grouped(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.group_norm(x, 2)


@pytest.mark.slow
@pytest.mark.parametrize("importer", [Importer.ONNX, Importer.ONNX_DYNAMO])
def test_the_exported_file_of_a_given_program_is_imported_as_it_is(importer: Importer) -> None:
    """Our folding writes the shape of a Reshape in a form that TVM does not read."""
    x = np.ones((1, 4, 3, 3), np.float32)
    case = case_of("torch", "neg", document(Grouped(), (torch.zeros(1, 4, 3, 3),)), {"x0": "x"}, {"x0": x})
    prepared = PreparedCase(case, lambda stage: None)
    assert onnx_file(prepared, importer) == onnx_file_as_exported(prepared, importer)
    drawn = PreparedCase(replace(case, given=None), lambda stage: None)
    folded = onnx_file(drawn, importer)
    assert [node.op_type for node in folded.graph.node] == ["Neg"]


@pytest.mark.slow
def test_open_sizes_of_a_given_program_stay_open_in_the_file_of_the_exporter() -> None:
    dims = ({0: torch.export.Dim("rows", min=2, max=9)},)
    model = document(torch.nn.ReLU(), (torch.zeros(3, 3),), dynamic_shapes=dims)
    case = case_of("torch", "neg", model, {"x0": "x"}, {"x0": X}, open=True)
    prepared = PreparedCase(case, lambda stage: None)
    plain = LaneSpec("onnx", Engine.TVM, Importer.ONNX_DYNAMO)
    (lane,) = lanes_of_given(case, (plain,))
    assert lane.symbolic
    (item,) = file_of_lane(prepared, lane).graph.input
    first, second = item.type.tensor_type.shape.dim
    assert (item.name, bool(first.dim_param), second.dim_value) == ("x0", True, 3)
    (item,) = file_of_lane(prepared, plain).graph.input
    assert [dim.dim_value for dim in item.type.tensor_type.shape.dim] == [2, 3]


@pytest.mark.slow
def test_other_readers_run_the_file_with_the_open_sizes_that_tvm_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exporter is wrong in that file alone."""
    model = document(torch.nn.ReLU(), (torch.zeros(3, 3),), dynamic_shapes=({0: torch.export.Dim("rows", max=9)},))
    case = case_of("torch", "neg", model, {"x0": "x"}, {"x0": X}, open=True)
    inputs, outputs = ([helper.make_tensor_value_info(name, TensorProto.FLOAT, ("n", 3))] for name in ("x0", "y"))
    graph = helper.make_graph([helper.make_node("Neg", ["x0"], ["y"])], "g", inputs, outputs)
    wrong = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    monkeypatch.setattr(onnx_file_of_exporter, "_export_open", lambda prepared, opset: wrong.SerializeToString())
    prepared = PreparedCase(case, Quiet())
    fixed = LaneSpec("", Engine.TVM, Importer.ONNX_DYNAMO)
    for lane, right in ((fixed, np.maximum(X, 0)), (replace(fixed, symbolic=True), -X)):
        onnxruntime = [each for each in needed(lane) if each.engine is Engine.ONNXRUNTIME]
        for reader in (*onnxruntime, *readers_of(lane)):
            outcome = runner_of(reader).run(prepared, reader, Quiet())
            assert isinstance(outcome, Ran)
            assert outcome.outputs[0].tolist() == right.tolist(), reader.name


def outputs(fleet: Fleet, case: Case, lanes: list[str]) -> dict[str, object]:
    from fuzzer.lanes import EVERY_LANE

    chosen = [lane for lane in EVERY_LANE if lane.name in lanes]
    return {
        lane.name: [array.tolist() for array in outcome.outputs] if isinstance(outcome, Ran) else outcome
        for lane, outcome in fleet.run(case, chosen).outcomes.items()
    }


@pytest.mark.tvm
@pytest.mark.smoke
@pytest.mark.slow
def test_lanes_run_the_given_program(fleet: Fleet) -> None:
    class Plain(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.relu().view(x.shape[0], -1) + 2

    sizes = ({0: torch.export.Dim("rows", min=1, max=9)},)
    model = document(Plain(), (torch.zeros(3, 3),), dynamic_shapes=sizes)
    case = case_of("torch", "neg", model, {"x0": "x"}, {"x0": X}, open=True)
    right = [(np.maximum(X, 0) + 2).tolist()]
    names = ["torch", "relax-export-llvm", "relax-export-symbolic", "relax-onnx-llvm", "relax-export-raw-llvm"]
    assert outputs(fleet, case, names) == dict.fromkeys(names, right)
    assert outputs(fleet, case, ["relax-fx-llvm"]) == {
        "relax-fx-llvm": Skipped("the model is given as an exported program, which nothing traces again")
    }


@pytest.mark.tvm
@pytest.mark.smoke
@pytest.mark.slow
def test_lanes_run_the_given_file(fleet: Fleet) -> None:
    right = [(X @ W + 1).tolist()]
    names = ["onnx", "onnx-witness", "relax-onnx-model-llvm"]
    assert outputs(fleet, file(("n", 3)), names) == dict.fromkeys(names, right)
    assert outputs(fleet, file(), names) == dict.fromkeys(names, right)
