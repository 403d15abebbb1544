"""The model of the small project: a layer, and tanh of tensors of rank 3."""

from __future__ import annotations

import torch


class Sequences(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.layer(x))


def model() -> tuple[torch.nn.Module, torch.Tensor]:
    """The model and its input: a batch of 2 sequences of 3 vectors."""
    torch.manual_seed(0)
    return Sequences().eval(), torch.randn(2, 3, 4)
