"""Operators with a variance, as a correct implementation in one pass over the data computes them: E[x^2] - E[x]^2.

PyTorch usually updates a running mean and variance (Welford, 1962). Its group_norm makes one pass where the memory
format is channels-last. Where the variance is small compared with the mean, one pass loses digits, and pushed operands
do not show this loss. The same holds for scaling and shifting with one fused multiply-add, where all numbers are close
to their mean. This is poor numerics but not a miscompilation, so the envelope includes it.

Both sums get the largest error that rounding allows: E[x] upwards, E[x^2] upwards (direction 1) or downwards (-1). The
error of one order of the terms would be a matter of chance. Pushed operands do not show the error either: if all are
pushed alike, the mean moves with them, and otherwise it hardly moves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from fuzzer.lanes.envelope.sizes import rounding_of_a_sum
from generators.graph import Attrs

Tensor = torch.Tensor
Single = Callable[[Sequence[Tensor], Attrs, int], Tensor]
OnePass = Callable[[Sequence[Tensor], Attrs, int], tuple[Tensor, ...]]
"""From a call's operands and attributes, and the direction of E[x^2], to its results."""


def moments(x: Tensor, dims: Sequence[int], direction: int) -> tuple[Tensor, Tensor, float]:
    """Return mean and biased variance over `dims`, which are kept, and the relative error of such a sum."""
    if not dims:  # PyTorch would reduce all dimensions
        return x, torch.zeros_like(x), 0.0
    mean, square = x.mean(tuple(dims), keepdim=True), (x * x).mean(tuple(dims), keepdim=True)
    eps, terms = torch.finfo(x.dtype).eps, x.numel() // max(mean.numel(), 1)
    off = max(eps, rounding_of_a_sum(eps, terms))
    return mean, (square - mean * mean + direction * off * square).clamp(min=0), off


def normalised(x: Tensor, dims: Sequence[int], eps: float, direction: int) -> Tensor:
    """Subtract the mean and divide by the standard deviation, with one fused multiply-add that is off."""
    mean, variance, off = moments(x, dims, direction)
    scale = torch.rsqrt(variance + eps)
    shift = (mean * scale).double() * (1 + off)
    return (x.double() * scale.double() - shift).to(x.dtype)


def _eps(attrs: Attrs) -> float:
    return float(str(attrs["eps"]))


def affine(x: Tensor, weight: Tensor | None, bias: Tensor | None, shape: Sequence[int]) -> Tensor:
    """Scale and shift by the parameters that are given."""
    if weight is not None:
        x = x * weight.reshape(tuple(shape))
    return x if bias is None else x + bias.reshape(tuple(shape))


def _parameters(rest: Sequence[Tensor]) -> tuple[Tensor | None, Tensor | None]:
    weight, bias, *_ = (*rest, None, None)
    return weight, bias


def _layer_norm(args: Sequence[Tensor], attrs: Attrs, direction: int) -> Tensor:
    x, *rest = args
    shape = attrs["normalized_shape"]
    assert isinstance(shape, tuple)
    return affine(
        normalised(x, range(-len(shape), 0), _eps(attrs), direction), *_parameters(rest), x.shape[-len(shape) :]
    )


def _group_norm(args: Sequence[Tensor], attrs: Attrs, direction: int) -> Tensor:
    x, *rest = args
    groups = attrs["num_groups"]
    assert isinstance(groups, int)
    grouped = x.reshape(x.shape[0], groups, x.numel() // max(x.shape[0] * groups, 1))
    return _over_channels(normalised(grouped, (-1,), _eps(attrs), direction).reshape(x.shape), rest)


def _batch_norm(args: Sequence[Tensor], attrs: Attrs, direction: int) -> Tensor:
    x, *rest = args
    return _over_channels(normalised(x, _all_but_channels(x), _eps(attrs), direction), rest)


def _batch_norm_training(args: Sequence[Tensor], attrs: Attrs, direction: int) -> tuple[Tensor, ...]:
    """Return the result and the updated running statistics."""
    x, *running = args[:3]
    momentum, count = float(str(attrs["momentum"])), x.numel() // max(x.shape[1], 1)
    mean, variance = (moment.flatten() for moment in moments(x, _all_but_channels(x), direction)[:2])
    statistics = zip(running, (mean, variance * (count / (count - 1))), strict=True)
    moved = [(1 - momentum) * old + momentum * new for old, new in statistics]
    return _batch_norm((x, *args[3:]), attrs, direction), *moved


def _all_but_channels(x: Tensor) -> tuple[int, ...]:
    return (0, *range(2, x.dim()))


def _instance_norm(args: Sequence[Tensor], attrs: Attrs, direction: int) -> Tensor:
    x, *rest = args
    return _over_channels(normalised(x, range(2, x.dim()), _eps(attrs), direction), rest)


def _over_channels(x: Tensor, rest: Sequence[Tensor]) -> Tensor:
    return affine(x, *_parameters(rest), (-1, *(1,) * (x.dim() - 2)))


def _bias_alone(function: Single) -> Single:
    """Adapt a function to operators without a weight: the weight is all ones."""
    return lambda args, *more: function((args[0], torch.ones_like(args[1]), args[1]), *more)


def _with_statistics(function: Single, dims: Callable[[Tensor, Attrs], Sequence[int]]) -> OnePass:
    """Add mean and 1 / sqrt(variance + eps), in the shape of the moments over `dims`."""

    def both(args: Sequence[Tensor], attrs: Attrs, direction: int) -> tuple[Tensor, ...]:
        mean, variance, _ = moments(args[0], dims(args[0], attrs), direction)
        return function(args, attrs, direction), mean, torch.rsqrt(variance + float(str(attrs["eps"])))

    return both


def _native_batch_norm(args: Sequence[Tensor], attrs: Attrs, direction: int) -> tuple[Tensor, ...]:
    result, *moments = _with_statistics(_batch_norm, lambda x, _: _all_but_channels(x))(args, attrs, direction)
    return result, *(moment.flatten() for moment in moments)


def _native_batch_norm_training(args: Sequence[Tensor], attrs: Attrs, direction: int) -> tuple[Tensor, ...]:
    statistics = _native_batch_norm((args[0], *args[3:]), attrs, direction)
    return *statistics, *_batch_norm_training(args, attrs, direction)[1:]


def _native_group_norm(args: Sequence[Tensor], attrs: Attrs, direction: int) -> tuple[Tensor, ...]:
    x, group = args[0], attrs["group"]
    assert isinstance(group, int)
    mean, variance, _ = moments(x.reshape(x.shape[0], group, -1), (-1,), direction)
    scale = torch.rsqrt(variance + float(str(attrs["eps"])))
    return _group_norm(args, {**attrs, "num_groups": group}, direction), mean.squeeze(-1), scale.squeeze(-1)


def _normalised_dims(x: Tensor, attrs: Attrs) -> Sequence[int]:
    shape = attrs["normalized_shape"]
    assert isinstance(shape, tuple)
    return range(-len(shape), 0)


def _var_mean(args: Sequence[Tensor], attrs: Attrs, direction: int) -> tuple[Tensor, Tensor]:
    (x,), dim, correction = args, attrs["dim"], attrs["correction"]
    assert isinstance(correction, int)
    dims = dim if isinstance(dim, tuple) else () if dim is None else (dim,)
    named = {axis % max(x.dim(), 1) for axis in dims if isinstance(axis, int)}
    axes = sorted(named or range(x.dim())) if x.dim() else []
    count = 1
    for axis in axes:
        count *= x.shape[axis]
    mean, variance, _ = moments(x, axes, direction)
    variance = variance * (count / (count - correction))
    if attrs["keepdim"]:
        return variance, mean
    left = [size for axis, size in enumerate(x.shape) if axis not in axes]
    return variance.reshape(left), mean.reshape(left)


def _std_mean(args: Sequence[Tensor], attrs: Attrs, direction: int) -> tuple[Tensor, Tensor]:
    variance, mean = _var_mean(args, attrs, direction)
    return variance.sqrt(), mean


def _one(function: Single) -> OnePass:
    return lambda *call: (function(*call),)


ONE_PASS: dict[str, OnePass] = {
    "layer_norm": _one(_layer_norm),
    "layer_norm_bias": _one(_bias_alone(_layer_norm)),
    "group_norm": _one(_group_norm),
    "group_norm_bias": _one(_bias_alone(_group_norm)),
    "batch_norm_batch_stats": _one(_batch_norm),
    "batch_norm_training": _batch_norm_training,
    "native_layer_norm": _with_statistics(_layer_norm, _normalised_dims),
    "native_group_norm": _native_group_norm,
    "native_batch_norm_batch_stats": _native_batch_norm,
    "native_batch_norm_training": _native_batch_norm_training,
    "instance_norm": _one(_instance_norm),
    "var": lambda *call: _var_mean(*call)[:1],
    "std": lambda *call: _std_mean(*call)[:1],
    "var_mean": _var_mean,
    "std_mean": _std_mean,
}
