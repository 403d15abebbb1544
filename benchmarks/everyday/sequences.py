"""Everyday models of text, audio, recommendations, and states."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

F = nn.functional


class Rotary(nn.Module):
    """A block of a language model: RMS norm, rotary positions, grouped causal attention, a gated layer."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(16))
        self.q, self.kv, self.out = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)
        self.gate, self.up, self.down = nn.Linear(16, 24), nn.Linear(16, 24), nn.Linear(24, 16)

    def norm(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.scale

    def forward(self, x: Tensor) -> Tensor:
        b, t, _ = x.shape
        y = self.norm(x)
        q = self.q(y).view(b, t, 4, 4).transpose(1, 2)
        k, v = self.kv(y).view(b, t, 2, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
        angles = torch.outer(torch.arange(t).float(), torch.tensor([1.0, 0.1])).repeat(1, 2)
        q, k = (a * angles.cos() + torch.cat((-a[..., 2:], a[..., :2]), -1) * angles.sin() for a in (q, k))
        k, v = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, 16)
        x = x + self.out(y)
        y = self.norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Encoder(nn.Module):
    """A text classifier with padded inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.head = nn.Embedding(50, 16, padding_idx=0), nn.Linear(16, 3)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)

    def forward(self, ids: Tensor) -> Tensor:
        there = ids != 0
        x = self.layer(self.words(ids), src_key_padding_mask=~there)
        return self.head((x * there[..., None]).sum(1) / there.sum(1, keepdim=True).clamp(min=1))


class Cached(nn.Module):
    """One step with a cache that it changes."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("cache", torch.zeros(1, 8, 4))
        self.key = nn.Linear(4, 4)

    def forward(self, x: Tensor, place: Tensor) -> Tensor:
        keys = self.cache.index_copy(1, place, self.key(x))
        scores = (x @ keys.transpose(1, 2)).masked_fill(torch.arange(8) > place, -1e9)
        return scores.softmax(-1) @ keys


class Experts(nn.Module):
    """A mixture of experts: two of four for each token."""

    def __init__(self) -> None:
        super().__init__()
        self.router, self.weight = nn.Linear(8, 4), nn.Parameter(torch.randn(4, 8, 8))

    def forward(self, x: Tensor) -> Tensor:
        best, place = self.router(x).softmax(-1).topk(2, -1)
        every = torch.einsum("bte,keo->btko", x, self.weight)
        taken = every.gather(2, place[..., None].expand(-1, -1, -1, 8))
        return (taken * (best / best.sum(-1, keepdim=True))[..., None]).sum(2)


class Recurrent(nn.Module):
    """The three recurrent layers of PyTorch, one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.gru = nn.LSTM(6, 5, batch_first=True, bidirectional=True), nn.GRU(10, 4, 2, batch_first=True)
        self.rnn = nn.RNN(4, 3, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.rnn(self.gru(self.lstm(x)[0])[0])[0][:, -1]


class StateSpace(nn.Module):
    """A selective scan, unrolled."""

    def __init__(self) -> None:
        super().__init__()
        self.log, self.step = nn.Parameter(torch.randn(6, 3)), nn.Linear(6, 6)
        self.into, self.out = nn.Linear(6, 3), nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        step, into, out = F.softplus(self.step(x)), self.into(x), self.out(x)
        decay = torch.exp(-step[..., None] * self.log.exp())
        state, results = torch.zeros(x.shape[0], 6, 3), []
        for at in range(x.shape[1]):
            state = decay[:, at] * state + (step * x)[:, at, :, None] * into[:, at, None]
            results.append((state * out[:, at, None]).sum(-1))
        return torch.stack(results, 1)


class Spectrogram(nn.Module):
    """A log mel spectrogram, with complex values between."""

    def __init__(self) -> None:
        super().__init__()
        self.window = nn.Parameter(torch.hann_window(16), requires_grad=False)
        self.register_buffer("mel", torch.rand(5, 9))

    def forward(self, x: Tensor) -> Tensor:
        power = torch.stft(x, 16, 8, window=self.window, return_complex=True).abs() ** 2
        return (self.mel @ power).clamp(min=1e-5).log10()


class Speech(nn.Module):
    """Dilated gated convolutions with weight norm."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.utils.weight_norm(nn.Conv1d(4, 8, 3, dilation=2**n)) for n in range(3))

    def forward(self, x: Tensor) -> Tensor:
        for number, layer in enumerate(self.layers):
            y = layer(F.pad(x, (2 << number, 0)))
            x = x + torch.tanh(y[:, :4]) * torch.sigmoid(y[:, 4:])
        return x


class Bags(nn.Module):
    """A recommender: bags of items, crossed with numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.items, self.users = nn.EmbeddingBag(30, 8, mode="mean"), nn.Embedding(10, 8)
        self.top = nn.Sequential(nn.Linear(27, 8), nn.PReLU(), nn.Linear(8, 1))

    def forward(self, items: Tensor, user: Tensor, numbers: Tensor) -> Tensor:
        parts = torch.stack((self.items(items), self.users(user), numbers), 1)
        crossed = torch.bmm(parts, parts.transpose(1, 2))
        pairs = crossed[:, [0, 0, 1], [1, 2, 2]]
        return self.top(torch.cat((pairs, parts.flatten(1)), 1)).sigmoid()


class Factors(nn.Module):
    """A factorisation machine."""

    def __init__(self) -> None:
        super().__init__()
        self.factors, self.line = nn.Embedding(20, 4), nn.Embedding(20, 1)

    def forward(self, ids: Tensor) -> Tensor:
        v = self.factors(ids)
        return self.line(ids).sum((1, 2)) + 0.5 * (v.sum(1).square() - v.square().sum(1)).sum(-1)


MODELS: dict[str, Any] = {
    "text: block with rotary positions": (Rotary, (torch.randn(1, 5, 16),)),
    "text: classifier with padding": (Encoder, (torch.tensor([[4, 8, 15, 0], [16, 23, 0, 0]]),)),
    "text: step with a cache": (Cached, (torch.randn(1, 1, 4), torch.tensor([3]))),
    "text: mixture of experts": (Experts, (torch.randn(1, 5, 8),)),
    "RNN: LSTM, GRU and RNN": (Recurrent, (torch.randn(2, 4, 6),)),
    "state space: selective scan": (StateSpace, (torch.randn(1, 6, 6),)),
    "audio: log mel spectrogram": (Spectrogram, (torch.randn(1, 64),)),
    "audio: gated convolutions with weight norm": (Speech, (torch.randn(1, 4, 20),)),
    "recommender: bags of items": (Bags, (torch.randint(0, 30, (2, 4)), torch.tensor([1, 2]), torch.randn(2, 8))),
    "recommender: factorisation machine": (Factors, (torch.randint(0, 20, (3, 5)),)),
}
