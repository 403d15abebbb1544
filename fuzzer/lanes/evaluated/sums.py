"""Evaluate Relax operators that compute sums, with PyTorch: matrix products, convolutions, pools, norms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn import functional

from fuzzer.lanes.evaluated.common import Function, dtype_of, ints, plain, require


def _matmul(attrs: Any, x: Tensor, y: Tensor) -> Tensor:
    """TVM's legalization converts the operands to `out_dtype`, so products of integers do not wrap around before."""
    wanted = str(attrs.out_dtype)
    if wanted not in ("", "void", "None"):
        x, y = x.to(dtype_of(wanted)), y.to(dtype_of(wanted))
    return torch.matmul(x, y)


def _pairs(padding: Any, rank: int) -> list[int]:
    """Return amounts for `functional.pad` (last axis first), from one number, or one for each axis or end."""
    ends = ints(padding)
    if len(ends) == 1:
        ends = ends * 2 * rank
    if len(ends) == rank:
        ends = ends * 2
    low, high = ends[:rank], ends[rank:]
    return [each for axis in reversed(range(rank)) for each in (low[axis], high[axis])]


_LAYOUTS = {1: ("NCW", "OIW"), 2: ("NCHW", "OIHW"), 3: ("NCDHW", "OIDHW")}


def _conv(rank: int) -> Function:
    def call(attrs: Any, x: Tensor, weight: Tensor) -> Tensor:
        layout = str(attrs.data_layout), str(attrs.kernel_layout)
        require(layout == _LAYOUTS[rank] and str(attrs.out_layout) == layout[0], "a convolution in another layout")
        x = functional.pad(x, _pairs(attrs.padding, rank))
        function = (functional.conv1d, functional.conv2d, functional.conv3d)[rank - 1]
        found: Tensor = function(
            x, weight, None, tuple(ints(attrs.strides)), 0, tuple(ints(attrs.dilation)), int(attrs.groups)
        )
        return found

    return call


def _conv_transpose(rank: int) -> Function:
    def call(attrs: Any, x: Tensor, weight: Tensor) -> Tensor:
        kernel = _LAYOUTS[rank][1].replace("OI", "IO")
        require((str(attrs.data_layout), str(attrs.kernel_layout)) == (_LAYOUTS[rank][0], kernel), "another layout")
        ends = _pairs(attrs.padding, rank)
        require(ends[::2] == ends[1::2], "a transposed convolution cut unevenly")
        function = (functional.conv_transpose1d, functional.conv_transpose2d, functional.conv_transpose3d)[rank - 1]
        strides, dilation, extra = (tuple(ints(each)) for each in (attrs.strides, attrs.dilation, attrs.output_padding))
        found: Tensor = function(
            x, weight, None, strides, tuple(reversed(ends[::2])), extra, int(attrs.groups), dilation
        )
        return found

    return call


def _max_pool(rank: int) -> Function:
    def call(attrs: Any, x: Tensor) -> Tensor:
        require(str(attrs.layout) == _LAYOUTS[rank][0], "a pool in another layout")
        require(not attrs.ceil_mode and x.is_floating_point(), "a pool that rounds up")
        x = functional.pad(x, _pairs(attrs.padding, rank), value=float("-inf"))
        function = (functional.max_pool1d, functional.max_pool2d, functional.max_pool3d)[rank - 1]
        window, strides, dilation = (tuple(ints(each)) for each in (attrs.pool_size, attrs.strides, attrs.dilation))
        found: Tensor = function(x, window, strides, 0, dilation)
        return found

    return call


def _avg_pool(rank: int) -> Function:
    def call(attrs: Any, x: Tensor) -> Tensor:
        ends = _pairs(attrs.padding, rank)
        require(str(attrs.layout) == _LAYOUTS[rank][0] and set(ints(attrs.dilation)) == {1}, "a pool in another layout")
        require(ends[::2] == ends[1::2], "a pool padded unevenly")
        function = (functional.avg_pool1d, functional.avg_pool2d, functional.avg_pool3d)[rank - 1]
        window, strides = (tuple(ints(each)) for each in (attrs.pool_size, attrs.strides))
        padding = tuple(reversed(ends[::2]))
        found: Tensor = function(x, window, strides, padding, bool(attrs.ceil_mode), bool(attrs.count_include_pad))
        return found

    return call


def _adaptive(rank: int) -> Function:
    def call(attrs: Any, x: Tensor) -> Tensor:
        require(attrs.output_size is not None, "a pool to its own size")
        pools = functional.adaptive_avg_pool1d, functional.adaptive_avg_pool2d, functional.adaptive_avg_pool3d
        sizes, function = ints(attrs.output_size), cast("Callable[..., Tensor]", pools[rank - 1])
        return function(x, tuple(sizes if len(sizes) == rank else sizes * rank))

    return call


def _pad(attrs: Any, x: Tensor, *value: Any) -> Tensor:
    ends, mode = ints(attrs.pad_width), str(attrs.pad_mode)
    last_first = [each for axis in reversed(range(x.dim())) for each in ends[2 * axis : 2 * axis + 2]]
    require(mode == "constant", f"padding by {mode}")
    fill = value[0] if value else attrs.pad_value
    return functional.pad(x, last_first, value=fill.item() if isinstance(fill, Tensor) else float(fill))


def _shaped(each: Tensor, axes: Sequence[int], x: Tensor) -> Tensor:
    """Reshape a parameter of some axes of x so that it broadcasts."""
    return each.reshape([x.shape[axis] if axis in axes else 1 for axis in range(x.dim())])


def _wide(norm: Function) -> Function:
    """A normalisation that computes half precision in float32, as TVM's kernels do: an epsilon of 1e-12 is no zero."""

    def call(attrs: Any, x: Tensor, *params: Tensor) -> Tensor:
        if x.dtype not in (torch.float16, torch.bfloat16):
            return cast(Tensor, norm(attrs, x, *params))
        return cast(Tensor, norm(attrs, x.float(), *(each.float() for each in params))).to(x.dtype)

    return call


def _normalised(x: Tensor, axes: list[int], attrs: Any) -> Tensor:
    mean, variance = x.mean(axes, keepdim=True), x.var(axes, correction=0, keepdim=True)
    return (x - mean) / (variance + float(attrs.epsilon)).sqrt()


def _affine(x: Tensor, scale: Tensor, shift: Tensor, axes: list[int], attrs: Any) -> Tensor:
    x = x * _shaped(scale, axes, x) if attrs.scale else x
    return x + _shaped(shift, axes, x) if attrs.center else x


def _layer_norm(attrs: Any, x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    axes = [axis % x.dim() for axis in ints(attrs.axes)]
    return _affine(_normalised(x, axes, attrs), scale, shift, axes, attrs)


def _group_norm(attrs: Any, x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    axes, channel = [axis % x.dim() for axis in ints(attrs.axes)], int(attrs.channel_axis) % x.dim()
    groups = int(attrs.num_groups)
    require(channel == 1 and axes == list(range(2, x.dim())), "a group norm in another layout")
    grouped = x.reshape(x.shape[0], groups, -1)
    return _affine(_normalised(grouped, [2], attrs).reshape(x.shape), scale, shift, [1], attrs)


def _instance_norm(attrs: Any, x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    axes, channel = [axis % x.dim() for axis in ints(attrs.axes)], int(attrs.channel_axis) % x.dim()
    return _affine(_normalised(x, axes, attrs), scale, shift, [channel], attrs)


def _batch_norm(
    attrs: Any, x: Tensor, scale: Tensor, shift: Tensor, mean: Tensor, variance: Tensor
) -> tuple[Tensor, ...]:
    require(not attrs.training, "batch norm by the batch's own statistics")
    axes = [int(attrs.axis) % x.dim()]

    def norm(_: Any, x: Tensor, scale: Tensor, shift: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
        normal = (x - _shaped(mean, axes, x)) / (_shaped(variance, axes, x) + float(attrs.epsilon)).sqrt()
        return _affine(normal, scale, shift, axes, attrs)

    return _wide(norm)(attrs, x, scale, shift, mean, variance), mean, variance


def _attention(attrs: Any, q: Tensor, k: Tensor, v: Tensor, *bias: Tensor) -> Tensor:
    require(attrs.causal_mask is None and attrs.window_size is None, "masked attention")
    q, k, v = (each.transpose(1, 2) for each in (q, k, v))
    scale = float(attrs.scale) if attrs.scale is not None else q.shape[-1] ** -0.5
    scores = q @ k.transpose(-1, -2) * scale
    scores = scores + bias[0] if bias else scores
    return (scores.softmax(-1) @ v).transpose(1, 2)


SUMS: dict[str, Function] = {
    "matmul": _matmul,
    "einsum": lambda attrs, parts: torch.einsum(str(attrs.subscripts), *parts),
    "outer": plain(torch.outer),
    **{f"nn.conv{rank}d": _conv(rank) for rank in (1, 2, 3)},
    **{f"nn.conv{rank}d_transpose": _conv_transpose(rank) for rank in (1, 2, 3)},
    **{f"nn.max_pool{rank}d": _max_pool(rank) for rank in (1, 2, 3)},
    **{f"nn.avg_pool{rank}d": _avg_pool(rank) for rank in (1, 2, 3)},
    **{f"nn.adaptive_avg_pool{rank}d": _adaptive(rank) for rank in (1, 2, 3)},
    "nn.pad": _pad,
    "nn.layer_norm": _wide(_layer_norm),
    "nn.group_norm": _wide(_group_norm),
    "nn.instance_norm": _wide(_instance_norm),
    "nn.batch_norm": _batch_norm,
    "nn.attention": _attention,
    "nn.attention_bias": _attention,
    "nn.softmax": lambda attrs, x: x.softmax(int(attrs.axis)),
    "nn.log_softmax": lambda attrs, x: x.log_softmax(int(attrs.axis)),
    "nn.leakyrelu": lambda attrs, x: functional.leaky_relu(x, float(attrs.alpha)),
    "nn.prelu": lambda attrs, x, slope: torch.where(x > 0, x, x * _shaped(slope, [int(attrs.axis) % x.dim()], x)),
    "nn.softplus": lambda attrs, x: functional.softplus(x, float(attrs.beta), float(attrs.threshold)),
    "nn.dropout": lambda attrs, x: (x, torch.ones_like(x)),
    "nn.pixel_shuffle": lambda attrs, x: functional.pixel_shuffle(x, int(attrs.upscale_factor)),
}
