"""The results of a node that no framework defines (`generators/undefined/`), and other numbers in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from generators.graph import DType, Node
from generators.op import Types
from generators.undefined import Call, Places, rows_of

Tensors = tuple[torch.Tensor, ...]
Compute = Callable[[Sequence[torch.Tensor]], Tensors]

FAR = 1e9
OTHERS = (1, 2, 3, 4)
"""The numbers of the evaluations that have other numbers in place of undefined ones."""


class UndefinedResults:
    """Finds which elements of a node's results are undefined. `met` has the names of the rows that held so far."""

    def __init__(self, node: Node, types: Types) -> None:
        self._rows = rows_of(node.op)
        self._node, self._types = node, types
        self._results = tuple([value.type for value in node.results])
        self.met: set[str] = set()

    def masks(self, args: Sequence[torch.Tensor], compute: Compute) -> list[torch.Tensor]:
        """A mask for each result; none where all is defined. `compute` computes the node."""
        if not self._rows:
            return []
        call = Call(tuple([arg.detach().numpy() for arg in args]), self._types, self._results, self._node.attrs)
        found = [(row.name, where(call)) for row, where in self._rows]
        held = [(name, places) for name, places in found if _holds(places)]
        if not held:
            return []
        self.met |= {name for name, _ in held}
        masks = [torch.zeros(type.sizes, dtype=torch.bool) for type in self._results]
        for _, places in held:
            for number, own in places.results.items():
                masks[number] |= torch.from_numpy(np.array(np.broadcast_to(own, self._results[number].sizes)))
            if any(own.any() for own in places.operands.values()):
                for mask, moved in zip(masks, _dependent(args, places, compute), strict=True):
                    mask |= moved
        return masks if any(bool(mask.any()) for mask in masks) else []

    def replaced(self, made: Tensors, masks: Sequence[torch.Tensor], other: int) -> Tensors:
        """The results with other numbers where they are undefined, those of evaluation `other` of `OTHERS`."""
        return tuple(
            [
                torch.where(mask, torch.tensor(_numbers(type.dtype)[other - 1], dtype=result.dtype), result)
                for result, mask, type in zip(made, masks, self._results, strict=True)
            ]
            if masks
            else made
        )


def _holds(places: Places) -> bool:
    return any(bool(mask.any()) for mask in (*places.operands.values(), *places.results.values()))


def _dependent(args: Sequence[torch.Tensor], places: Places, compute: Compute) -> list[torch.Tensor]:
    """Which elements of the results differ between two evaluations with other numbers in place of the operands'."""
    one, other = (compute(_with(args, places, side)) for side in (-1, 1))
    return [_differs(first, second) for first, second in zip(one, other, strict=True)]


def _with(args: Sequence[torch.Tensor], places: Places, side: int) -> list[torch.Tensor]:
    """The operands with numbers that differ from those of the other side. No two are equal unless they must fit every
    dtype: which of several NaN is chosen must differ, too."""
    changed = list(args)
    for number, mask in places.operands.items():
        arg = args[number]
        steps = torch.arange(arg.numel(), dtype=torch.float64).reshape(arg.shape)
        numbers = 0 * steps + (side > 0) if places.in_range else side * (FAR - steps)
        chosen = torch.from_numpy(np.array(np.broadcast_to(mask, tuple(arg.shape))))
        changed[number] = torch.where(chosen, numbers.to(arg.dtype), arg)
    return changed


def _differs(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return (one != other) & ~(one.isnan() & other.isnan())


def _numbers(dtype: DType) -> tuple[float, ...]:
    """What implementations may give in place of an undefined number."""
    if dtype is DType.BOOL:
        return (False, True, False, True)
    if dtype.is_float:
        return (float("nan"), -FAR, 0.0, FAR)
    low, high = dtype.range
    return (low, high, 0, 1)
