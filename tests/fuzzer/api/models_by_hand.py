"""Small models, and what tests read of their cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import difftvm
from fuzzer.lanes.base.arrays import to_torch
from fuzzer.lanes.torch.prepared import build_model
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
