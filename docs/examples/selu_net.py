"""A model for the README: a self-normalizing network of two layers."""

import torch


class SeluNet(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(8, 16)
        self.last = torch.nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(torch.nn.functional.selu(self.first(x)))


def net() -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    """The model and its example inputs, a batch of 2 vectors: the same numbers each time."""
    torch.manual_seed(0)
    return SeluNet(), (torch.randn(2, 8),)
