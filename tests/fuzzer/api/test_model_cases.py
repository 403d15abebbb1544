"""A model of the user as cases: the whole graph with the model's own values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from graphs_by_hand import case_of
from models_by_hand import linear
from onnx import TensorProto, helper

import difftvm
from fuzzer.api.model_cases import cases_of
from generators import case_file
from generators.graph import Invalid


@pytest.mark.slow
def test_a_module_is_one_case_with_its_own_numbers() -> None:
    model, x = linear(), torch.randn(4, 3)
    (case,) = cases_of(model, x).cases
    assert case.graph.ops == ("linear", "relu")
    values = {name: array.tobytes() for name, array in case.tensors.items()}
    own = (model[0].weight, model[0].bias, x)
    assert sorted(values.values()) == sorted(each.detach().numpy().tobytes() for each in own)


@pytest.mark.slow
def test_inputs_are_a_tensor_a_tuple_or_a_dict() -> None:
    x = torch.ones(4, 3)
    found = [cases_of(linear(), inputs).cases[0].graph.inputs for inputs in (x, (x,), [x], {"input": x})]
    assert [[str(item.value.type) for item in inputs] for inputs in found] == [
        ["float32[2,3]", "float32[2]", "float32[4,3]"]
    ] * 4


@pytest.mark.slow
@pytest.mark.parametrize("weights", ["own", "drawn", None])
def test_the_weights_of_a_file_are_its_own_or_drawn(tmp_path: Path, readers_here: None, weights: str | None) -> None:
    model = linear().eval()
    torch.export.save(torch.export.export(model, (torch.ones(4, 3),)), tmp_path / "m.pt2")
    torch.onnx.export(model, (torch.ones(4, 3),), tmp_path / "m.onnx", dynamo=False, opset_version=17)
    for name in ("m.pt2", "m.onnx"):
        (case,) = cases_of(tmp_path / name, weights=weights).cases
        own = [any(np.array_equal(array, each) for each in own_numbers(model)) for array in case.owned.values()]
        assert own == [weights == "own"] * 2
        assert case.origin.endswith(", with its own weights") is (weights == "own")


def own_numbers(model: torch.nn.Module) -> list[Any]:
    found = [each.detach().numpy() for each in model.parameters()]
    return [*found, *(each.T for each in found)]


@pytest.mark.slow
@pytest.mark.parametrize("weights", ["own", "drawn", None])
def test_a_module_has_its_own_weights_unless_they_are_drawn(weights: str | None) -> None:
    model = linear()
    (case,) = cases_of(model, torch.ones(4, 3), weights=weights).cases
    own = [any(np.array_equal(array, each) for each in own_numbers(model)) for array in case.owned.values()]
    assert own == [weights != "drawn"] * 2


def test_weights_are_own_or_drawn() -> None:
    with pytest.raises(Invalid, match="weights is 'mine'; expected 'own' or 'drawn'"):
        cases_of(linear(), torch.ones(4, 3), weights="mine")


@pytest.mark.slow
@pytest.mark.usefixtures("readers_here")
def test_each_of_several_inputs_of_a_file_is_a_run(tmp_path: Path) -> None:
    path, saved = tmp_path / "net.onnx", tmp_path / "x.npz"
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 2]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Abs", ["x"], ["y"])], "g", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    np.savez(saved, x=np.full((3, 2), 5, np.float32))
    found = cases_of(path, [{"x": np.full((2, 2), 4, np.float32)}, saved])
    assert found.samples == 2
    assert [case.inputs["x0"].tolist() for case in found.cases] == [[[4, 4]] * 2, [[5, 5]] * 3]
    assert cases_of(path).samples == 1
    with pytest.raises(Invalid, match="the list of inputs is empty"):
        cases_of(path, [])


def test_a_case_and_its_folder_are_taken_as_they_are(tmp_path: Path) -> None:
    case = next(difftvm.cases("relu", max_ops=1, seed=3))
    text, tensors = case_file.encode(case)
    (tmp_path / case_file.JSON_NAME).write_bytes(text)
    (tmp_path / case_file.TENSORS_NAME).write_bytes(tensors)
    assert cases_of(case).cases == (case,)
    assert case_file.encode(cases_of(tmp_path).cases[0]) == (text, tensors)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "inputs", "why"),
    [
        (3, None, "a int cannot be checked"),
        ("model.txt", None, r"expected \.pt2 or \.onnx"),
        (linear(), torch.ones(2), "torch.export cannot export Sequential"),
        (linear(), 7, "the inputs are a int"),
        (next(difftvm.cases(seed=1)), 7, "has its own inputs"),
    ],
)
def test_what_cannot_be_checked_ends_with_one_sentence(model: object, inputs: object, why: str) -> None:
    with pytest.raises(Invalid, match=why) as error:
        cases_of(model, inputs)
    assert "\n" not in str(error.value)


def test_cases_of_equal_seeds_are_equal() -> None:
    first, second = difftvm.cases("relu,exp", seed=5), difftvm.cases("relu,exp", seed=5)
    for _ in range(5):
        case = next(first)
        assert case_file.encode(case) == case_file.encode(next(second))
        assert set(case.graph.ops) <= {"relu", "exp", "clamp"}
    with pytest.raises(Invalid, match="at least one operator"):
        difftvm.cases(max_ops=0)


def test_the_refusal_has_the_proposal_of_torch_export() -> None:
    class Half(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x[:, : x.shape[1] // 2] * 2

    rows = torch.export.Dim("n", min=2)
    with pytest.raises(Invalid, match=r"^torch\.export cannot export Half: UserError: .* It proposes: .*n = 2\*_n$"):
        cases_of(Half(), torch.zeros(2, 6), ({1: rows},))


def test_sizes_of_dynamic_shapes_stay_open() -> None:
    class Flat(torch.nn.Module):
        def forward(self, x: torch.Tensor, unread: torch.Tensor) -> dict[str, torch.Tensor]:
            return {"y": x.view(x.size(0), -1), "x": x}

    rows = torch.export.Dim("rows", min=2, max=9)
    found = cases_of(Flat(), (torch.zeros(3, 2, 2), torch.ones(4)), ({0: rows}, None))
    assert [str(case.graph.inputs[0].value.type) for case in found.cases] == [
        f"float32[{size},2,2]" for size in (3, 2, 7, 9)
    ]
    for case in found.cases:
        assert case.given is not None
        assert case.given.open
        assert (case.given.names, case.graph.outputs) == ({"x0": "x", "x1": "unread"}, ("v0", "x0"))


@pytest.mark.parametrize(("largest", "tried"), [(32, [3, 2, 7, 32]), (33, [3, 2, 7])])
def test_large_sizes_are_not_tried_together(largest: int, tried: list[int]) -> None:
    class Twice(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    rows, columns = (torch.export.Dim(name, min=2, max=largest) for name in ("rows", "columns"))
    found = cases_of(Twice(), torch.zeros(3, 3), ({0: rows, 1: columns},))
    assert [str(case.graph.inputs[0].value.type) for case in found.cases] == [f"float32[{n},{n}]" for n in tried]


def test_a_size_at_which_the_code_of_the_model_raises_is_left_out() -> None:
    class Chosen(torch.nn.Module):
        def forward(self, x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
            return x[places] * 2

    found = cases_of(Chosen(), (torch.arange(5.0), torch.tensor([0, 3])), ({0: torch.export.Dim.AUTO}, None))
    assert [str(case.graph.inputs[0].value.type) for case in found.cases] == ["float32[5]", "float32[7]"]


ANY_CASE = case_of({"x0": "float32[2]"}, [("v0", "relu", "x0")], "v0")


@pytest.mark.parametrize(
    ("model", "argument", "says"),
    [
        ("net.onnx", {"dynamic_shapes": ({0: "n"},)}, "a file takes no dynamic_shapes: leave it out"),
        (ANY_CASE, {"dynamic_shapes": ({0: "n"},)}, "a case takes no dynamic_shapes: leave it out"),
        (ANY_CASE, {"weights": "own"}, "a case takes no weights: leave it out"),
    ],
)
def test_an_argument_that_the_model_has_no_use_for_is_refused(model: Any, argument: dict[str, Any], says: str) -> None:
    with pytest.raises(Invalid, match=f"^{says}$"):
        cases_of(model, **argument)
