"""Operators whose result depends on the order of equal elements, which nothing defines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from fuzzer.lanes.evaluated.common import ints


def has_ties(name: str, attrs: Any, args: Sequence[Any]) -> bool:
    """Whether the value of `relax.<name>` depends on the order of equal elements of its operand."""
    return name in TIES and TIES[name](attrs, *args)


def _of_largest(attrs: Any, x: Tensor) -> bool:
    return _is_repeated(x, torch.amax, attrs.axis)


def _of_smallest(attrs: Any, x: Tensor) -> bool:
    return _is_repeated(x, torch.amin, attrs.axis)


def _is_repeated(x: Tensor, extreme: Callable[..., Tensor], axis: Any) -> bool:
    """Whether an extreme element is there twice, along an axis or, where it is None, among all elements."""
    x, axis = (x.flatten(), 0) if axis is None or not x.dim() else (x, int(axis))
    return bool(((x == extreme(x, axis, keepdim=True)).sum(axis) > 1).any())


def _of_sorted(attrs: Any, x: Tensor) -> bool:
    return _has_equal_neighbours(x, int(attrs.axis), descending=False)


def _of_first(attrs: Any, x: Tensor) -> bool:
    """Look at the first k elements, and at the one after them that could be in their place."""
    if str(attrs.ret_type) == "values":
        return False
    count = int(attrs.k) + 1 if int(attrs.k) > 0 else None
    return _has_equal_neighbours(x, int(attrs.axis), descending=bool(attrs.largest), count=count)


def _of_middle(attrs: Any, x: Tensor) -> bool:
    """Only the median along one axis has its place as a second result."""
    axes = [] if attrs.axis is None else ints(attrs.axis)
    if len(axes) != 1:
        return False
    middle = x.median(axes[0], keepdim=True).values
    return bool(((x == middle).sum(axes[0]) > 1).any())


def _has_equal_neighbours(x: Tensor, axis: int, *, descending: bool, count: int | None = None) -> bool:
    ordered = (x if x.dim() else x.reshape(1)).movedim(axis, -1).sort(descending=descending).values[..., :count]
    return bool((ordered[..., 1:] == ordered[..., :-1]).any())


TIES: Mapping[str, Callable[[Any, Tensor], bool]] = {
    "argmax": _of_largest,
    "argmin": _of_smallest,
    "argsort": _of_sorted,
    "median": _of_middle,
    "topk": _of_first,
}
"""From the name in Relax, without `relax.`, to a function of the attributes and the operand."""
