"""Operators with a variance, as an honest implementation in one pass over the data computes them: E[x^2] - E[x]^2.

PyTorch updates a running mean and spread (Welford, 1962). Where the spread is small against the mean, one pass loses
digits that no unit in the last place of an operand accounts for. It is poor numerics, not a miscompilation: the
envelope includes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from generators.graph import Attrs

Tensor = torch.Tensor
EPS = 1e-5
"""What layer_norm and group_norm of the operator table leave at PyTorch's default."""


def _moments(x: Tensor, dims: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Mean and biased variance over `dims`, which are kept."""
    mean = x.mean(tuple(dims), keepdim=True)
    return mean, ((x * x).mean(tuple(dims), keepdim=True) - mean * mean).clamp(min=0)


def _normalised(x: Tensor, dims: Sequence[int]) -> Tensor:
    mean, variance = _moments(x, dims)
    return (x - mean) * torch.rsqrt(variance + EPS)


def _affine(x: Tensor, rest: Sequence[Tensor], shape: Sequence[int]) -> Tensor:
    """Scale and shift, where there are any."""
    factors = [parameter.reshape(tuple(shape)) for parameter in rest]
    if factors:
        x = x * factors[0]
    return x + factors[1] if len(factors) > 1 else x


def _layer_norm(args: Sequence[Tensor], attrs: Attrs) -> Tensor:
    x, *rest = args
    shape = attrs["normalized_shape"]
    assert isinstance(shape, tuple)
    return _affine(_normalised(x, range(-len(shape), 0)), rest, x.shape[-len(shape) :])


def _group_norm(args: Sequence[Tensor], attrs: Attrs) -> Tensor:
    x, *rest = args
    grouped = x.reshape(x.shape[0], int(str(attrs["num_groups"])), -1)
    return _affine(_normalised(grouped, (-1,)).reshape(x.shape), rest, (-1, *(1,) * (x.dim() - 2)))


def _var(args: Sequence[Tensor], attrs: Attrs) -> Tensor:
    (x,), dims, correction = args, attrs["dim"], attrs["correction"]
    assert isinstance(dims, tuple)
    assert isinstance(correction, int)
    axes = [int(str(dim)) for dim in dims]
    count = 1
    for axis in axes:
        count *= x.shape[axis]
    variance = _moments(x, axes)[1] * (count / (count - correction))
    if attrs["keepdim"]:
        return variance
    kept = [size for axis, size in enumerate(x.shape) if axis not in {a % x.dim() for a in axes}]
    return variance.reshape(kept)


ONE_PASS: dict[str, Callable[[Sequence[Tensor], Attrs], Tensor]] = {
    "layer_norm": _layer_norm,
    "group_norm": _group_norm,
    "var": _var,
}
