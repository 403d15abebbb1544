"""Operators with a variance, as an honest implementation in one pass over the data computes them: E[x^2] - E[x]^2.

PyTorch updates a running mean and spread (Welford, 1962). Where the spread is small against the mean, one pass loses
digits that no unit in the last place of an operand accounts for. So does scaling and shifting by one fused
multiply-add, where all numbers are close to their mean. It is poor numerics, not a miscompilation: the envelope
includes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from generators.graph import Attrs

Tensor = torch.Tensor
OnePass = Callable[[Sequence[Tensor], Attrs], Tensor]


def _moments(x: Tensor, dims: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Mean and biased variance over `dims`, which are kept."""
    if not dims:  # which PyTorch takes for all
        return x, torch.zeros_like(x)
    mean = x.mean(tuple(dims), keepdim=True)
    return mean, ((x * x).mean(tuple(dims), keepdim=True) - mean * mean).clamp(min=0)


def _normalised(x: Tensor, dims: Sequence[int], attrs: Attrs) -> Tensor:
    mean, variance = _moments(x, dims)
    scale = torch.rsqrt(variance + float(str(attrs["eps"])))
    shift = (mean * scale).double() * (1 + torch.finfo(x.dtype).eps)  # as far off as rounding leaves it
    return (x.double() * scale.double() - shift).to(x.dtype)


def _affine(x: Tensor, weight: Tensor | None, bias: Tensor | None, shape: Sequence[int]) -> Tensor:
    """Scale and shift, where there are any."""
    if weight is not None:
        x = x * weight.reshape(tuple(shape))
    return x if bias is None else x + bias.reshape(tuple(shape))


def _parameters(rest: Sequence[Tensor]) -> tuple[Tensor | None, Tensor | None]:
    weight, bias, *_ = (*rest, None, None)
    return weight, bias


def _layer_norm(args: Sequence[Tensor], attrs: Attrs) -> Tensor:
    x, *rest = args
    shape = attrs["normalized_shape"]
    assert isinstance(shape, tuple)
    return _affine(_normalised(x, range(-len(shape), 0), attrs), *_parameters(rest), x.shape[-len(shape) :])


def _group_norm(args: Sequence[Tensor], attrs: Attrs) -> Tensor:
    x, *rest = args
    groups = int(str(attrs["num_groups"]))
    grouped = x.reshape(x.shape[0], groups, x.numel() // max(x.shape[0] * groups, 1))
    return _over_channels(_normalised(grouped, (-1,), attrs).reshape(x.shape), rest)


def _batch_norm(args: Sequence[Tensor], attrs: Attrs) -> Tensor:
    x, *rest = args
    return _over_channels(_normalised(x, (0, *range(2, x.dim())), attrs), rest)


def _instance_norm(args: Sequence[Tensor], attrs: Attrs) -> Tensor:
    x, *rest = args
    return _over_channels(_normalised(x, range(2, x.dim()), attrs), rest)


def _over_channels(x: Tensor, rest: Sequence[Tensor]) -> Tensor:
    return _affine(x, *_parameters(rest), (-1, *(1,) * (x.dim() - 2)))


def _bias_alone(function: OnePass) -> OnePass:
    """The row that has no weight: as if it were all ones."""
    return lambda args, attrs: function((args[0], torch.ones_like(args[1]), args[1]), attrs)


def _var(args: Sequence[Tensor], attrs: Attrs) -> Tensor:
    (x,), dim, correction = args, attrs["dim"], attrs["correction"]
    assert isinstance(correction, int)
    dims = dim if isinstance(dim, tuple) else () if dim is None else (dim,)
    axes = sorted({int(str(axis)) % max(x.dim(), 1) for axis in dims} or range(x.dim())) if x.dim() else []
    count = 1
    for axis in axes:
        count *= x.shape[axis]
    variance = _moments(x, axes)[1] * (count / (count - correction))
    if attrs["keepdim"]:
        return variance
    return variance.reshape([size for axis, size in enumerate(x.shape) if axis not in axes])


ONE_PASS: dict[str, OnePass] = {
    "layer_norm": _layer_norm,
    "layer_norm_bias": _bias_alone(_layer_norm),
    "group_norm": _group_norm,
    "group_norm_bias": _bias_alone(_group_norm),
    "batch_norm_batch_stats": _batch_norm,
    "instance_norm": _instance_norm,
    "var": _var,
    "std": lambda args, attrs: _var(args, attrs).sqrt(),
}
