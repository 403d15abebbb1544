"""Values that a model changes in place are new values of its case."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from models_by_hand import Fn, same_results

from fuzzer.api.model_cases import cases_of
from fuzzer.lanes.base.arrays import to_torch
from fuzzer.lanes.torch.prepared import build_model
from generators.graph import Role
from generators.torch.source import render


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
