"""Gives Relax's virtual machine guarded memory.

Bytecode and compiled instructions both call `vm.builtin.alloc_storage` and `vm.builtin.alloc_tensor` by name. Both are
replaced when this module is imported, and call TVM's own functions while no `Allocator` is active.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import tvm

from fuzzer.lanes.relax import releases
from fuzzer.lanes.relax.guard_zones import ALLOCATED, Filling, Zone
from generators.graph import Array
from oracles.memory_access import MemoryAccess

MOST_BYTES = 512 << 20
"""The largest storage that is guarded. A case has at most 64 MiB, so a program that asks for more has a wrong size."""

_ALLOC_STORAGE, _ALLOC_TENSOR = "vm.builtin.alloc_storage", "vm.builtin.alloc_tensor"


class Allocator:
    """The memory of one run. `zones` are in the order of allocation; `static` are those of inputs and constants."""

    def __init__(self, filling: Filling, static: Sequence[Zone] = ()) -> None:
        self._filling, self.zones, self._by_address = filling, list[Zone](), dict[int, Zone]()
        self._static = static
        self._written: list[MemoryAccess] = []

    def storage(self, size: int) -> Any:
        zone = Zone(f"{ALLOCATED}{len(self.zones)}", size)
        zone.fill_everything(self._filling)
        storage = zone.storage()
        self.zones.append(zone)
        self._by_address[releases.address(storage)] = zone
        return storage

    def tensor(self, storage: Any, offset: int, shape: Any, dtype: str) -> Any:
        """Return a tensor in the storage. The storage is filled, because the tensor has no values yet: TVM's planner
        gives a storage to another tensor when the one before is not needed any more."""
        zone = self._by_address[releases.address(storage)]
        self._written += zone.written(self._filling)
        tensor = zone.tensor([int(size) for size in shape], dtype, offset)
        if offset:
            zone.fill(self._filling)
        else:
            zone.fill_everything(self._filling)
        return tensor

    def place_of(self, address: int) -> tuple[Array, int] | None:
        """Return the bytes of the buffer that has this address, and which of them it is."""
        places = (zone.place_of(address) for zone in (*self._static, *reversed(self.zones)))
        return next((place for place in places if place), None)

    def written(self) -> list[MemoryAccess]:
        """The writes outside of tensors, up to now."""
        return [*self._written, *(access for zone in self.zones for access in zone.written(self._filling))]


_active: Allocator | None = None


@contextmanager
def active(allocator: Allocator) -> Iterator[None]:
    """Let virtual machines take their memory from `allocator`."""
    global _active
    _active = allocator
    try:
        yield
    finally:
        _active = None


def memory_at(address: int) -> tuple[Array, int] | None:
    """Return the bytes of the guarded buffer that has this address in the present run, and which of them it is; None
    where none has."""
    return _active.place_of(address) if _active else None


def _install() -> None:
    storage_of_tvm, tensor_of_tvm = tvm.get_global_func(_ALLOC_STORAGE), tvm.get_global_func(_ALLOC_TENSOR)

    def alloc_storage(machine: Any, shape: Any, device: int, dtype: Any, scope: str) -> Any:
        if _active is None or not 0 <= int(shape[0]) <= MOST_BYTES:  # what TVM does with such a size is TVM's
            return storage_of_tvm(machine, shape, device, dtype, scope)
        return _active.storage(int(shape[0]))

    def alloc_tensor(storage: Any, offset: int, shape: Any, dtype: Any, *device: int) -> Any:
        if _active is None or not isinstance(storage, tvm.runtime.Tensor):
            return tensor_of_tvm(storage, offset, shape, dtype, *device)
        return _active.tensor(storage, int(offset), shape, str(dtype))

    releases.replace_function(_ALLOC_STORAGE, alloc_storage)
    releases.replace_function(_ALLOC_TENSOR, alloc_tensor)


_install()
