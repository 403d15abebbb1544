"""Floats of which integers or booleans are made: which of them rounding may make equal to each other, or to 0."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from generators.graph import DType, Node
from generators.op import Types


class ComparedFloats:
    """A node that makes integers or booleans of floats, as a comparison, a position, a conversion or `any` does: how
    far the evaluations have pushed its operands."""

    def __init__(self, node: Node, types: Types) -> None:
        results = [value.type for value in node.results]
        self._floats = [type.dtype.is_float for type in types]
        self.is_one = any(self._floats) and not all(result.dtype.is_float for result in results)
        other = node.attrs.get("other")
        has_number = isinstance(other, int | float) and not isinstance(other, bool)
        self._number = torch.tensor(other, dtype=torch.float64) if has_number else None
        self._sizes = results[0].sizes
        of_two = all(self._floats) and len(types) == (1 if has_number else 2)
        self._compares_two = of_two and [result.dtype for result in results] == [DType.BOOL]
        self._ranges: list[tuple[torch.Tensor, torch.Tensor]] = []

    def note(self, args: Sequence[torch.Tensor]) -> None:
        """Take in the operands of one evaluation."""
        if not self._ranges:
            self._ranges = [(arg, arg) for arg in args]
        elif self._has_shapes_of(args):
            pairs = zip(self._ranges, args, self._floats, strict=True)
            self._ranges = [
                (torch.minimum(low, arg), torch.maximum(high, arg)) if is_float else (low, high)
                for (low, high), arg, is_float in pairs
            ]

    def made_equal(self, args: list[torch.Tensor]) -> list[torch.Tensor]:
        """The two operands of a comparison, or the only one and the attribute `other`: equal where their ranges have a
        number in common."""
        if not self._compares_two or not self._has_shapes_of(args):
            return args
        ranges = list(self._ranges)
        if self._number is not None:
            ranges.append((self._number, self._number))
        (low, high), (other_low, other_high) = ranges
        try:
            least, most = torch.maximum(low, other_low), torch.minimum(high, other_high)
        except RuntimeError:  # they do not broadcast: it is no comparison of elements
            return args
        if tuple(least.shape) != self._sizes:
            return args
        number = least if self._number is None else self._number
        return [torch.where(least <= most, number, arg) for arg in args]

    def made_zero(self, args: list[torch.Tensor]) -> list[torch.Tensor]:
        """The operands, 0 where that is in their range."""
        if not self._has_shapes_of(args):
            return args
        zeros = zip(args, self._ranges, self._floats, strict=True)
        return [
            torch.where((low <= 0) & (high >= 0), 0.0, arg) if is_float else arg for arg, (low, high), is_float in zeros
        ]

    def _has_shapes_of(self, args: Sequence[torch.Tensor]) -> bool:
        return all(low.shape == arg.shape for (low, _), arg in zip(self._ranges, args, strict=True))
