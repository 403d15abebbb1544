"""A part of a given program is a program of its own, which torch.export reads and runs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch
from given_by_hand import document

from fuzzer.lanes.torch.given import FlatModule, given_program
from generators.graph import Case, Given, Graph, Input, Invalid, Role, TensorType, Value
from generators.torch.cut_given import cut_given
from generators.torch.given import check_given

PARAM = Role.PARAM


class Heads(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, times: int = 2, *, more: torch.Tensor) -> dict[str, Any]:
        batch, length, _ = x.shape
        heads = torch.relu(self.layer(x)).view(batch, length, 2, -1).transpose(1, 2)
        left, right = torch.split(heads, 1, 1)
        return {"a": left * times + right, "b": more.abs()}


def model() -> bytes:
    sizes = torch.export.Dim("b"), torch.export.Dim("t")
    arguments = ((torch.ones(3, 5, 4),), {"more": torch.ones(2)})
    return document(Heads(), *arguments, dynamic_shapes={"x": dict(enumerate(sizes)), "more": None})


def item(name: str, type: str, role: Role = Role.INPUT) -> Input:
    return Input(Value(name, TensorType.parse(type)), role)


def run(model: bytes, names: dict[str, str], arrays: dict[str, Any]) -> list[Any]:
    """The results of the program. `names` are its names of the arrays."""
    check_given(model)
    inputs = tuple(item(own, f"{array.dtype}{list(array.shape)}".replace(" ", "")) for own, array in arrays.items())
    graph = Graph(inputs, (), ())
    module = FlatModule(given_program(Case(graph, arrays, given=Given(graph, model, names))))
    with torch.no_grad():
        return [each.numpy() for each in module(*(torch.tensor(a) for own, a in arrays.items() if own[0] != "w"))]


@pytest.mark.slow
def test_a_part_takes_and_returns_values_of_the_program() -> None:
    wanted = {"transpose": TensorType.parse("float32[3,2,5,2]")}
    text, taken = cut_given(model(), {"relu": item("x0", "float32[3,5,4]"), "x": item("x1", "float32[3,5,4]")}, wanted)
    assert taken == ()
    relu = np.arange(60, dtype=np.float32).reshape(3, 5, 4)
    (result,) = run(text, {"x0": "relu", "x1": "x"}, {"x0": relu, "x1": np.zeros_like(relu)})
    assert np.array_equal(result, relu.reshape(3, 5, 2, 2).transpose(0, 2, 1, 3))


@pytest.mark.slow
def test_what_a_part_reads_beside_its_inputs_is_named() -> None:
    """The sizes of `view` are those of x."""
    text, taken = cut_given(
        model(), {"relu": item("x0", "float32[3,5,4]")}, {"view": TensorType.parse("float32[3,5,2,2]")}
    )
    assert taken == ("x",)
    names = [spec["user_input"]["arg"]["as_tensor"]["name"] for spec in specs(text)]
    assert names == ["relu", "x"]


@pytest.mark.slow
def test_parameters_stay_parameters() -> None:
    inputs = {
        "x": item("x0", "float32[3,5,4]"),
        "p_layer_weight": item("w0", "float32[4,4]", PARAM),
        "p_layer_bias": item("w1", "float32[4]", PARAM),
    }
    text, _ = cut_given(model(), inputs, {"linear": TensorType.parse("float32[3,5,4]")})
    assert [next(iter(spec)) for spec in specs(text)] == ["parameter", "parameter", "user_input"]
    arrays = {"w0": np.eye(4, dtype=np.float32), "w1": np.ones(4, np.float32), "x0": np.ones((3, 5, 4), np.float32)}
    (result,) = run(text, {"w0": "p_layer_weight", "w1": "p_layer_bias", "x0": "x"}, arrays)
    assert np.array_equal(result, np.full((3, 5, 4), 2))


@pytest.mark.slow
def test_several_results_of_a_call() -> None:
    wanted = dict.fromkeys(("getitem_1", "getitem"), TensorType.parse("float32[3,1,5,2]"))
    text, _ = cut_given(model(), {"transpose": item("x0", "float32[3,2,5,2]")}, wanted)
    given = np.arange(60, dtype=np.float32).reshape(3, 2, 5, 2)
    right, left = run(text, {"x0": "transpose"}, {"x0": given})
    assert np.array_equal(right, given[:, 1:])
    assert np.array_equal(left, given[:, :1])


def specs(text: bytes) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text)["graph_module"]["signature"]["input_specs"]
    return found


FLOATS = TensorType.parse("float32[2]")


@pytest.mark.parametrize(
    ("given", "inputs", "output", "why"),
    [
        (document(torch.nn.ReLU(), (torch.ones(2),)), {}, "other", "no value 'other'"),
        (document(torch.nn.ReLU(), (torch.ones(2),)), {"other": item("x0", "float32[2]")}, "relu", "no value 'other'"),
        (document(torch.nn.ReLU(), (torch.ones(2),)), {"input": item("x0", "int64[2]")}, "relu", "another dtype"),
        (b"{}", {}, "relu", "no document of a program"),
        (b"[]", {}, "relu", "no document of a program"),
        (b"{", {}, "relu", "no document of a program"),
    ],
)
def test_what_is_no_part_is_refused(given: bytes, inputs: dict[str, Input], output: str, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        cut_given(given, inputs, {output: FLOATS})
