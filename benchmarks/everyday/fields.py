"""Everyday models of other fields: graphs, points, control, language of the second kind, signals, losses."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

F = nn.functional
Dim = torch.export.Dim


class GraphLayer(nn.Module):
    """A layer of a graph network: messages are added up where edges end, and divided by the degree."""

    def __init__(self) -> None:
        super().__init__()
        self.message, self.own = nn.Linear(12, 8), nn.Linear(6, 8)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        source, target = edges
        sent = self.message(torch.cat((x[source], x[target]), -1)).relu()
        total = torch.zeros(x.shape[0], 8).index_add(0, target, sent)
        degree = torch.zeros(x.shape[0]).scatter_add(0, target, torch.ones(target.shape[0]))
        return self.own(x) + total / degree.clamp(min=1)[:, None]


class GraphAttention(nn.Module):
    """Softmax over the edges of each node, by scatter_reduce."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.score = nn.Linear(6, 4), nn.Linear(8, 1)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        x, (source, target) = self.layer(x), edges
        score = F.leaky_relu(self.score(torch.cat((x[source], x[target]), -1))[:, 0], 0.2)
        most = torch.full((x.shape[0],), -1e9).scatter_reduce(0, target, score, "amax")
        weight = (score - most[target]).exp()
        total = torch.zeros(x.shape[0]).scatter_add(0, target, weight)
        return torch.zeros_like(x).index_add(0, target, x[source] * (weight / total[target])[:, None])


class Points(nn.Module):
    """A layer of a point cloud: the nearest neighbours by distance, and the largest feature of them."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv2d(6, 8, 1)

    def forward(self, x: Tensor) -> Tensor:
        near = torch.cdist(x, x).topk(4, largest=False).indices
        found = torch.gather(x[:, None].expand(-1, x.shape[1], -1, -1), 2, near[..., None].expand(-1, -1, -1, 3))
        edge = torch.cat((found - x[:, :, None], x[:, :, None].expand_as(found)), -1)
        return self.layer(edge.permute(0, 3, 1, 2)).relu().amax(-1)


class ComplexRotary(nn.Module):
    """Rotary positions by complex numbers, as Llama's first code has them."""

    def __init__(self) -> None:
        super().__init__()
        angles = torch.outer(torch.arange(6).float(), 1.0 / 100 ** (torch.arange(0, 4, 2).float() / 4))
        self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles))

    def forward(self, q: Tensor) -> Tensor:
        pairs = torch.view_as_complex(q.reshape(*q.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * self.turns).flatten(3)


class Alibi(nn.Module):
    """Attention with linear biases and a causal mask of -inf."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(16, 48)
        self.register_buffer("slopes", 2.0 ** -torch.arange(1, 5).float())

    def forward(self, x: Tensor) -> Tensor:
        b, t, c = x.shape
        q, k, v = (y.view(b, t, 4, -1).transpose(1, 2) for y in self.qkv(x).split(c, -1))
        far = torch.arange(t)[None] - torch.arange(t)[:, None]
        bias = far * self.slopes[:, None, None]
        bias = bias.masked_fill(torch.ones(t, t).triu(1).bool(), float("-inf"))
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias).transpose(1, 2).flatten(2)


class Grouped(nn.Module):
    """Attention in which heads share keys, by PyTorch's own option."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = nn.Linear(16, 16), nn.Linear(16, 8), nn.Linear(16, 8)

    def forward(self, x: Tensor) -> Tensor:
        q = self.q(x).unflatten(-1, (4, 4)).transpose(1, 2)
        k, v = (layer(x).unflatten(-1, (2, 4)).transpose(1, 2) for layer in (self.k, self.v))
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True).transpose(1, 2).flatten(2)


class T5Bias(nn.Module):
    """Relative positions in buckets, as T5 has them."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = nn.Embedding(8, 2)

    def forward(self, x: Tensor) -> Tensor:
        t = x.shape[1]
        away = torch.arange(t)[None] - torch.arange(t)[:, None]
        bucket = (away > 0).long() * 4
        away = away.abs()
        large = 2 + (torch.log(away.float() / 2) / torch.log(torch.tensor(4.0)) * 2).to(torch.int64)
        bucket = bucket + torch.where(away < 2, away, large.clamp(max=3))
        return (x @ x.transpose(-1, -2))[:, None] + self.bias(bucket).permute(2, 0, 1)[None]


class Decoder(nn.Module):
    """A decoder with cross attention of PyTorch, and a causal mask made by it."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerDecoderLayer(16, 2, 32, batch_first=True)

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.layer(x, memory, tgt_mask=mask, tgt_is_causal=True)


class Waves(nn.Module):
    """Sound to features and back: frames by unfold, a window, real FFT, phases, and the inverse."""

    def forward(self, x: Tensor) -> Tensor:
        frames = x.unfold(-1, 16, 8) * torch.hann_window(16)
        found = torch.fft.rfft(frames)
        kept = torch.where(found.abs() > 1, found, torch.zeros_like(found))
        return F.fold(torch.fft.irfft(kept).transpose(1, 2), (1, 64), (1, 16), stride=(1, 8))[:, 0, 0]


class Conformer(nn.Module):
    """The convolution module of a conformer: pointwise, gated, depthwise, batch norm, swish."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.first, self.last = nn.LayerNorm(8), nn.Conv1d(8, 16, 1), nn.Conv1d(8, 8, 1)
        self.depth, self.batch = nn.Conv1d(8, 8, 5, padding=2, groups=8), nn.BatchNorm1d(8)

    def forward(self, x: Tensor) -> Tensor:
        y = F.glu(self.first(self.norm(x).transpose(1, 2)), dim=1)
        return x + self.last(F.silu(self.batch(self.depth(y)))).transpose(1, 2)


class Packed(nn.Module):
    """An LSTM whose sequences have different lengths."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.LSTM(4, 5, batch_first=True)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        out, _ = self.layer(x)
        return out[torch.arange(x.shape[0]), lengths - 1]


class Cell(nn.Module):
    """A GRU cell in a loop of the sequence, its states are returned."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.head = nn.GRUCell(4, 6), nn.Linear(6, 2)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        state, out = x.new_zeros(x.shape[0], 6), []
        for part in x.unbind(1):
            state = self.cell(part, state)
            out.append(self.head(state))
        return torch.stack(out, 1), state


class Suppressed(nn.Module):
    """Non-maximum suppression written out: boxes by score, overlaps, kept by a loop of steps."""

    def forward(self, boxes: Tensor, scores: Tensor) -> tuple[Tensor, Tensor]:
        order = scores.argsort(descending=True)
        boxes = boxes[order]
        low, high = (
            torch.maximum(boxes[:, None, :2], boxes[None, :, :2]),
            torch.minimum(boxes[:, None, 2:], boxes[None, :, 2:]),
        )
        both = (high - low).clamp(min=0).prod(-1)
        area = (boxes[:, 2:] - boxes[:, :2]).prod(-1)
        over = both / (area[:, None] + area[None] - both) > 0.5
        kept = torch.ones(boxes.shape[0], dtype=torch.bool)
        for i in range(boxes.shape[0]):
            kept = kept & ~(over[i] & kept[i] & (torch.arange(boxes.shape[0]) > i))
        return order, kept


class Tower(nn.Module):
    """A recommender of two towers: embeddings are added up by their numbers, and compared by their angle."""

    def __init__(self) -> None:
        super().__init__()
        self.user, self.item = nn.Embedding(20, 8, max_norm=None), nn.EmbeddingBag(30, 8, mode="sum")

    def forward(self, user: Tensor, items: Tensor, offsets: Tensor) -> Tensor:
        return F.cosine_similarity(F.normalize(self.user(user), dim=-1), self.item(items, offsets)) / 0.07


class DeepFM(nn.Module):
    """Buckets of numbers, one-hot classes, and a bilinear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.edges: Tensor
        self.register_buffer("edges", torch.tensor([-1.0, 0.0, 1.0]))
        self.table, self.both = nn.Embedding(4, 5), nn.Bilinear(5, 3, 2)

    def forward(self, x: Tensor, kind: Tensor) -> Tensor:
        return self.both(self.table(torch.bucketize(x, self.edges)), F.one_hot(kind, 3).float())


class Mamba(nn.Module):
    """A selective scan by cumulative sums of logarithms."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(6, 6, 3, padding=2, groups=6)
        self.step, self.mix = nn.Linear(6, 6), nn.Linear(6, 6)

    def forward(self, x: Tensor) -> Tensor:
        y = F.silu(self.conv(x.transpose(1, 2))[..., : x.shape[1]]).transpose(1, 2)
        decay = -F.softplus(self.step(y)).cumsum(1)
        inner = (y * (-decay).exp()).cumsum(1) * decay.exp()
        return inner * torch.sigmoid(self.mix(x))


class Diffuse(nn.Module):
    """A step of a sampler: coefficients are gathered by the step, the guess is clamped, noise is given."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.linspace(0.99, 0.1, 10).cumprod(0))
        self.model = nn.Conv2d(3, 3, 3, padding=1, padding_mode="circular")

    def forward(self, x: Tensor, step: Tensor, noise: Tensor) -> Tensor:
        kept = self.kept[step].view(-1, 1, 1, 1)
        before = self.kept[(step - 1).clamp(min=0)].view(-1, 1, 1, 1)
        guess = ((x - (1 - kept).sqrt() * self.model(x)) / kept.sqrt()).clamp(-1, 1)
        spread = ((1 - before) / (1 - kept) * (1 - kept / before)).clamp(min=0).sqrt()
        return before.sqrt() * guess + spread * noise * (step > 0).view(-1, 1, 1, 1)


class Upscale(nn.Module):
    """Superresolution: reflected borders, pixel shuffle, and a residual in bicubic."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 12, 3, padding=1, padding_mode="replicate")

    def forward(self, x: Tensor) -> Tensor:
        y = self.last(F.elu(self.first(F.pad(x, (1, 1, 1, 1), mode="reflect"))))
        return F.pixel_shuffle(y, 2) + F.interpolate(x, scale_factor=2, mode="bicubic", align_corners=False)


class Video(nn.Module):
    """Convolutions of three dimensions, factorised, with adaptive pooling to an odd size."""

    def __init__(self) -> None:
        super().__init__()
        self.space, self.time = nn.Conv3d(3, 4, (1, 3, 3), padding=(0, 1, 1)), nn.Conv3d(4, 6, (3, 1, 1), (2, 1, 1))
        self.norm = nn.InstanceNorm3d(6, affine=True)

    def forward(self, x: Tensor) -> Tensor:
        return F.adaptive_avg_pool3d(self.norm(self.time(self.space(x).relu())), (2, 3, 2)).flatten(1)


class Loss(nn.Module):
    """A loss as an output: cross entropy with ignored labels and smoothing, and a triplet margin."""

    def forward(self, logits: Tensor, labels: Tensor, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        a, p, n = x.unbind(0)
        return (
            F.cross_entropy(logits, labels, ignore_index=-100, label_smoothing=0.1),
            F.triplet_margin_loss(a, p, n),
            F.smooth_l1_loss(a, p, beta=0.5) + F.kl_div(a.log_softmax(-1), p.softmax(-1), reduction="batchmean"),
        )


class Spectral(nn.Module):
    """Weights with spectral norm and with the newer weight norm."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.utils.parametrizations.spectral_norm(nn.Linear(6, 6))
        self.last = nn.utils.parametrizations.weight_norm(nn.Conv1d(6, 4, 3))

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.first(x).transpose(1, 2))


class Looped(nn.Module):
    """A loop that data ends."""

    def forward(self, x: Tensor) -> Tensor:
        def goes_on(n: Tensor, y: Tensor) -> Tensor:
            return (y.abs().sum() > 1) & (n < 20)

        def body(n: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
            return n + 1, y * 0.5

        return torch._higher_order_ops.while_loop(goes_on, body, (torch.zeros((), dtype=torch.int64), x))[1]


class Vmapped(nn.Module):
    """A function over the batch by vmap."""

    def forward(self, x: Tensor, w: Tensor) -> Tensor:
        return torch.func.vmap(lambda a, b: (a @ b).tanh().sum(-1), in_dims=(0, None))(x, w)


class Gaussian(nn.Module):
    """A Gaussian process: a kernel, its Cholesky factor, and triangular solves."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        kernel = torch.exp(-torch.cdist(x, x).square()) + 0.1 * torch.eye(x.shape[0])
        return torch.cholesky_solve(y, torch.linalg.cholesky(kernel))


class Sampled(nn.Module):
    """A variational encoder: noise is drawn in the model."""

    def __init__(self) -> None:
        super().__init__()
        self.into, self.out = nn.Linear(6, 8), nn.Linear(4, 6)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        mean, log = self.into(x).chunk(2, -1)
        return self.out(mean + torch.randn_like(mean) * (0.5 * log).exp()), (1 + log - mean.square() - log.exp()).sum()


class OpenLength(nn.Module):
    """A causal convolution and attention whose length and batch are open, positions from a table."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.conv = nn.Embedding(64, 8), nn.Conv1d(8, 8, 3)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.table(torch.arange(x.shape[1]))
        x = self.conv(F.pad(x.transpose(1, 2), (2, 0))).transpose(1, 2)
        mask = torch.full((x.shape[1], x.shape[1]), float("-inf")).triu(1)
        return self.attention(x, x, x, attn_mask=mask, need_weights=False)[0]


MODELS: dict[str, Any] = {
    "graph: a layer of messages": (
        GraphLayer,
        (torch.randn(5, 6), torch.tensor([[0, 1, 2, 3, 4, 0], [1, 2, 3, 4, 0, 2]])),
    ),
    "graph: attention over edges": (
        GraphAttention,
        (torch.randn(5, 6), torch.tensor([[0, 1, 2, 3, 4, 0], [1, 2, 3, 4, 0, 2]])),
    ),
    "points: nearest neighbours": (Points, (torch.randn(1, 9, 3),)),
    "text: rotary positions by complex numbers": (ComplexRotary, (torch.randn(1, 6, 2, 4).transpose(1, 2),)),
    "text: linear biases": (Alibi, (torch.randn(1, 5, 16),)),
    "text: shared keys": (Grouped, (torch.randn(1, 5, 16),)),
    "text: relative positions in buckets": (T5Bias, (torch.randn(1, 6, 4),)),
    "text: decoder": (Decoder, (torch.randn(1, 4, 16), torch.randn(1, 6, 16))),
    "audio: frames and back": (Waves, (torch.randn(1, 64),)),
    "audio: conformer": (Conformer, (torch.randn(1, 9, 8),)),
    "RNN: sequences of different lengths": (Packed, (torch.randn(3, 5, 4), torch.tensor([5, 2, 3]))),
    "RNN: a cell in a loop": (Cell, (torch.randn(2, 4, 4),)),
    "detection: suppression written out": (
        Suppressed,
        (
            torch.tensor([[0.0, 0, 4, 4], [1, 1, 5, 5], [0, 0, 4, 3.5], [6, 6, 9, 9]]),
            torch.tensor([0.9, 0.3, 0.8, 0.5]),
        ),
    ),
    "recommender: two towers": (
        Tower,
        (torch.tensor([1, 2]), torch.tensor([3, 4, 5, 6, 7]), torch.tensor([0, 2])),
    ),
    "recommender: buckets and classes": (DeepFM, (torch.randn(4), torch.tensor([0, 2, 1, 1]))),
    "state space: scan by sums": (Mamba, (torch.randn(1, 6, 6),)),
    "diffusion: a step of a sampler": (
        Diffuse,
        (torch.randn(2, 3, 6, 6), torch.tensor([4, 0]), torch.randn(2, 3, 6, 6)),
    ),
    "vision: superresolution": (Upscale, (torch.randn(1, 3, 7, 6),)),
    "vision: video": (Video, (torch.randn(1, 3, 5, 6, 5),)),
    "training: losses": (Loss, (torch.randn(4, 5), torch.tensor([1, -100, 0, 3]), torch.randn(3, 4, 6))),
    "parametrised weights": (Spectral, (torch.randn(1, 7, 6),)),
    "control flow: a loop that data ends": (Looped, (torch.randn(4) * 3,)),
    "functions: vmap": (Vmapped, (torch.randn(3, 4, 5), torch.randn(5, 2))),
    "linear algebra: Gaussian process": (Gaussian, (torch.randn(5, 2), torch.randn(5, 1))),
    "random: variational encoder": (Sampled, (torch.randn(3, 6),)),
    "dynamic shapes: causal attention": (
        OpenLength,
        (torch.randn(2, 5, 8),),
        {"x": {0: Dim("b"), 1: Dim("t", min=2, max=64)}},
    ),
}
