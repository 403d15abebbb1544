"""A model of the user as cases: the whole graph with the model's own values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import difftvm
from fuzzer.api.model_cases import cases_of
from generators import case_file
from generators.graph import Invalid


def linear() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU())


class Cut(torch.nn.Module):
    """An operator without a row between two that have one."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(torch.linalg.inv(torch.exp(x)))


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
def test_an_operator_without_a_row_cuts_and_the_rest_gets_what_pytorch_computes() -> None:
    x = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    found = cases_of(Cut(), x)
    assert [case.graph.ops for case in found.cases] == [("exp",), ("relu",)]
    assert found.not_covered == ("linalg_inv (1 time): no row of the operator table has its name",)
    (value,) = found.cases[1].tensors.values()
    np.testing.assert_allclose(value, torch.linalg.inv(torch.exp(x)).numpy())


def test_a_case_and_its_folder_are_taken_as_they_are(tmp_path: Path) -> None:
    case = next(difftvm.cases("relu", max_ops=1, seed=3))
    text, tensors = case_file.encode(case)
    (tmp_path / case_file.JSON_NAME).write_bytes(text)
    (tmp_path / case_file.TENSORS_NAME).write_bytes(tensors)
    assert cases_of(case).cases == (case,)
    assert case_file.encode(cases_of(tmp_path).cases[0]) == (text, tensors)


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
