"""The program of a model that is given with its case: its regions, parts and results."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from models_by_hand import Fn, same_results

from fuzzer.api.model_cases import cases_of
from fuzzer.lanes.base.arrays import to_torch
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.torch.given import FlatModule, given_program
from fuzzer.lanes.torch.prepared import model_of, tensors_of
from generators.graph import DType, Invalid


@pytest.mark.slow
@pytest.mark.parametrize(
    ("region", "ops"),
    [
        (lambda: torch.autocast("cpu", torch.bfloat16), ("to", "to", "to", "linear", "to")),
        (lambda: torch.autocast("cpu", enabled=False), ("linear",)),
        (torch.no_grad, ("linear",)),
    ],
)
def test_regions_of_autocast_and_without_gradients_are_read(region: Callable[[], Any], ops: tuple[str, ...]) -> None:
    layer, x = torch.nn.Linear(3, 2), torch.ones(4, 3)

    class Within(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            with region():
                y = self.layer(x)
            return y.float().exp()

    found = cases_of(Within().eval(), x)
    (case,) = found.cases
    assert (found.not_covered, found.is_given, case.graph.ops) == ((), True, (*ops, "exp"))
    with region():
        same_results(case, layer(x).detach().float().exp())


@pytest.mark.slow
def test_functions_over_a_batch_are_read() -> None:
    """PyTorch writes no program with torch.vmap, and gives no numbers of what is inside of it."""
    function, x = torch.vmap(lambda a: (a @ torch.ones(3, 2)).tanh().sum(-1)), torch.ones(5, 4, 3)
    found = cases_of(Fn(function), x)
    (case,) = found.cases
    assert (found.not_covered, found.is_given, case.graph.ops) == ((), True, ("ones", "matmul", "tanh", "sum"))
    same_results(case, function(x))


@pytest.mark.slow
def test_a_file_is_checked_whole_too(tmp_path: Path) -> None:
    program = torch.export.export(Fn(lambda x: torch.fft.rfft(x).abs().relu()), (torch.ones(4),))
    torch.export.save(program, tmp_path / "m.pt2")
    found = cases_of(tmp_path / "m.pt2", {"args_0": np.ones(4, np.float32)})
    assert [case.graph.ops for case in found.cases] == [("aten.fft_rfft+aten.abs", "relu")]
    assert found.not_covered == ()
    (case,) = found.cases
    assert (found.not_given, case.given is not None) == ("", True)
    assert case.given is not None
    assert set(case.given.names.values()) == {"args_0"}


@pytest.mark.slow
def test_parts_beside_what_is_cut_out_are_parts_of_the_program() -> None:
    dropout = lambda x: torch.nn.functional.dropout(x.exp(), 0.5, training=True).relu().sin()
    found = cases_of(Fn(dropout), torch.ones(2))
    assert (found.not_given, found.is_given, len(found.cases)) == ("", True, 2)
    calls = [json.loads(case.given.model)["graph_module"]["graph"]["nodes"] for case in found.cases if case.given]
    names = [[node["target"].split(".")[-2] for node in nodes] for nodes in calls]
    assert names == [["exp"], ["relu", "sin"]]


@dataclass
class Pair:
    """A class of results that PyTorch has no name for."""

    low: torch.Tensor
    high: torch.Tensor


torch.export.register_dataclass(Pair)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "count"),
    [
        (lambda x: x.max(1), 2),
        (lambda x: Pair(x.relu(), x.neg()), 2),
        (lambda x: {"a": x.relu(), "b": [x.exp(), x.neg()]}, 3),
    ],
)
def test_a_program_is_given_whatever_holds_its_results(function: Callable[..., Any], count: int) -> None:
    found = cases_of(Fn(function), torch.randn(2, 3))
    assert (found.not_given, found.is_given) == ("", True)
    prepared = PreparedCase(found.cases[0], Quiet())
    assert len(model_of(prepared)(*tensors_of(prepared))) == count


@pytest.mark.slow
def test_a_result_that_no_case_holds_is_left_out_of_the_program() -> None:
    (case,) = cases_of(Fn(lambda x: (x.relu(), x.shape[0])), torch.ones(2)).cases
    assert case.given is not None
    assert json.loads(case.given.model)["graph_module"]["signature"]["output_specs"] == [
        {"user_output": {"arg": {"as_tensor": {"name": "relu"}}}}
    ]


@pytest.mark.slow
def test_a_result_that_is_no_tensor_is_named() -> None:
    """TVM refuses a program with such a result, and lanes run the program without it. None is left out by all."""

    def function(x: torch.Tensor) -> Any:
        return {"y": x.relu(), "rows": x.shape[0], "scale": 0.5, "none": None, "again": x.shape[0]}

    def line(name: str) -> str:
        return f"the result {name}: it is no tensor, and no lane returns it"

    x = torch.ones(3, 2)
    assert cases_of(Fn(function), x).not_covered == (line("3"), line("0.5"))
    found = cases_of(Fn(function), x, (({0: torch.export.Dim("rows")},),))
    assert found.not_covered == (line("sym_size_int_1"), line("0.5"))
    assert cases_of(Fn(lambda x: (x.relu(), None)), x).not_covered == ()


@pytest.mark.slow
def test_a_file_with_such_a_result_says_so(tmp_path: Path) -> None:
    def function(x: torch.Tensor) -> Any:
        return {"y": x.relu(), "rows": x.shape[0], "scale": 0.5, "none": None}

    rows = (({0: torch.export.Dim("rows")},),)
    torch.export.save(torch.export.export(Fn(function), (torch.ones(3, 2),), dynamic_shapes=rows), tmp_path / "m.pt2")
    found = cases_of(tmp_path / "m.pt2")
    assert found.not_covered == tuple(
        f"the result {name}: it is no tensor, and no lane returns it" for name in ("sym_size_int_1", "0.5")
    )
    (case,) = found.cases
    (result,) = FlatModule(given_program(case))(torch.tensor([[-1.0, 2.0]] * 3))
    assert result.tolist() == [[0.0, 2.0]] * 3


class Sides(NamedTuple):
    left: torch.Tensor
    right: torch.Tensor


@dataclass
class Batch:
    x: torch.Tensor
    scale: float
    mask: torch.Tensor | None = None


torch.export.register_dataclass(Batch, serialized_type_name="tests_batch")


class OfContainers(torch.nn.Module):
    def forward(self, pair: Sides, batch: Batch, *, more: torch.Tensor) -> Sides:
        return Sides(pair.left - pair.right * batch.scale, batch.x * more)


@pytest.mark.slow
def test_a_program_takes_the_tensors_of_containers_of_other_classes_in_a_row(tmp_path: Path) -> None:
    """PyTorch writes no named tuple of a person's, and reads no class of theirs."""
    x, y, z = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0]), torch.tensor([2.0, 0.0])
    found = cases_of(OfContainers(), {"pair": Sides(x, y), "batch": Batch(z, 2.0), "more": y})
    assert (found.not_covered, found.not_given) == ((), "")
    (case,) = found.cases
    results = FlatModule(given_program(case))(*map(to_torch, case.inputs.values()))
    assert [each.tolist() for each in results] == [[-5.0, -8.0], [6.0, 0.0]]

    torch.export.save(torch.export.export(OfBatch(), (Batch(z, 2.0),)), tmp_path / "m.pt2")
    found = cases_of(tmp_path / "m.pt2")
    assert (found.not_covered, found.not_given) == (("the result 1.0: it is no tensor, and no lane returns it",), "")
    (result,) = FlatModule(given_program(found.cases[0]))(z)
    assert result.tolist() == [4.0, 0.0]


class OfBatch(torch.nn.Module):
    def forward(self, batch: Batch) -> Batch:
        return Batch(batch.x * batch.scale, 1.0)


class Cast(torch.nn.Module):
    def __init__(self, *, enabled: bool) -> None:
        super().__init__()
        self.layer, self.enabled = torch.nn.Linear(2, 2), enabled

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, bool]:
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=self.enabled):
            return self.layer(x), self.enabled


@pytest.mark.slow
def test_regions_without_gradients_and_without_autocast_are_read_in_a_file(tmp_path: Path) -> None:
    x = torch.ones(1, 2)
    for enabled in (False, True):
        torch.export.save(torch.export.export(Cast(enabled=enabled), (x,)), tmp_path / f"{enabled}.pt2")
    found = cases_of(tmp_path / "False.pt2")
    assert found.not_given == ""
    assert "higher_order.wrap_with_set_grad_enabled" in found.cases[0].graph.ops[0]
    with pytest.raises(Invalid, match="a part of the model is a program of its own, which difftvm does not read"):
        cases_of(tmp_path / "True.pt2")
    found = cases_of(Cast(enabled=True), x)
    assert (found.not_covered, found.not_given) == (
        ("the result True: it is no tensor, and no lane returns it",),
        "",
    )
    (case,) = found.cases
    assert case.graph.output_types[0].dtype is DType.BFLOAT16
