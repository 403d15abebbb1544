"""Layers as people stack them. Each takes and gives one form of value, and draws its own options.

ids     integers, (batch, length)
tokens  numbers, (batch, length, WIDTH)
image   numbers, (batch, WIDTH, height, width)
vector  numbers, (batch, WIDTH)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor, nn

F = nn.functional
WIDTH = 8
HEADS = 2


class Called(nn.Module):
    """Layers, and how they are called."""

    def __init__(self, call: Callable[..., Tensor], *parts: nn.Module) -> None:
        super().__init__()
        self.call, self.parts = call, nn.ModuleList(parts)

    def forward(self, x: Tensor) -> Tensor:
        return self.call(x, *self.parts)


class RmsNorm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.randn(WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.scale


class Attention(nn.Module):
    """Attention that is split into heads by the sizes of its input."""

    def __init__(self, mask: str, *, is_fused: bool, has_rotary: bool) -> None:
        super().__init__()
        self.mask, self.is_fused, self.has_rotary = mask, is_fused, has_rotary
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, HEADS, c // HEADS).permute(2, 0, 3, 1, 4).unbind(0)
        if self.has_rotary:
            q, k = rotated(q), rotated(k)
        mask = self.mask_of(t)
        if self.is_fused:
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        else:
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            if mask is not None:
                scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
            y = scores.softmax(-1) @ v
        return x + self.out(y.transpose(1, 2).reshape(b, t, c))

    def mask_of(self, t: int) -> Tensor | None:
        if self.mask == "causal":
            return torch.ones(t, t, dtype=torch.bool).tril()
        if self.mask == "window":
            away = torch.arange(t)[:, None] - torch.arange(t)
            return (away >= 0) & (away < 3)
        return None


def rotated(x: Tensor) -> Tensor:
    """Rotary positions of (batch, heads, length, size)."""
    half = x.shape[-1] // 2
    speed = 1.0 / 100 ** (torch.arange(half).float() / half)
    angles = torch.outer(torch.arange(x.shape[2]).float(), speed).repeat(1, 2)
    return x * angles.cos() + torch.cat((-x[..., half:], x[..., :half]), -1) * angles.sin()


class Cross(nn.Module):
    """Attention to a memory of the model's own."""

    def __init__(self) -> None:
        super().__init__()
        self.memory, self.layer = (
            nn.Parameter(torch.randn(3, WIDTH)),
            nn.MultiheadAttention(WIDTH, HEADS, batch_first=True),
        )

    def forward(self, x: Tensor) -> Tensor:
        memory = self.memory.expand(x.size(0), -1, -1)
        return x + self.layer(x, memory, memory, need_weights=False)[0]


class Cache(nn.Module):
    """Attention to the tokens and to those of a cache before them."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.randn(1, 4, WIDTH))
        self.key, self.value = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        before = self.keys.repeat(x.size(0), 1, 1)
        keys, values = torch.cat((before, self.key(x)), 1), torch.cat((before, self.value(x)), 1)
        return (x @ keys.mT / WIDTH**0.5).softmax(-1) @ values


class Experts(nn.Module):
    """Two of four experts for each token."""

    def __init__(self) -> None:
        super().__init__()
        self.router, self.weight = nn.Linear(WIDTH, 4), nn.Parameter(torch.randn(4, WIDTH, WIDTH) / 3)

    def forward(self, x: Tensor) -> Tensor:
        best, place = self.router(x).softmax(-1).topk(2, -1)
        every = torch.einsum("bte,keo->btko", x, self.weight)
        taken = every.gather(2, place[..., None].expand(-1, -1, -1, x.size(-1)))
        return x + (taken * (best / best.sum(-1, keepdim=True))[..., None]).sum(2)


class Positions(nn.Module):
    """Positions that are learnt, or waves."""

    def __init__(self, *, is_learnt: bool) -> None:
        super().__init__()
        self.table = nn.Embedding(64, WIDTH) if is_learnt else None

    def forward(self, x: Tensor) -> Tensor:
        places = torch.arange(x.size(1))
        if self.table is not None:
            return x + self.table(places)
        angles = places[:, None] * torch.exp(torch.arange(0, WIDTH, 2) * (-math.log(100.0) / WIDTH))
        return x + torch.stack((angles.sin(), angles.cos()), -1).flatten(1)


class Padded(nn.Module):
    """Embedded ids; those of padding give zeros."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(20, WIDTH, padding_idx=0)

    def forward(self, ids: Tensor) -> Tensor:
        return self.table(ids) * (ids != 0).unsqueeze(-1).to(self.table.weight.dtype)


class Excited(nn.Module):
    """Squeeze and excitation."""

    def __init__(self) -> None:
        super().__init__()
        self.squeeze, self.excite = nn.Linear(WIDTH, 4), nn.Linear(4, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        b, c, _, _ = x.size()
        y = F.adaptive_avg_pool2d(x, 1).view(b, c)
        return x * self.excite(self.squeeze(y).relu()).sigmoid().view(b, c, 1, 1)


class Windows(nn.Module):
    """Tokens in groups of two, mixed, and put back."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(2 * WIDTH, 2 * WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        b, t, c = x.shape
        x = F.pad(x, (0, 0, 0, t % 2))
        return self.mix(x.reshape(b, -1, 2 * c)).reshape(b, -1, c)[:, :t]


Made = Callable[[Random], nn.Module]


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer by its name, the forms that it takes and gives, and what makes it."""

    name: str
    takes: str
    gives: str
    make: Made


def _linear(into: int = WIDTH, out: int = WIDTH) -> nn.Linear:
    return nn.Linear(into, out)


def _activation(drawn: Random) -> nn.Module:
    return drawn.choice(
        (nn.ReLU, nn.GELU, nn.SiLU, nn.Hardswish, nn.Mish, nn.ELU, nn.LeakyReLU, nn.Softplus, nn.Tanh, nn.PReLU)
    )()


def _attention(drawn: Random) -> nn.Module:
    mask = drawn.choice(("", "causal", "window"))
    return Attention(mask, is_fused=drawn.random() < 0.5, has_rotary=drawn.random() < 0.4)


def _token_norm(drawn: Random) -> nn.Module:
    return drawn.choice((lambda: nn.LayerNorm(WIDTH), RmsNorm, lambda: nn.RMSNorm(WIDTH)))()


def _image_norm(drawn: Random) -> nn.Module:
    return drawn.choice(
        (lambda: nn.BatchNorm2d(WIDTH), lambda: nn.GroupNorm(2, WIDTH), lambda: nn.InstanceNorm2d(WIDTH, affine=True))
    )()


def _convolution(drawn: Random) -> nn.Module:
    size, dilation = drawn.choice((1, 3, 5)), drawn.choice((1, 2))
    groups = drawn.choice((1, 2, WIDTH))
    padding = size // 2 * dilation
    return nn.Conv2d(WIDTH, WIDTH, size, padding=padding, dilation=dilation, groups=groups, bias=drawn.random() < 0.5)


def _gated(drawn: Random) -> nn.Module:
    act = drawn.choice((F.silu, F.gelu, torch.sigmoid))
    return Called(lambda x, a, b, c: x + c(act(a(x)) * b(x)), _linear(out=12), _linear(out=12), _linear(12))


def _pooled(drawn: Random) -> nn.Module:
    return drawn.choice(
        (
            lambda: Called(lambda x: x.mean(1)),
            lambda: Called(lambda x: x[:, 0]),
            lambda: Called(lambda x: x[:, -1]),
            lambda: Called(lambda x: x.amax(1)),
            lambda: Called(lambda x, score: (score(x).softmax(1) * x).sum(1), _linear(out=1)),
        )
    )()


def _smaller(drawn: Random) -> nn.Module:
    return drawn.choice(
        (
            lambda: nn.MaxPool2d(2, ceil_mode=True),
            lambda: nn.AvgPool2d(3, 2, 1, count_include_pad=False),
            lambda: nn.Conv2d(WIDTH, WIDTH, 3, 2, 1),
            lambda: Called(
                lambda x, a: a(F.pixel_unshuffle(F.pad(x, (0, x.size(3) % 2, 0, x.size(2) % 2)), 2)),
                nn.Conv2d(4 * WIDTH, WIDTH, 1),
            ),
        )
    )()


def _larger(drawn: Random) -> nn.Module:
    mode = drawn.choice(("nearest", "bilinear", "bicubic"))
    return drawn.choice(
        (
            lambda: nn.ConvTranspose2d(WIDTH, WIDTH, 2, 2),
            lambda: Called(lambda x: F.interpolate(x, scale_factor=2, mode=mode)),
            lambda: Called(lambda x, layer: F.pixel_shuffle(layer(x), 2), nn.Conv2d(WIDTH, 4 * WIDTH, 1)),
        )
    )()


def _head(drawn: Random) -> nn.Module:
    return drawn.choice(
        (
            lambda: Called(lambda x, a: a(x).log_softmax(-1), _linear(out=5)),
            lambda: Called(lambda x, a: F.normalize(a(x), dim=-1), _linear()),
            lambda: Called(lambda x, a, b: b(F.relu(a(x))), _linear(out=16), _linear(16)),
        )
    )()


def _recurrent(drawn: Random) -> nn.Module:
    kind = drawn.choice((nn.GRU, nn.LSTM, nn.RNN))
    return Called(lambda x, layer: layer(x)[0], kind(WIDTH, WIDTH, batch_first=True))


LAYERS = (
    Layer("embedding", "ids", "tokens", lambda drawn: nn.Embedding(20, WIDTH)),
    Layer("embedding with padding", "ids", "tokens", lambda drawn: Padded()),
    Layer("positions", "tokens", "tokens", lambda drawn: Positions(is_learnt=drawn.random() < 0.5)),
    Layer("norm of tokens", "tokens", "tokens", _token_norm),
    Layer("attention", "tokens", "tokens", _attention),
    Layer("cross attention", "tokens", "tokens", lambda drawn: Cross()),
    Layer("cache", "tokens", "tokens", lambda drawn: Cache()),
    Layer("gated layer", "tokens", "tokens", _gated),
    Layer("experts", "tokens", "tokens", lambda drawn: Experts()),
    Layer("windows", "tokens", "tokens", lambda drawn: Windows()),
    Layer("recurrent layer", "tokens", "tokens", _recurrent),
    Layer(
        "convolution of tokens",
        "tokens",
        "tokens",
        lambda drawn: Called(lambda x, a: a(F.pad(x.mT, (2, 0))).mT + x, nn.Conv1d(WIDTH, WIDTH, 3, groups=WIDTH)),
    ),
    Layer("encoder", "tokens", "tokens", lambda drawn: nn.TransformerEncoderLayer(WIDTH, HEADS, 16, batch_first=True)),
    Layer("activation of tokens", "tokens", "tokens", _activation),
    Layer("scan", "tokens", "tokens", lambda drawn: Called(lambda x: x.cumsum(1) / (x.size(1) + 1))),
    Layer("pooled tokens", "tokens", "vector", _pooled),
    Layer("tokens as image", "tokens", "image", lambda drawn: Called(lambda x: x.transpose(1, 2).unsqueeze(-1))),
    Layer("convolution", "image", "image", _convolution),
    Layer("norm of image", "image", "image", _image_norm),
    Layer("activation of image", "image", "image", _activation),
    Layer("excitation", "image", "image", lambda drawn: Excited()),
    Layer("residual", "image", "image", lambda drawn: Called(lambda x, a, b: x + b(a(x).relu()), *_two(drawn))),
    Layer("smaller", "image", "image", _smaller),
    Layer("larger", "image", "image", _larger),
    Layer("image as tokens", "image", "tokens", lambda drawn: Called(lambda x: x.flatten(2).transpose(1, 2))),
    Layer("flat image", "image", "vector", lambda drawn: Called(lambda x: x.view(x.size(0), x.size(1), -1).mean(-1))),
    Layer("norm of channels", "image", "image", lambda drawn: Called(_last, nn.LayerNorm(WIDTH))),
    Layer("layer", "vector", "vector", lambda drawn: nn.Sequential(_linear(), _activation(drawn), _linear())),
    Layer("one token", "vector", "tokens", lambda drawn: Called(lambda x: x.unsqueeze(1).expand(-1, 3, -1))),
)
HEAD = Layer("head", "vector", "vector", _head)


def _two(drawn: Random) -> tuple[nn.Module, nn.Module]:
    return _convolution(drawn), _convolution(drawn)


def _last(x: Tensor, norm: nn.Module) -> Tensor:
    return norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
