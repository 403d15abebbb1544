"""Evaluate Relax operators that importers of TVM seldom make, with PyTorch, by TVM's documentation of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from fuzzer.lanes.evaluated.common import Function, axes_of, dtype_of, ints, require
from fuzzer.lanes.evaluated.resized import resized
from generators.relax.ops.layout import IndexMap


def _summed_to(x: Tensor, shape: Sequence[int]) -> Tensor:
    """The sum over the dimensions along which the shape broadcasts to that of x."""
    return x.sum_to_size(tuple(shape)) if tuple(shape) != tuple(x.shape) else x


def _rms_norm(attrs: Any, x: Tensor, weight: Tensor) -> Tensor:
    """x / sqrt(mean(x^2) + epsilon) * weight, half precision in float32."""
    axes = ints(attrs.axes)
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    normal = wide / ((wide * wide).mean(axes, keepdim=True) + float(attrs.epsilon)).sqrt()
    return (normal * weight.to(normal.dtype)).to(x.dtype)


def _reverse_sequence(attrs: Any, x: Tensor, lengths: Tensor) -> Tensor:
    """The first elements of each sequence in the other order, as many as its length says."""
    along, batch = int(attrs.seq_axis) % x.dim(), int(attrs.batch_axis) % x.dim()
    moved = x.movedim((batch, along), (0, 1))
    count = moved.shape[1]
    places = torch.arange(count).expand(moved.shape[0], count)
    length = lengths.long().unsqueeze(1)
    order = torch.where(places < length, length - 1 - places, places)
    rows = torch.arange(moved.shape[0]).unsqueeze(1)
    return moved[rows, order].movedim((0, 1), (batch, along))


def _affine_grid(attrs: Any, matrix: Tensor, size: Sequence[int]) -> Tensor:
    """The points in normalised coordinates, as channels."""
    points = functional.affine_grid(matrix, [matrix.shape[0], 1, *size], bool(attrs.align_corners))
    return points.movedim(-1, 1)


def _grid_sample(attrs: Any, x: Tensor, grid: Tensor) -> Tensor:
    """The coordinates are channels of the grid."""
    require(str(attrs.layout) == "NCHW", "images in another layout")
    grid = grid.movedim(1, -1)
    return functional.grid_sample(x, grid, str(attrs.method), str(attrs.padding_mode), bool(attrs.align_corners))


def _nll_loss(attrs: Any, x: Tensor, targets: Tensor, *weights: Tensor) -> Tensor:
    weight = weights[0] if weights else None
    ignored, reduction = int(attrs.ignore_index), str(attrs.reduction)
    return functional.nll_loss(x, targets.long(), weight, ignore_index=ignored, reduction=reduction)


def _cross_entropy(attrs: Any, x: Tensor, labels: Tensor) -> Tensor:
    """-sum(x * labels), divided by the size of the batch where there is one."""
    total = -(x * labels).sum()
    return total / x.shape[0] if x.dim() > 1 else total


def _along(attrs: Any, x: Tensor, each: Tensor) -> Tensor:
    """A parameter of each place along the axis, or one of all, so that it broadcasts."""
    if each.numel() == 1:
        return each.reshape([1] * x.dim())
    axis = int(attrs.axis) % x.dim()
    return each.reshape([x.shape[axis] if place == axis else 1 for place in range(x.dim())])


def _quantize(attrs: Any, x: Tensor, scale: Tensor, zero: Tensor) -> Tensor:
    """clamp(round(x / scale) + zero), as floats."""
    dtype = dtype_of(attrs.out_dtype)
    require(not dtype.is_floating_point, "a grid of floats")
    bounds = torch.iinfo(dtype)
    made = (x / _along(attrs, x, scale)).round() + _along(attrs, x, zero)
    return made.clamp(bounds.min, bounds.max).to(dtype)


def _dequantize(attrs: Any, x: Tensor, scale: Tensor, zero: Tensor) -> Tensor:
    made = _along(attrs, x, scale) * (x.int() - _along(attrs, x, zero).int())
    return made.to(dtype_of(attrs.out_dtype))


def _median(attrs: Any, x: Tensor) -> Tensor | tuple[Tensor, ...]:
    """The element in the middle, the smaller one of two, as in PyTorch; along one axis with its place."""
    axes, keeps = axes_of(attrs.axis, x), bool(attrs.keepdims)
    if attrs.axis is not None and len(axes) == 1:
        found = x.median(axes[0], keepdim=keeps)
        return found.values, found.indices
    rest = [axis for axis in range(x.dim()) if axis not in [each % x.dim() for each in axes]]
    flat = x.permute([*rest, *(axis for axis in range(x.dim()) if axis not in rest)]).reshape(
        [*(x.shape[axis] for axis in rest), -1]
    )
    made = flat.median(-1).values
    return made.reshape([x.shape[axis] if axis in rest else 1 for axis in range(x.dim())]) if keeps else made


def _layout_transform(attrs: Any, x: Tensor) -> Tensor:
    """Axes that are cut into blocks are padded at their end."""
    require(isinstance(attrs.index_map, str), "a map of TVM")  # that of a case is a text
    made = IndexMap.parse(attrs.index_map)
    blocks = made.blocks
    for axis, block in blocks.items():
        missing = -x.shape[axis] % block
        if missing:
            require(attrs.pad_value is not None, "padding with any number")
            shape = [missing if place == axis else size for place, size in enumerate(x.shape)]
            x = torch.cat((x, torch.full(shape, attrs.pad_value, dtype=x.dtype)), axis)
    places: dict[tuple[int, str], int] = {}
    parts: list[int] = []
    for axis, size in enumerate(x.shape):
        for how in ("//", "%") if axis in blocks else ("",):
            places[axis, how] = len(parts)
            block = blocks.get(axis, 1)
            parts.append(size if not how else block if how == "%" else size // block)
    return x.reshape(parts).permute([places[axis, how] for axis, how, _ in made.axes])


def _hamming_window(attrs: Any, size: Any, periodic: Any, alpha: Any, beta: Any) -> Tensor:
    """alpha - beta cos(2 pi n / (size - 1)); a periodic one is that of one more number without its last."""
    dtype = dtype_of(attrs.dtype)
    return torch.hamming_window(int(size), bool(periodic), float(alpha), float(beta), dtype=dtype)


def _dynamic_strided_slice(attrs: Any, x: Tensor, begin: Any, end: Any, strides: Any) -> Tensor:
    """Slice as Python does, backwards too."""
    for axis, (first, last, step) in enumerate(zip(ints(begin), ints(end), ints(strides), strict=True)):
        places = range(*slice(first, last, step).indices(x.shape[axis]))
        x = x.index_select(axis, torch.tensor(list(places), dtype=torch.int64))
    return x


def _eye_like(attrs: Any, x: Tensor, k: int) -> Tensor:
    diagonal = torch.ones(x.shape).triu(int(k)).tril(int(k))
    return diagonal.to(x.dtype if attrs.dtype is None else dtype_of(attrs.dtype))


FURTHER: dict[str, Function] = {
    "collapse_sum_to": lambda attrs, x, shape: _summed_to(x, shape),
    "collapse_sum_like": lambda attrs, x, target: _summed_to(x, target.shape),
    "nn.batch_flatten": lambda attrs, x: x.flatten(1),
    "nn.rms_norm": _rms_norm,
    "quantize": _quantize,
    "dequantize": _dequantize,
    "median": _median,
    "layout_transform": _layout_transform,
    "hamming_window": _hamming_window,
    "dynamic_strided_slice": _dynamic_strided_slice,
    "size": lambda attrs, x: torch.tensor(x.numel()),
    "image.resize2d": resized(2),
    "image.resize3d": resized(3),
    "eye_like": _eye_like,
    "image.affine_grid": _affine_grid,
    "image.grid_sample": _grid_sample,
    "nn.cross_entropy_with_logits": _cross_entropy,
    "nn.nll_loss": _nll_loss,
    "reverse_sequence": _reverse_sequence,
}
