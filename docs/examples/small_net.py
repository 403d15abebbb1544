"""A model for docs/around.md: two layers of a network on sequences."""

import torch


class SmallNet(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.widen = torch.nn.Linear(8, 16)
        self.narrow = torch.nn.Linear(16, 8)
        self.norm = torch.nn.LayerNorm(8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x + self.narrow(torch.relu(self.widen(x))))


def net() -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    """The model and its example inputs: a batch of 2 sequences of 5 vectors."""
    return SmallNet(), (torch.randn(2, 5, 8),)
