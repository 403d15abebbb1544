"""Operators that multiply by zeros which are not in the case, as computed by implementations that skip these products.

A blocked kernel of a convolution skips the padding, so no weight is multiplied by it. NaN x 0 then does not occur.
Where all numbers are finite, the results are the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

from generators.graph import Attrs
from generators.op import int_of
from generators.torch.ops.windows import each

Tensor = torch.Tensor


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of a convolution. `amounts` are those of the padding in the order of F.pad: the last dimension comes
    first. The other lists have a number for each dimension."""

    amounts: Sequence[int]
    stride: Sequence[int]
    dilation: Sequence[int]
    groups: int


def without_padding(x: Tensor, weight: Tensor, bias: Sequence[Tensor], windows: Windows) -> Tensor:
    """A convolution, one position of the kernel after the other. A product counts where the position is inside `x`."""
    kernel = weight.shape[2:]
    rank = len(kernel)
    padded = F.pad(x, windows.amounts)
    inside = F.pad(torch.ones(x.shape[-rank:], dtype=torch.bool), windows.amounts)
    ends = [size - d * (k - 1) for size, k, d in zip(inside.shape, kernel, windows.dilation, strict=True)]
    convolve = getattr(torch, f"conv{rank}d")
    total = torch.zeros(())
    for offset in itertools.product(*map(range, kernel)):
        starts = [o * d for o, d in zip(offset, windows.dilation, strict=True)]
        met = [slice(start, start + end, s) for start, end, s in zip(starts, ends, windows.stride, strict=True)]
        one = [slice(o, o + 1) for o in offset]
        products = convolve(_part(padded, met), _part(weight, one), groups=windows.groups)
        total = total + torch.where(_part(inside, met), products, 0.0)
    for terms in bias:
        total = total + terms.reshape(-1, *(1,) * rank)
    return total


def _part(tensor: Tensor, last_dimensions: Sequence[slice]) -> Tensor:
    index: tuple[Any, ...] = (..., *last_dimensions)
    return tensor[index]


def _amounts(attrs: Attrs, kernel: Sequence[int], dilation: Sequence[int]) -> list[int]:
    """The amounts for F.pad: the last dimension comes first. 'same' adds the odd one at the end."""
    if attrs["padding"] == "valid":
        return [0] * 2 * len(kernel)
    if attrs["padding"] == "same":
        spans = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
        return [amount for span in reversed(spans) for amount in (span // 2, span - span // 2)]
    return [amount for side in reversed(each(attrs, "padding", len(kernel))) for amount in (side, side)]


def _convolution(args: Sequence[Tensor], attrs: Attrs) -> tuple[Tensor, ...]:
    x, weight, *bias = args
    kernel = weight.shape[2:]
    stride, dilation = each(attrs, "stride", len(kernel)), each(attrs, "dilation", len(kernel))
    windows = Windows(_amounts(attrs, kernel, dilation), stride, dilation, int_of(attrs, "groups"))
    return (without_padding(x, weight, bias, windows),)


def _all_dropped(args: Sequence[Tensor], attrs: Attrs) -> tuple[Tensor, ...]:
    return (torch.zeros_like(args[0]),)


def _all_dropped_with_mask(args: Sequence[Tensor], attrs: Attrs) -> tuple[Tensor, ...]:
    return torch.zeros_like(args[0]), torch.zeros_like(args[0], dtype=torch.bool)


WITHOUT_ZEROS: dict[str, Callable[[Sequence[Tensor], Attrs], tuple[Tensor, ...]]] = {
    **{f"conv{rank}d": _convolution for rank in (1, 2, 3)},
    "dropout_training": _all_dropped,
    "native_dropout_training": _all_dropped_with_mask,
}
"""An implementation of each operator whose row has `multiplies_by_zero`: from a call to its results."""
