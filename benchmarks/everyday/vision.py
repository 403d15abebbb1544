"""Everyday models of images, detection and diffusion."""

from __future__ import annotations

import torch
from torch import Tensor, nn

F = nn.functional


class Residual(nn.Module):
    """A block of ResNet."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(8, 8, 3, padding=1, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.Conv2d(8, 8, 3, padding=1, bias=False),
            nn.BatchNorm2d(8),
        )

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x + self.body(x))


class Inverted(nn.Module):
    """A block of MobileNetV3: depthwise convolution, squeeze and excitation."""

    def __init__(self) -> None:
        super().__init__()
        self.expand, self.depth, self.project = (
            nn.Conv2d(6, 24, 1),
            nn.Conv2d(24, 24, 5, 2, 2, groups=24),
            nn.Conv2d(24, 8, 1),
        )
        self.squeeze, self.excite = nn.Conv2d(24, 6, 1), nn.Conv2d(6, 24, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = F.hardswish(self.depth(F.hardswish(self.expand(x))))
        scale = F.hardsigmoid(self.excite(F.relu(self.squeeze(F.adaptive_avg_pool2d(x, 1)))))
        return self.project(x * scale)


class Patches(nn.Module):
    """A small vision transformer with a class token."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, 16, 4, 4)
        self.token, self.place = nn.Parameter(torch.randn(1, 1, 16)), nn.Parameter(torch.randn(1, 17, 16))
        self.layer = nn.TransformerEncoderLayer(16, 4, 32, activation="gelu", batch_first=True, norm_first=True)
        self.head = nn.Linear(16, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), 1) + self.place
        return self.head(self.layer(x)[:, 0])


class UNet(nn.Module):
    """Down, up, and a skip connection; the size comes from the other input."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.up, self.out = nn.Conv2d(3, 8, 3, 2, 1), nn.ConvTranspose2d(8, 8, 2, 2), nn.Conv2d(11, 4, 1)

    def forward(self, x: Tensor) -> Tensor:
        inner = F.interpolate(self.up(F.silu(self.down(x))), size=x.shape[-2:], mode="bilinear", align_corners=False)
        return self.out(torch.cat((inner, x), 1)).argmax(1)


class ConvNext(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.depth, self.norm = nn.Conv2d(8, 8, 7, padding=3, groups=8), nn.LayerNorm(8)
        self.wide, self.narrow = nn.Linear(8, 32), nn.Linear(32, 8)
        self.scale = nn.Parameter(torch.full((8,), 0.1))

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(self.depth(x).permute(0, 2, 3, 1))
        y = self.scale * self.narrow(F.gelu(self.wide(y), approximate="tanh"))
        return x + y.permute(0, 3, 1, 2)


class Windows(nn.Module):
    """Shifted windows of Swin, with a mask."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(8, 24)
        self.bias = nn.Parameter(torch.randn(2, 16, 16))

    def forward(self, x: Tensor) -> Tensor:
        b, h, w, c = x.shape
        x = (
            torch.roll(x, (-2, -2), (1, 2))
            .view(b, h // 4, 4, w // 4, 4, c)
            .permute(0, 1, 3, 2, 4, 5)
            .reshape(-1, 16, c)
        )
        q, k, v = self.qkv(x).reshape(-1, 16, 3, 2, c // 2).permute(2, 0, 3, 1, 4).unbind(0)
        x = ((q @ k.transpose(-2, -1) * 0.5 + self.bias).softmax(-1) @ v).transpose(1, 2).reshape(-1, 16, c)
        x = x.view(b, h // 4, w // 4, 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)
        return torch.roll(x, (2, 2), (1, 2))


class Boxes(nn.Module):
    """The head of a detector: boxes of a grid, those above a threshold."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Conv2d(4, 6, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = self.head(x).flatten(2).transpose(1, 2).sigmoid()
        h, w = x.shape[-2:]
        ys, xs = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        centre = y[..., :2] * 2 - 0.5 + torch.stack((xs, ys), -1).reshape(1, -1, 2)
        score, label = y[..., 4:].max(-1)
        return torch.cat((centre - y[..., 2:4], centre + y[..., 2:4]), -1), torch.where(score > 0.5, label, -1)


class Best(nn.Module):
    """The ten best boxes, gathered."""

    def forward(self, boxes: Tensor, scores: Tensor) -> tuple[Tensor, Tensor]:
        best, place = scores.topk(10, 1)
        return boxes.gather(1, place[..., None].expand(-1, -1, 4)).clamp(0, 1), best


class Aligned(nn.Module):
    """A spatial transformer: a grid, and samples at its places."""

    def __init__(self) -> None:
        super().__init__()
        self.where = nn.Linear(3 * 8 * 8, 6)

    def forward(self, x: Tensor) -> Tensor:
        grid = F.affine_grid(self.where(x.flatten(1)).view(-1, 2, 3), list(x.shape), align_corners=False)
        return F.grid_sample(x, grid, align_corners=False)


class Timed(nn.Module):
    """A block of a diffusion model: the embedding of the step, group norm, self attention."""

    def __init__(self) -> None:
        super().__init__()
        self.time, self.norm, self.conv = nn.Linear(8, 16), nn.GroupNorm(4, 16), nn.Conv2d(16, 16, 3, padding=1)
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x: Tensor, step: Tensor) -> Tensor:
        angles = step[:, None].float() * torch.exp(-torch.arange(4) * 2.3)
        x = self.conv(F.silu(self.norm(x))) + self.time(torch.cat((angles.sin(), angles.cos()), -1))[..., None, None]
        tokens = x.flatten(2).transpose(1, 2)
        return x + self.attention(tokens, tokens, tokens, need_weights=False)[0].transpose(1, 2).view_as(x)


MODELS = {
    "vision: residual block": (Residual, (torch.randn(1, 8, 10, 10),)),
    "vision: inverted residual": (Inverted, (torch.randn(1, 6, 12, 12),)),
    "vision: transformer of patches": (Patches, (torch.randn(1, 3, 16, 16),)),
    "vision: U-Net": (UNet, (torch.randn(1, 3, 9, 11),)),
    "vision: ConvNeXt block": (ConvNext, (torch.randn(1, 8, 9, 9),)),
    "vision: shifted windows": (Windows, (torch.randn(1, 8, 8, 8),)),
    "detection: boxes of a grid": (Boxes, (torch.randn(1, 4, 5, 6),)),
    "detection: the best boxes": (Best, (torch.rand(1, 40, 4), torch.rand(1, 40))),
    "vision: spatial transformer": (Aligned, (torch.randn(1, 3, 8, 8),)),
    "diffusion: block with a step": (Timed, (torch.randn(1, 16, 6, 6), torch.tensor([7]))),
}
