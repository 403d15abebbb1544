"""The scalar of `fuzzer.cases.scalar_loss`, as a PyTorch module."""

from __future__ import annotations

import torch

from fuzzer.cases.scalar_loss import weights
from fuzzer.lanes.torch.prepared import build_model
from generators.graph import Case
from generators.torch.source import render


class WeightedSum(torch.nn.Module):
    """A module that returns the sum of the model's outputs, each multiplied by its weights."""

    def __init__(self, case: Case, *, float64: bool = False) -> None:
        super().__init__()
        self.model = build_model(render(case.graph, float64=float64), {})
        self.counting = []
        for position, array in enumerate(weights(case)):
            if array is not None:
                self.counting.append(position)
                tensor = torch.from_numpy(array)
                self.register_buffer(f"weight{position}", tensor.double() if float64 else tensor)

    def forward(self, *args: torch.Tensor) -> torch.Tensor:
        outputs = self.model(*args)
        return summed([outputs[position] * getattr(self, f"weight{position}") for position in self.counting])


def summed(terms: list[torch.Tensor]) -> torch.Tensor:
    total = terms[0].sum()
    for term in terms[1:]:
        total = total + term.sum()
    return total
