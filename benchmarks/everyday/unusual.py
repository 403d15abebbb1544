"""Everyday models that are hard to compile: quantised, complex, with control flow, with open sizes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

F = nn.functional
Dim = torch.export.Dim


class Quantised(nn.Module):
    """Weights of eight bits, scaled where they are used."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weight", torch.randint(-128, 128, (6, 8), dtype=torch.int8))
        self.register_buffer("scale", torch.rand(6, 1) / 100)

    def forward(self, x: Tensor) -> Tensor:
        low, high = x.amin(), x.amax()
        step = ((high - low) / 255).clamp(min=1e-6)
        numbers = torch.clamp((x / step).round(), -128, 127).to(torch.int8)
        return F.linear(numbers.float() * step, self.weight.float() * self.scale)


class Fake(nn.Module):
    """Fake quantisation, as training for it has it."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127))


class Half(nn.Module):
    """A block in bfloat16."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 8, dtype=torch.bfloat16)

    def forward(self, x: Tensor) -> Tensor:
        return F.layer_norm(self.layer(x.bfloat16()).float(), (8,))


class Filter(nn.Module):
    """A filter in the frequency domain."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(9, dtype=torch.complex64))

    def forward(self, x: Tensor) -> Tensor:
        return torch.fft.irfft(torch.fft.rfft(x) * self.weight, n=16)


class Branch(nn.Module):
    """A branch that data chooses."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda y: self.layer(y).relu(), lambda y: y.neg(), (x,))


class Chosen(nn.Module):
    """As many results as data has positive numbers."""

    def forward(self, x: Tensor) -> Tensor:
        return x[x > 0].sqrt()


class Unique(nn.Module):
    """The distinct ids and their counts."""

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        found, counts = torch.unique(ids, return_counts=True)
        return found, counts


class Heads(nn.Module):
    """Attention with an open batch and an open length."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        b, t, _ = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, 2, -1).permute(2, 0, 3, 1, 4).unbind(0)
        return self.out((torch.softmax(q @ k.transpose(-2, -1) / 2, -1) @ v).transpose(1, 2).reshape(b, t, -1))


class Pooled(nn.Module):
    """Convolutions of images of any size."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.head = nn.Conv2d(3, 6, 3, stride=2), nn.Linear(6, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(F.max_pool2d(self.layer(x).relu(), 2).mean((2, 3)))


class Paired(nn.Module):
    """Two inputs of one open length, joined."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return torch.cat((x, y.cumsum(0)), 0)[: x.shape[0]] * torch.arange(x.shape[0])[:, None]


HEADS = {"x": {0: Dim("b"), 1: Dim("t")}}
MODELS: dict[str, Any] = {
    "quantised: weights of eight bits": (Quantised, (torch.randn(3, 8),)),
    "quantised: fake quantisation": (Fake, (torch.randn(3, 8),)),
    "bfloat16: a block": (Half, (torch.randn(3, 8),)),
    "complex: filter of frequencies": (Filter, (torch.randn(2, 16),)),
    "control flow: a branch": (Branch, (torch.randn(3, 4),)),
    "dynamic results: chosen by a mask": (Chosen, (torch.randn(10),)),
    "dynamic results: unique ids": (Unique, (torch.tensor([3, 1, 3, 2]),)),
    "dynamic shapes: attention": (Heads, (torch.randn(2, 5, 8),), HEADS),
    "dynamic shapes: images": (Pooled, (torch.randn(2, 3, 15, 15),), {"x": {0: Dim("b")}}),
    "dynamic shapes: two inputs": (
        Paired,
        (torch.randn(4, 3), torch.randn(4, 3)),
        {"x": {0: Dim("n", min=2, max=64)}, "y": {0: Dim("n", min=2, max=64)}},
    ),
}
