"""Operators of Relax with a variance, as a correct implementation in one pass over the data computes them
(`fuzzer.lanes.torch.one_pass`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from fuzzer.lanes.torch.one_pass import moments, normalised
from generators.graph import Attrs
from generators.op import ints_of, number_of

Tensor = torch.Tensor
OnePass = Callable[[Sequence[Tensor], Attrs, int], Tensor]


def _axes(x: Tensor, attrs: Attrs) -> list[int]:
    return list(range(x.dim())) if attrs["axis"] is None else [axis % x.dim() for axis in ints_of(attrs, "axis")]


def _variance(args: Sequence[Tensor], attrs: Attrs, direction: int) -> Tensor:
    axes = _axes(args[0], attrs)
    _, variance, _ = moments(args[0], axes, direction)
    return variance if attrs["keepdims"] is True else variance.squeeze(tuple(axes))


def _std(args: Sequence[Tensor], attrs: Attrs, direction: int) -> Tensor:
    return _variance(args, attrs, direction).sqrt()


def _affine(x: Tensor, args: Sequence[Tensor], attrs: Attrs, axes: Sequence[int], shape: Sequence[int]) -> Tensor:
    params = [each.reshape([shape[axis] if axis in axes else 1 for axis in range(len(shape))]) for each in args[1:]]
    x = x * params[0] if attrs["scale"] is True else x
    return x + params[1] if attrs["center"] is True else x


def _layer_norm(args: Sequence[Tensor], attrs: Attrs, direction: int) -> Tensor:
    x = args[0]
    axes = [axis % x.dim() for axis in ints_of(attrs, "axes")]
    return _affine(normalised(x, axes, number_of(attrs, "epsilon"), direction), args, attrs, axes, x.shape)


def _instance_norm(args: Sequence[Tensor], attrs: Attrs, direction: int) -> Tensor:
    normal = normalised(args[0], ints_of(attrs, "axes"), number_of(attrs, "epsilon"), direction)
    return _affine(normal, args, attrs, (1,), args[0].shape)


def _group_norm(args: Sequence[Tensor], attrs: Attrs, direction: int) -> Tensor:
    x, groups = args[0], int(number_of(attrs, "num_groups"))
    grouped = x.reshape(x.shape[0], groups, -1)
    normal = normalised(grouped, (2,), number_of(attrs, "epsilon"), direction).reshape(x.shape)
    return _affine(normal, args, attrs, (1,), x.shape)


ONE_PASS: dict[str, OnePass] = {
    "relax.variance": _variance,
    "relax.std": _std,
    "relax.nn.layer_norm": _layer_norm,
    "relax.nn.instance_norm": _instance_norm,
    "relax.nn.group_norm": _group_norm,
}
"""From the name of a row to the function of operands, attributes and the direction of E[x^2]."""
