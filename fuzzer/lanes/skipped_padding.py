"""Convolutions that skip their padding, as blocked kernels do: no weight meets it, and NaN x 0 is not there.

Where all weights are finite this is the same function.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F

from generators.graph import Attrs
from generators.ops.base import int_of
from generators.ops.windows import each

Tensor = torch.Tensor


def without_padding(x: Tensor, weight: Tensor, bias: Sequence[Tensor], attrs: Attrs) -> Tensor:
    """One position of the kernel after the other: its products count where it stands on a number of `x`."""
    kernel = weight.shape[2:]
    rank = len(kernel)
    stride, dilation = each(attrs, "stride", rank), each(attrs, "dilation", rank)
    amounts = _amounts(attrs, kernel, dilation)
    padded, inside = F.pad(x, amounts), F.pad(torch.ones(x.shape[-rank:], dtype=torch.bool), amounts)
    ends = [size - d * (k - 1) for size, k, d in zip(inside.shape, kernel, dilation, strict=True)]
    convolve = getattr(torch, f"conv{rank}d")
    total = torch.zeros(())
    for offset in itertools.product(*map(range, kernel)):
        starts = [o * d for o, d in zip(offset, dilation, strict=True)]
        met = [slice(start, start + end, s) for start, end, s in zip(starts, ends, stride, strict=True)]
        one = [slice(o, o + 1) for o in offset]
        products = convolve(_part(padded, met), _part(weight, one), groups=int_of(attrs, "groups"))
        total = total + torch.where(_part(inside, met), products, 0.0)
    for terms in bias:
        total = total + terms.reshape(-1, *(1,) * rank)
    return total


def _part(tensor: Tensor, of_the_last: Sequence[slice]) -> Tensor:
    index: tuple[Any, ...] = (..., *of_the_last)
    return tensor[index]


def _amounts(attrs: Attrs, kernel: Sequence[int], dilation: Sequence[int]) -> list[int]:
    """For F.pad: the last dimension first. 'same' puts the odd one behind."""
    if attrs["padding"] == "valid":
        return [0] * 2 * len(kernel)
    if attrs["padding"] == "same":
        spans = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
        return [amount for span in reversed(spans) for amount in (span // 2, span - span // 2)]
    return [amount for side in reversed(each(attrs, "padding", len(kernel))) for amount in (side, side)]
