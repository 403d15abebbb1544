"""Everyday models by how they are called: dicts, lists, data classes, numbers, caches, in place, training, autocast."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn

F = nn.functional
Dim = torch.export.Dim


@dataclass
class Output:
    logits: Tensor
    hidden: Tensor | None = None


torch.export.register_dataclass(Output, serialized_type_name="everyday_output")


class Features(NamedTuple):
    low: Tensor
    high: Tensor


class Dataclass(nn.Module):
    """A model that returns a data class with a value that is None."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Output:
        return Output(logits=self.layer(x).log_softmax(-1))


class Pyramid(nn.Module):
    """A backbone that returns an ordered dict of feature maps, and a list of sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.down = nn.Conv2d(3, 4, 3, 2, 1), nn.Conv2d(4, 6, 3, 2, 1)

    def forward(self, x: Tensor) -> dict[str, Any]:
        low = F.leaky_relu(self.stem(x), 0.1)
        high = F.relu6(self.down(low))
        up = F.interpolate(high, size=low.shape[-2:], mode="nearest")
        return OrderedDict(low=low, high=high, mixed=[torch.cat((low, up), 1), Features(low.mean(), high.amax((2, 3)))])


class Named(nn.Module):
    """Inputs by name, one of which is left out."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(30, 8)
        self.types = nn.Embedding(2, 8)

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None, token_type_ids: Tensor | None = None):
        x = self.words(input_ids)
        if token_type_ids is not None:
            x = x + self.types(token_type_ids)
        if attention_mask is not None:
            x = x * attention_mask[..., None].to(x.dtype)
        return {"last_hidden_state": x, "pooled": x[:, 0].tanh(), "mask": attention_mask}


class Past(nn.Module):
    """A step of a language model with a list of caches, which grow."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.ModuleList(nn.Linear(8, 24) for _ in range(2))

    def forward(self, x: Tensor, past: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        new = []
        for layer, (key, value) in zip(self.qkv, past, strict=True):
            q, k, v = layer(x).chunk(3, -1)
            k, v = torch.cat((key, k), 1), torch.cat((value, v), 1)
            x = x + F.scaled_dot_product_attention(q[:, None], k[:, None], v[:, None])[:, 0]
            new.append((k, v))
        return x, new


class Constant(nn.Module):
    """A number of Python among the inputs."""

    def forward(self, x: Tensor, scale: float, times: int) -> Tensor:
        for _ in range(times):
            x = x * scale + 1
        return x


class InPlace(nn.Module):
    """Changes copies and parts of values in place."""

    def forward(self, x: Tensor) -> Tensor:
        y = x.clone()
        y[:, 0] = 1.0
        y[:, 1:3] += x[:, :2]
        y[x < 0] = 0.5
        y.mul_(2).clamp_(-3, 3)
        return y


class Counting(nn.Module):
    """Batch norm in training, and a buffer that counts the calls."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(6)
        self.calls: Tensor
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.train()

    def eval(self) -> Self:
        return self

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return self.norm(x) + self.calls


class Dropped(nn.Module):
    """A layer in training, with dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 3)

    def eval(self) -> Self:
        return self

    def forward(self, x: Tensor) -> Tensor:
        return self.last(F.dropout(self.first(x).relu(), 0.3))


class Mixed(nn.Module):
    """A region of autocast to bfloat16."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(8, 16), nn.Linear(16, 4)

    def forward(self, x: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            y = self.last(F.gelu(self.first(x)))
        return y.float().softmax(-1)


class HalfPrecision(nn.Module):
    """A block in float16 with an RMS norm in float32."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(16, 32, bias=False), nn.Linear(32, 16, bias=False)
        self.scale = nn.Parameter(torch.ones(16))
        self.half()

    def forward(self, x: Tensor) -> Tensor:
        y = x.float()
        y = (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * self.scale
        return x + self.down(F.silu(self.up(y)))


class Normalise(nn.Module):
    """Preprocessing of bytes: height, width and channels are moved, numbers are scaled and rounded back."""

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        x = image.permute(0, 3, 1, 2).float().div(255)
        mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
        x = (x - mean[None, :, None, None]) / std[None, :, None, None]
        small = F.interpolate(x, scale_factor=0.5, mode="bicubic", antialias=True)
        return small, (x.sigmoid() * 255).round().clamp(0, 255).to(torch.uint8)


class Double(nn.Module):
    """A simulation in float64."""

    def forward(self, x: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        for _ in range(4):
            d = x[:, None] - x[None]
            r = (d.square().sum(-1) + 1e-3).rsqrt()
            v = v - 0.01 * (d * r[..., None] ** 3).sum(1)
            x = x + 0.01 * v
        return x, v


class Scripted(nn.Module):
    """A module that was compiled by torch.jit.script before."""

    def __new__(cls) -> Any:
        return torch.jit.script(nn.Sequential(nn.Linear(4, 4), nn.ReLU()))


class Compiled(nn.Module):
    """A module that torch.compile wraps."""

    def __new__(cls) -> Any:
        return torch.compile(nn.Sequential(nn.Linear(4, 4), nn.ReLU()))


class Dynamic(nn.Module):
    """Dynamic quantisation by torch.ao."""

    def __new__(cls) -> Any:
        return torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2)).eval())


class Nothing(nn.Module):
    """An output that is an input, one that is a constant, one that is a number, and one that is None."""

    def __init__(self) -> None:
        super().__init__()
        self.place = nn.Parameter(torch.randn(3))

    def forward(self, x: Tensor) -> tuple[Any, ...]:
        return x, self.place, x.shape[0], None, x + 1


class Flags(nn.Module):
    """Booleans in, booleans out."""

    def forward(self, there: Tensor, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        wanted = there & ~(x > 1) | x.isnan()
        return wanted, wanted.any(1), torch.logical_xor(wanted, there).sum(1)


MODELS: dict[str, Any] = {
    "calls: a data class with None": (Dataclass, (torch.randn(2, 8),)),
    "calls: nested dict of features": (Pyramid, (torch.randn(1, 3, 12, 12),)),
    "calls: inputs by name, one left out": (
        Named,
        {"input_ids": torch.tensor([[1, 2, 3]]), "attention_mask": torch.tensor([[1, 1, 0]])},
    ),
    "calls: list of caches": (
        Past,
        (torch.randn(1, 1, 8), [(torch.randn(1, 3, 8), torch.randn(1, 3, 8)) for _ in range(2)]),
    ),
    "calls: numbers of Python": (Constant, (torch.randn(3), 0.5, 2)),
    "calls: changes in place": (InPlace, (torch.randn(4, 5),)),
    "calls: batch norm in training": (Counting, (torch.randn(5, 6),)),
    "calls: dropout in training": (Dropped, (torch.randn(5, 8),)),
    "calls: autocast": (Mixed, (torch.randn(3, 8),)),
    "calls: float16 block": (HalfPrecision, (torch.randn(2, 4, 16).half(),)),
    "calls: bytes of images": (Normalise, (torch.randint(0, 256, (1, 8, 8, 3), dtype=torch.uint8),)),
    "calls: float64 simulation": (Double, (torch.randn(5, 3).double(), torch.randn(5, 3).double())),
    "calls: torch.jit.script": (Scripted, (torch.randn(2, 4),)),
    "calls: torch.compile": (Compiled, (torch.randn(2, 4),)),
    "calls: dynamic quantisation": (Dynamic, (torch.randn(2, 8),)),
    "calls: inputs and constants as outputs": (Nothing, (torch.randn(2, 3),)),
    "calls: booleans": (Flags, (torch.rand(3, 4) > 0.5, torch.randn(3, 4))),
}


class Without(nn.Module):
    """Rotary tables as Llama of transformers makes them: no gradients, and autocast switched off."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("speed", torch.tensor([1.0, 0.1]))
        self.layer = nn.Linear(4, 4)

    @torch.no_grad()
    def waves(self, x: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
        with torch.autocast(device_type="cpu", enabled=False):
            angles = (self.speed[None, :, None].float().expand(places.shape[0], -1, 1) @ places[:, None].float()).mT
            angles = torch.cat((angles, angles), -1)
            return angles.cos().to(x.dtype), angles.sin().to(x.dtype)

    def forward(self, x: Tensor, places: Tensor) -> Tensor:
        cos, sin = self.waves(x, places)
        q = self.layer(x)
        return q * cos + torch.cat((-q[..., 2:], q[..., :2]), -1) * sin


MODELS["text: rotary tables without gradients"] = (Without, (torch.randn(1, 3, 4), torch.arange(3)[None]))
