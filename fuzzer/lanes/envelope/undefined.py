"""The results of a node that no framework defines (`generators/undefined/`), and other numbers in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import torch

from fuzzer.lanes.envelope.other_sizes import OtherSizes
from generators.graph import DType, Node
from generators.op import Types
from generators.undefined import Call, Places
from generators.undefined.unlisted import attributes_of, rows_of_node

Tensors = tuple[torch.Tensor, ...]
Compute = Callable[[Sequence[torch.Tensor]], Tensors]

FAR = 1e9
LEAST_UNIT = 1e-6
"""What is taken from a number that is 0. float16 has it nearly."""
OTHERS = (1, 2, 3, 4)
"""The numbers of the evaluations that have other numbers in place of undefined ones."""


class UndefinedResults:
    """Finds which elements of a node's results are undefined. `met` has the names of the rows that held so far."""

    def __init__(self, node: Node, types: Types) -> None:
        self._rows = rows_of_node(node)
        self._attrs = attributes_of(node) if self._rows else {}
        self._types = types
        self._results = tuple([value.type for value in node.results])
        self._positions: dict[int, list[torch.Tensor]] = {}
        self.met: set[str] = set()

    def masks(self, args: Sequence[torch.Tensor], compute: Compute) -> list[torch.Tensor]:
        """A mask for each result; none where all is defined. `compute` computes the node."""
        if not self._rows:
            return []
        call = Call(tuple([arg.detach().numpy() for arg in args]), self._types, self._results, self._attrs)
        masks = [torch.zeros(type.sizes, dtype=torch.bool) for type in self._results]
        self._positions.clear()
        for row, where in self._rows:
            before = [mask.clone() for mask in masks]
            places = where(call)
            self._mark(masks, places, args, compute)
            if _holds(places) or any(not torch.equal(*both) for both in zip(before, masks, strict=True)):
                self.met.add(row.name)
        return masks if any(bool(mask.any()) for mask in masks) else []

    def _mark(self, masks: list[torch.Tensor], places: Places, args: Sequence[torch.Tensor], compute: Compute) -> None:
        for number, own in places.results.items():
            masks[number] |= torch.from_numpy(np.array(np.broadcast_to(own, self._results[number].sizes)))
        if any(own.any() for own in places.operands.values()):
            for mask, moved in zip(masks, _dependent(args, places, compute), strict=True):
                mask |= moved
        if places.positions and _has_equals(args[0]):
            made = compute(args)
            axis = self._attrs.get("dim")
            along = axis if isinstance(axis, int) and args[0].dim() else None
            others = [compute([_distinguished(args[0], other, along), *args[1:]]) for other in OTHERS]
            for number in places.positions:
                for other in others:
                    masks[number] |= other[number] != made[number]
                if number not in places.results:  # else the order of the positions is open too
                    self._positions[number] = [other[number] for other in others]
        if places.ranked is not None and _has_equals(args[places.ranked]):
            self._mark_ranked(masks, places.ranked, args, compute)

    def _mark_ranked(
        self, masks: list[torch.Tensor], ranked: int, args: Sequence[torch.Tensor], compute: Compute
    ) -> None:
        """Mark what depends on the order in which equal numbers are taken: all where sizes of results depend on it."""
        made, eps = compute(args), self._types[ranked].dtype.eps
        try:
            others = [compute(_replaced(args, ranked, _moved(args[ranked], eps, other))) for other in OTHERS]
        except OtherSizes:
            for mask in masks:
                mask |= True
            return
        for number, mask in enumerate(masks):
            for other in others:
                mask |= _differs(other[number], made[number])
            self._positions[number] = [other[number] for other in others]

    def replaced(self, made: Tensors, masks: Sequence[torch.Tensor], other: int) -> Tensors:
        """The results with other numbers where they are undefined, those of evaluation `other` of `OTHERS`. Positions
        are others that name equal numbers, so that what is read by them may be known."""
        return tuple(
            [torch.where(mask, self._other(number, made, other), made[number]) for number, mask in enumerate(masks)]
            or made
        )

    def _other(self, number: int, made: Tensors, other: int) -> torch.Tensor:
        if number in self._positions:
            return self._positions[number][other - 1]
        return torch.tensor(_numbers(self._results[number].dtype)[other - 1], dtype=made[number].dtype)


def _has_equals(numbers: torch.Tensor) -> bool:
    array = numbers.detach().numpy()
    return bool(np.unique(array).size < array.size)


def _distinguished(numbers: torch.Tensor, other: int, axis: int | None) -> torch.Tensor:
    """Numbers in the same order, in which equal ones follow each other in another order for each of `OTHERS`. NaN is
    the largest number. `axis`: along which numbers are ranked, if they are. Equal ones are turned by one place along
    it in the last of `OTHERS`, so that no place of a ranking has the same number of them in all orders."""
    array = numbers.detach().numpy()
    ranks = np.unique(array, return_inverse=True)[1].reshape(array.shape).astype(np.float64)
    order = _turned(ranks, axis) if axis is not None and other == OTHERS[-1] else _order(array.shape, other)
    return torch.from_numpy(ranks + order / (2.0 * array.size))


def _turned(ranks: npt.NDArray[np.float64], axis: int) -> npt.NDArray[np.float64]:
    """0, 1, 2, ... for the second, third, ... of equal numbers along the axis, and the largest for the first."""
    sequence = np.argsort(ranks, axis, kind="stable")
    ranked = np.take_along_axis(ranks, sequence, axis)
    count = ranks.shape[axis]
    places = np.moveaxis(np.broadcast_to(np.arange(count), (*np.delete(ranks.shape, axis), count)), -1, axis)
    begins = ranked != np.roll(ranked, 1, axis)
    begins |= places == 0
    turned = np.where(begins, float(count), places)
    order = np.empty_like(turned)
    np.put_along_axis(order, sequence, turned, axis)
    return order


def _moved(numbers: torch.Tensor, eps: float, other: int) -> torch.Tensor:
    """Floats of which equal ones become less by 0, 1, 2, ... units of their dtype, in another order for each of
    `OTHERS`. The dtype holds the results, because onnxruntime may compute the node in it. Numbers that are larger than
    all others stand for infinities, which become no less."""
    array = numbers.detach().numpy()
    given = array.ravel()
    far = 2 * np.abs(given[np.isfinite(given)]).max(initial=FAR)
    flat = np.where(np.isinf(given), np.copysign(far, given), given)
    sequence = np.lexsort((_order(array.shape, other).ravel(), flat))
    first = np.searchsorted(flat[sequence], flat[sequence])
    steps = np.empty(flat.size)
    steps[sequence] = np.arange(flat.size) - first
    units = np.where(flat == 0, LEAST_UNIT, eps * np.abs(flat))
    return torch.from_numpy((flat - steps * units).reshape(array.shape))


def _order(shape: tuple[int, ...], other: int) -> npt.NDArray[np.float64]:
    """0, 1, 2, ... in another order for each of `OTHERS`."""
    count = int(np.prod(shape, dtype=np.int64))
    orders = (np.arange(count), np.arange(count)[::-1], *(np.random.default_rng(n).permutation(count) for n in (1, 2)))
    return orders[other - 1].reshape(shape).astype(np.float64)


def _replaced(args: Sequence[torch.Tensor], place: int, value: torch.Tensor) -> list[torch.Tensor]:
    return [*args[:place], value, *args[place + 1 :]]


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
