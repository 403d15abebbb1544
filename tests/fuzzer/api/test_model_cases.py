"""A model of the user as cases: the whole graph with the model's own values."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import pytest
import torch
from graphs_by_hand import case_of
from onnx import TensorProto, helper
from torch import library as operators
from torch._higher_order_ops.scan import scan

import difftvm
from fuzzer.api.model_cases import cases_of
from fuzzer.lanes.base.arrays import to_torch
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.torch.given import FlatModule, given_program
from fuzzer.lanes.torch.prepared import build_model, model_of, tensors_of
from generators import case_file
from generators.graph import DType, Invalid, Role
from generators.torch.source import render


def linear() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU())


class Fn(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: torch.Tensor) -> Any:
        return self.function(*args)


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


def text_of(case: difftvm.Case) -> list[str]:
    """The lines of forward, without the types."""
    lines = render(case.graph).partition("def forward(")[2].split("\n")[1:-1]
    return [line.strip().partition("  # ")[0] for line in lines]


def same_results(case: difftvm.Case, *right: torch.Tensor) -> None:
    """Check that the case's program gives what the model gives, in the types of the graph."""
    made = build_model(render(case.graph), case.owned)(*(to_torch(array) for array in case.inputs.values()))
    torch.testing.assert_close(made, right)
    assert [str(type) for type in case.graph.output_types] == [
        f"{str(each.dtype).removeprefix('torch.')}[{','.join(map(str, each.shape))}]" for each in right
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "ops"),
    [
        (lambda x: torch.relu(torch.linalg.inv(x.exp())), ("exp", "aten.linalg_inv", "relu")),
        (lambda x: torch.fft.rfft(x).abs(), ("aten.fft_rfft+aten.abs",)),
        (
            lambda x: torch.view_as_real(torch.fft.rfft(x).exp() + 1),
            ("aten.fft_rfft+aten.exp+aten.add+aten.view_as_real",),
        ),
        (lambda x: x[x > 0], ("gt_scalar", "aten.index")),
        (lambda x: torch.nonzero(x > 0).sum(), ("gt_scalar", "aten.nonzero", "sum")),
        (lambda x: x * x.sum().item(), ("sum", "aten.item+aten.mul")),
        (
            lambda x: torch.quantize_per_tensor(x, 0.5, 0, torch.qint8).dequantize() + 1,
            ("aten.quantize_per_tensor+aten.dequantize", "add_scalar"),
        ),
        (lambda x: torch.sparse.mm(x.to_sparse(), x), ("aten.to_sparse+aten._sparse_mm",)),
        (
            lambda x: torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos() + 1, (x,)),
            ("sum", "gt_scalar", "higher_order.cond+aten.sin+aten.cos+aten.add"),
        ),
        (
            lambda x: torch.ops.higher_order.while_loop(lambda y: y.sum() < 99, lambda y: (y * 2,), (x,), ())[0],
            ("higher_order.while_loop+aten.sum+aten.lt+aten.mul",),
        ),
        (
            lambda x: torch.ops.higher_order.map_impl(lambda y, z: (y @ z,), [x], [x.exp()])[0].relu(),
            ("exp", "higher_order.map_impl+aten.matmul", "relu"),
        ),
        (
            lambda x: scan(lambda y, z: (y + z, y * z), x[0].exp(), x)[1],
            ("select", "exp", "higher_order.scan+aten.add+aten.mul"),
        ),
    ],
)
def test_what_has_no_row_is_called_as_it_is(function: Callable[..., Any], ops: tuple[str, ...]) -> None:
    x = torch.tensor([[2.0, 1.0, 0.5], [-1.0, 3.0, 0.25], [0.125, -2.0, 1.0]])
    found = cases_of(Fn(function), x)
    (case,) = found.cases
    assert (case.graph.ops, found.not_covered) == (ops, ())
    same_results(case, function(x))


@pytest.mark.slow
def test_values_that_no_graph_holds_are_one_node_with_what_is_between_them() -> None:
    """The product reads the spectrum, and a sum of real numbers that is computed from it."""

    def function(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        spectrum = torch.fft.fft(x)
        size = spectrum.abs().sum()
        return (spectrum * size).real + y.exp(), size

    inputs = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0.5, 1.0, 2.0])
    (case,) = cases_of(Fn(function), inputs).cases
    assert text_of(case) == [
        "v0_t0 = torch.ops.aten.fft_fft.default(x0)",
        "v0_t1 = torch.ops.aten.abs.default(v0_t0)",
        "v0_t2 = torch.ops.aten.sum.default(v0_t1)",
        "v0_t3 = torch.ops.aten.mul.Tensor(v0_t0, v0_t2)",
        "v0_t4 = torch.ops.aten.real.default(v0_t3)",
        "v0, v1 = (v0_t2, v0_t4)",
        "v2 = torch.exp(x1)",
        "v3 = torch.add(v1, v2)",
        "return v3, v0",
    ]
    same_results(case, *function(*inputs))


@pytest.mark.slow
def test_complex_inputs_parameters_and_results_are_real_views() -> None:
    class Turned(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("turn", torch.tensor([1j, 2 + 1j]))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x * self.turn).conj()

    x = torch.tensor([1 + 1j, 2 - 1j])
    (case,) = cases_of(Turned(), x).cases
    assert [str(item.value.type) for item in case.graph.inputs] == ["float32[2,2]"] * 2
    same_results(case, torch.view_as_real(Turned()(x).resolve_conj()))


@pytest.mark.slow
def test_results_that_nothing_reads_are_left_out() -> None:
    x = torch.tensor([3, 1, 3])
    (case,) = cases_of(Fn(lambda x: torch.unique(x, return_counts=True)[1] + 1), x).cases
    assert text_of(case)[:2] == ["v0_t0 = torch.ops.aten._unique2.default(x0, True, False, True)", "v0 = v0_t0[2]"]
    same_results(case, torch.tensor([2, 3]))


@pytest.mark.slow
def test_a_part_that_is_changed_in_place_is_a_new_value() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        y[:, 0] = 0
        return y.exp()

    x = torch.ones(2, 3)
    found = cases_of(Fn(function), x)
    assert (found.not_covered, found.cases[0].graph.ops[-2:]) == ((), ("select_scatter", "exp"))
    same_results(found.cases[0], function(x))


def _first_row(x: torch.Tensor) -> Any:
    y = x.clone()
    y[0] = 1.0
    return y


def _parts_of_parts(x: torch.Tensor) -> Any:
    y = x.exp()
    row = y[1]
    row[1:3] += x[0, :2]
    return row, y.t(), y


def _views_before_and_after(x: torch.Tensor) -> Any:
    y = x * 2
    flat, turned = y.view(-1), y.permute(1, 0)
    y[:, 0].relu_()
    turned[1].neg_()
    return flat + 1, turned, y.view(-1)[2:], y


def _diagonal(x: torch.Tensor) -> Any:
    y = torch.zeros(3, 4) + x.sum()
    y.diagonal().fill_(5)
    y.unsqueeze(0).transpose(1, 2)[0, 2].mul_(3)
    return y.expand(2, 3, 4)


def _all_of_it_and_then_a_part(x: torch.Tensor) -> Any:
    y = x.clone()
    part = y[0]
    y.zero_()
    y.add_(1)
    part.add_(1)
    y.mul_(2)
    return part, y


def _cache(x: torch.Tensor) -> Any:
    cache = torch.zeros(4, 4)
    for place in range(3):
        cache[place + 1 : place + 2] = x[:1] + cache[place : place + 1]
    return cache


@pytest.mark.slow
@pytest.mark.parametrize("is_file", [False, True])
@pytest.mark.parametrize(
    "function",
    [_first_row, _parts_of_parts, _views_before_and_after, _diagonal, _all_of_it_and_then_a_part, _cache],
)
def test_what_is_changed_in_part_is_a_new_value(function: Callable[..., Any], is_file: bool, tmp_path: Path) -> None:
    x = torch.arange(8.0).view(2, 4) - 3
    if is_file:
        path = tmp_path / "changed.pt2"
        torch.export.save(torch.export.export(Fn(function), (x,)), path)
        found = cases_of(path, {"args_0": x.numpy()})
    else:
        found = cases_of(Fn(function), x)
    (case,) = found.cases
    assert (found.not_covered, found.is_given) == ((), True)
    assert [each.value.type.sizes for each in case.graph.inputs if each.role is Role.INPUT] == [(2, 4)]
    right = function(x)
    same_results(case, *([right] if isinstance(right, torch.Tensor) else right))


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
def test_weights_that_no_case_holds_are_named_and_the_rest_is_read() -> None:
    class Eight(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w: torch.Tensor
            self.register_buffer("w", torch.ones(3, 2).to(torch.float8_e4m3fn))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x @ self.w.to(torch.float32)

    found = cases_of(Eight(), torch.ones(4, 3))
    assert found.not_covered == ("to.dtype (1 time): reads b_w, which no case can hold",)
    assert [case.graph.ops for case in found.cases] == [("matmul",)]


@pytest.mark.slow
def test_batch_norm_in_training_gives_what_the_model_returns() -> None:
    model, x = torch.nn.BatchNorm1d(2).train(), torch.tensor([[1.0, 2.0], [3.0, 5.0], [4.0, 0.0]])
    found = cases_of(model, x)
    (case,) = found.cases
    assert (case.graph.ops, case.graph.outputs, found.not_covered) == (
        ("add_scalar", "batch_norm_training"),
        ("v1",),
        (),
    )
    same_results(case, model(x).detach())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "why"),
    [
        (
            lambda x: torch.nn.functional.dropout(x.exp(), 0.5, training=True).relu(),
            "dropout (1 time): it draws random numbers, so that no two results can be compared",
        ),
        (
            lambda x: torch.ops.difftvm_test.twice(x.exp()).relu(),
            "torch.ops.difftvm_test.twice.default (1 time): is not a function of PyTorch's own",
        ),
        (
            lambda x: torch.ops.higher_order.hints_wrapper(lambda y: (y * 2,), (x.exp(),), {}, hints={"it": True})[
                0
            ].relu(),
            "torch.ops.higher_order.hints_wrapper (1 time): a part of the model is a program of its own, which difftvm "
            "does not read",
        ),
    ],
)
def test_what_cannot_be_compared_cuts_and_the_rest_gets_what_pytorch_computes(
    function: Callable[..., Any], why: str
) -> None:
    with operators._scoped_library("difftvm_test", "FRAGMENT") as own:
        own.define("twice(Tensor x) -> Tensor")
        own.impl("twice", lambda x: x * 2, "CompositeExplicitAutograd")
        operators.register_fake("difftvm_test::twice", torch.empty_like, lib=own)
        before = torch.get_rng_state()
        found = cases_of(Fn(function), torch.tensor([0.5, -0.5]))
    assert [case.graph.ops for case in found.cases] == [("exp",), ("relu",)]
    assert found.not_covered == (why,)
    (value,) = found.cases[1].tensors.values()
    assert value.shape == (2,)
    assert value.all() or "dropout" in why
    assert torch.equal(before, torch.get_rng_state()), "the user's random numbers stay as they are"


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


@pytest.mark.slow
def test_drawn_integers_of_a_call_may_be_indices(tmp_path: Path) -> None:
    model = torch.nn.EmbeddingBag(5, 4, mode="mean").eval()
    torch.export.save(torch.export.export(model, (torch.zeros(2, 3, dtype=torch.int64),)), tmp_path / "m.pt2")
    found = cases_of(tmp_path / "m.pt2")
    (case,) = found.cases
    assert (case.graph.ops, found.not_covered) == (("arange", "reshape", "aten.embedding_bag"), ())
    (indices,) = case.inputs.values()
    assert (indices.min() >= 0, indices.max() < 5) == (True, True)


@pytest.mark.slow
def test_a_case_with_calls_is_stored_as_it_is(tmp_path: Path) -> None:
    (case,) = cases_of(Fn(lambda x: torch.fft.rfft(x).abs()), torch.ones(4)).cases
    text, tensors = case_file.encode(case)
    assert case_file.encode(case_file.decode(text, tensors)) == (text, tensors)


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


def shifted(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    y <<= 2
    y |= 1
    y ^= x
    return y & 127


def several_at_once(x: torch.Tensor) -> torch.Tensor:
    y, z = x * 2, x * 3
    torch._foreach_add_([y, z], 5)
    torch._foreach_mul_([y, z], [x, x])
    return y + z


def into_another(x: torch.Tensor) -> torch.Tensor:
    y, values, places = torch.zeros(2, 3), torch.zeros(2, 2), torch.zeros(2, 2, dtype=torch.int64)
    torch.mul(x, 2, out=y)
    torch.topk(y, 2, out=(values, places))
    return values + places


def through_a_view(x: torch.Tensor) -> torch.Tensor:
    y = x * 1
    torch.ops.aten._unsafe_view.default(y, [3, 2]).add_(1)
    return y * 2


def through_a_part(x: torch.Tensor) -> torch.Tensor:
    y = x * 1
    y[0].add_(1)
    return y


@pytest.mark.slow
@pytest.mark.parametrize("function", [shifted, several_at_once, into_another, through_a_view, through_a_part])
def test_a_value_that_is_changed_in_place_is_read_as_it_is_then(function: Callable[..., Any]) -> None:
    """All calls of the model are in its case, and compute what the model computes."""
    x = torch.arange(6).reshape(2, 3)
    found = cases_of(Fn(function), x.float() if function is into_another else x)
    assert (found.not_covered, found.not_given, len(found.cases)) == ((), "", 1)
    (case,) = found.cases
    model = build_model(render(case.bound), case.owned)
    (result,) = model(*map(to_torch, case.inputs.values()))
    assert torch.equal(result, function(x.float() if function is into_another else x))


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


@pytest.mark.slow
def test_complex_numbers_of_python_are_arguments() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return (torch.complex(x, x.neg()) * (0.5 + 1j) - 2j).abs()

    x = torch.tensor([[1.0, -2.0, 3.0]])
    found = cases_of(Fn(function), x)
    assert (found.not_covered, found.not_given) == ((), "")
    (case,) = found.cases
    same_results(case, function(x))


@pytest.mark.slow
def test_a_value_that_no_case_holds_is_cut_with_what_reads_it() -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        hinted = torch.ops.higher_order.hints_wrapper(
            lambda y: (y.real * 2,), (torch.complex(x, x),), {}, hints={"a": 1}
        )
        return hinted[0], x.exp()

    found = cases_of(Fn(function), torch.zeros(2))
    assert "complex (1 time): no case can hold its values, and what reads them is cut out" in found.not_covered
    assert [case.graph.ops for case in found.cases] == [("exp",)]


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
