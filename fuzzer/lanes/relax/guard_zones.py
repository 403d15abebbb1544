"""Tensors in larger buffers. What stands around a tensor is known, so that accesses outside of it show.

A compiled model runs twice, with other numbers around its tensors each time. Another result means that it reads
outside; a number that changed means that it writes outside. Guarded are the inputs, the constants that importers make,
and everything that Relax's virtual machine allocates: outputs and intermediate tensors, which are filled as well before
they are used, so that a read of elements without a value shows too. Not guarded are the workspaces inside one kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import tvm
from tvm.runtime import from_dlpack

from fuzzer.cases.fillings import LEAST_MARGIN, filled_dtype, high, low
from generators.graph import Array
from oracles.memory_access import Access, MemoryAccess, Side

ALIGNMENT = 64
"""The alignment, in bytes, that TVM gives its own tensors, and that its kernels may rely on."""

MOST_MARGIN = 64 << 10
"""The margin on each side, in bytes, is the size of the tensor, and from `LEAST_MARGIN` to this: an index that is one
dimension too small or too large stays inside."""

INPUT, CONSTANT, ALLOCATED = "input ", "constant ", "allocated "
"""How the names of owners begin."""

WHOLE = 1 << 62
"""A distance that is larger than every margin."""


@dataclass(frozen=True, slots=True)
class Key:
    """One part of the memory around, or inside, a tensor. `owner` is "input x0", "constant 1" or "allocated 2"."""

    owner: str
    side: Side


@dataclass(frozen=True, slots=True)
class Filling:
    """How far the high numbers reach in each part, in elements from the tensor. All others are low."""

    reach: Mapping[Key, int] = field(default_factory=dict)
    high: bool = False
    """Whether all numbers are high."""

    def of(self, owner: str, side: Side) -> int:
        return WHOLE if self.high else self.reach.get(Key(owner, side), 0)


class Zone:
    """A buffer with room for `capacity` bytes between two margins. A smaller tensor in it has a larger margin after it.

    owner  which tensor stands in it: "input x0", "constant 1", "allocated 2"
    """

    def __init__(self, owner: str, capacity: int) -> None:
        margin = min(max(LEAST_MARGIN, capacity), MOST_MARGIN) // ALIGNMENT * ALIGNMENT
        memory = np.empty(capacity + 2 * margin + ALIGNMENT, np.uint8)
        first = -memory.ctypes.data % ALIGNMENT
        self._all = memory[first : first + capacity + 2 * margin]
        self.owner, self._margin, self._size, self._dtype = owner, margin, capacity, np.dtype(np.uint8)

    def place_of(self, address: int) -> tuple[Array, int] | None:
        """Return the bytes of the whole buffer, and which of them has this address; None where none has."""
        offset = address - self._all.ctypes.data
        return (self._all, offset) if 0 <= offset < len(self._all) else None

    def storage(self) -> Any:
        """Return the whole buffer as a tensor of TVM."""
        return from_dlpack(self._all)

    def tensor(self, shape: Sequence[int], dtype: str, offset: int = 0) -> Any:
        """Return a tensor of TVM in this memory, `offset` bytes after the first margin. The margins begin at its ends;
        a tensor at another offset than 0 only moves the second one, because there is another tensor before it."""
        size = nbytes(shape, dtype)
        if offset:
            self._size = max(self._size, offset + size)
        else:
            self._size, self._dtype = size, filled_dtype(dtype)
        first = self._margin + offset
        return from_dlpack(self._all[first : first + size])._create_view(tuple(shape), dtype)

    def write(self, array: Array) -> None:
        """Write the numbers of the tensor."""
        self._part(Side.INSIDE)[:] = np.frombuffer(array.tobytes(), np.uint8)

    def fill(self, filling: Filling) -> None:
        """Fill both margins."""
        for side in (Side.BEFORE, Side.AFTER):
            self._part(side)[:] = self._expected(side, filling)

    def fill_everything(self, filling: Filling) -> None:
        """Fill both margins and the tensor between them."""
        self.fill(filling)
        self._part(Side.INSIDE)[:] = self._expected(Side.INSIDE, filling)

    def written(self, filling: Filling) -> Iterator[MemoryAccess]:
        """Yield the write that is nearest to the tensor, for each margin that is not as `fill` left it."""
        for side in (Side.BEFORE, Side.AFTER):
            (changed,) = np.nonzero(self._part(side) != self._expected(side, filling))
            if changed.size:
                nearest = changed[0] if side is Side.AFTER else self._margin - 1 - changed[-1]
                yield self._access(Access.WRITE, side, int(nearest) // self._dtype.itemsize + 1)

    def read(self, side: Side, distance: int) -> MemoryAccess:
        """The description of a read at this distance from the tensor."""
        return self._access(Access.READ, side, 0 if side is Side.INSIDE else distance)

    def holds(self, address: int) -> bool:
        """Whether an address is one of the tensor's. A tensor without elements has the address at which it begins."""
        first = self._part(Side.INSIDE).ctypes.data
        return first <= address < first + max(self._size, 1)

    def elements(self, side: Side) -> int:
        """How many elements a part has."""
        return -(-len(self._part(side)) // self._dtype.itemsize)

    def _access(self, access: Access, side: Side, distance: int) -> MemoryAccess:
        return MemoryAccess(access, self.owner, side, distance, str(self._dtype))

    def _part(self, side: Side) -> Array:
        end = self._margin + self._size
        match side:
            case Side.BEFORE:
                return self._all[: self._margin]
            case Side.AFTER:
                return self._all[end:]
            case Side.INSIDE:
                return self._all[self._margin : end]

    def _expected(self, side: Side, filling: Filling) -> Array:
        numbers = np.full(self.elements(side), low(self._dtype), self._dtype)
        nearest_first = numbers[::-1] if side is Side.BEFORE else numbers
        nearest_first[: filling.of(self.owner, side)] = high(self._dtype)
        return numbers.view(np.uint8)[: len(self._part(side))]


def nbytes(shape: Sequence[int], dtype: str) -> int:
    """The size of a tensor of TVM in bytes."""
    return prod(int(size) for size in shape) * ((int(tvm.DataType(dtype).bits) + 7) // 8)


class Constants:
    """The zones of constants, in the order in which an importer made them."""

    def __init__(self) -> None:
        self.zones: list[Zone] = []

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Let importers, which make constants with these two functions of TVM, make them in zones."""
        names = ("tensor", "from_dlpack")
        originals = {name: getattr(tvm.runtime, name) for name in names}
        for name, make in originals.items():
            setattr(tvm.runtime, name, self._making(make))
        try:
            yield
        finally:
            for name, make in originals.items():
                setattr(tvm.runtime, name, make)

    def _making(self, make: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments, **options: self._moved(make(*arguments, **options))

    def _moved(self, tensor: Any) -> Any:
        """Return a tensor in a zone with the same numbers."""
        array = tensor.numpy()
        zone = Zone(f"{CONSTANT}{len(self.zones)}", array.nbytes)
        moved = zone.tensor(array.shape, str(tensor.dtype))
        zone.write(array)
        self.zones.append(zone)
        return moved
