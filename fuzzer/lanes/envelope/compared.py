"""Comparisons of floats: which of them rounding may make equal."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from generators.graph import DType, Node
from generators.op import Types


class ComparedFloats:
    """A node that makes one boolean for each element of two floats, or of one float and its attribute `other`: how far
    the evaluations have pushed its operands."""

    def __init__(self, node: Node, types: Types) -> None:
        results = [value.type for value in node.results]
        other = node.attrs.get("other")
        has_number = isinstance(other, int | float) and not isinstance(other, bool)
        self._number = torch.tensor(other, dtype=torch.float64) if has_number else None
        self._sizes = results[0].sizes
        is_of_floats = all(type.dtype.is_float for type in types) and len(types) == (1 if has_number else 2)
        self.is_one = is_of_floats and [result.dtype for result in results] == [DType.BOOL]
        self._ranges: list[tuple[torch.Tensor, torch.Tensor]] = []

    def note(self, args: Sequence[torch.Tensor]) -> None:
        """Take in the operands of one evaluation."""
        if not self._ranges:
            self._ranges = [(arg, arg) for arg in args]
        elif self._has_shapes_of(args):
            pairs = zip(self._ranges, args, strict=True)
            self._ranges = [(torch.minimum(low, arg), torch.maximum(high, arg)) for (low, high), arg in pairs]

    def made_equal(self, args: list[torch.Tensor]) -> list[torch.Tensor]:
        """The operands, equal where their ranges have a number in common."""
        ranges = list(self._ranges)
        if self._number is not None:
            ranges.append((self._number, self._number))
        (low, high), (other_low, other_high) = ranges
        try:
            least, most = torch.maximum(low, other_low), torch.minimum(high, other_high)
        except RuntimeError:  # they do not broadcast: it is no comparison of elements
            return args
        if tuple(least.shape) != self._sizes or not self._has_shapes_of(args):
            return args
        number = least if self._number is None else self._number
        return [torch.where(least <= most, number, arg) for arg in args]

    def _has_shapes_of(self, args: Sequence[torch.Tensor]) -> bool:
        return all(low.shape == arg.shape for (low, _), arg in zip(self._ranges, args, strict=True))
