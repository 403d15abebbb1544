"""Calls of a model that no row has are nodes of its case; what no case can hold cuts it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from models_by_hand import Fn, same_results, text_of
from torch import library as operators
from torch._higher_order_ops.scan import scan

from fuzzer.api.model_cases import cases_of
from generators import case_file


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
