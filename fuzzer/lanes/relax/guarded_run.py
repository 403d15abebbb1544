"""Run a compiled function twice, each time with other numbers around its tensors, and find what it reads outside."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tvm

from fuzzer.lanes.base import memory
from fuzzer.lanes.base.compiler_error import NotATensor
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.relax import releases
from fuzzer.lanes.relax.allocation import Allocator, active
from fuzzer.lanes.relax.guard_zones import ALLOCATED, CONSTANT, INPUT, WHOLE, Filling, Key, Zone, nbytes
from generators.graph import Array
from oracles.identical import difference
from oracles.memory_access import MemoryAccess, Side
from oracles.outcome import Ran, Stage

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class _Run:
    """What one run gave. `zones` are all that it used; `written` are its writes outside."""

    outputs: tuple[Array, ...]
    addresses: tuple[int, ...]
    zones: tuple[Zone, ...]
    written: tuple[MemoryAccess, ...]
    modified: tuple[str, ...]
    aliases: tuple[tuple[int, str], ...]


def run_twice(
    make: Callable[[], Function], inputs: Mapping[str, Array], step: Step, constants: Sequence[Zone] = ()
) -> Ran:
    """Run the function that `make` returns twice on the CPU, on new tensors. Record how the first run changes its
    inputs, and what memory it accesses that it must not."""
    step(Stage.RUN)
    function = make()
    first = _run(function, inputs, constants, Filling())
    step.note(modified=first.modified, aliases=first.aliases, accesses=_described(first, first.written))
    began = time.process_time()
    again = _run(function, inputs, constants, Filling(high=True))
    if time.process_time() - began <= MOST_SECONDS and not _same(first, again):
        read = _first_read(lambda filling: _run(function, inputs, constants, filling), first)
        step.note(accesses=_described(first, [*first.written, *read]))
    return Ran(first.outputs, again.outputs)


def _run(function: Function, inputs: Mapping[str, Array], constants: Sequence[Zone], filling: Filling) -> _Run:
    zones, tensors = [], {}
    for name, array in inputs.items():
        zone = Zone(f"{INPUT}{name}", array.nbytes)
        tensors[name] = zone.tensor(array.shape, str(array.dtype))
        zone.write(array)
        zones.append(zone)
    static, allocator = (*zones, *constants), Allocator(filling, (*zones, *constants))
    for zone in static:
        zone.fill(filling)
    with active(allocator):
        results = flat(function(*tensors.values()))
    written = [access for zone in static for access in zone.written(filling)] + allocator.written()
    return _Run(
        tuple(each.numpy() for each in results),
        tuple(releases.address(each) for each in results),
        (*static, *allocator.zones),
        tuple(written),
        memory.modified(inputs, {name: each.numpy() for name, each in tensors.items()}),
        _aliases(results, tensors),
    )


MOST_SECONDS = 0.3
"""The longest run, in CPU seconds, of a function whose reads are looked for: that takes some 25 more runs."""


def _first_read(run: Callable[[Filling], _Run], first: _Run) -> list[MemoryAccess]:
    """Return the first read outside, or of elements without a value, that changes the result.

    All parts of the memory stand in one order: those of inputs before those of constants before those that were
    allocated, and in each part what is near the tensor before what is far. The shortest stretch of this order that
    changes the result, when its numbers change, ends with the element that is read. There is none where the result
    changes without that.
    """
    if not _same(run(Filling()), first):
        return []
    zones = {zone.owner: zone for zone in first.zones}
    keys = [Key(owner, side) for side in (Side.BEFORE, Side.AFTER) for owner in zones]
    keys += [Key(owner, Side.INSIDE) for owner in zones if owner.startswith(ALLOCATED)]

    def changes(parts: int, distance: int = WHOLE) -> bool:
        """Whether the result changes with the first this many parts, the last of them up to this distance."""
        reach = {**dict.fromkeys(keys[:parts], WHOLE), keys[parts - 1]: distance}
        return not _same(run(Filling(reach)), first)

    parts = bisect_left(range(1, len(keys) + 1), True, key=changes) + 1
    if parts > len(keys):
        return []
    zone, side = zones[keys[parts - 1].owner], keys[parts - 1].side
    distances = range(1, zone.elements(side) + 1)
    return [zone.read(side, bisect_left(distances, True, key=lambda distance: changes(parts, distance)) + 1)]


def _same(one: _Run, other: _Run) -> bool:
    return difference(one.outputs, other.outputs, "the first run") is None


def _described(run: _Run, accesses: Sequence[MemoryAccess]) -> tuple[MemoryAccess, ...]:
    """Name the tensors of the accesses as a reader knows them."""
    return tuple(replace(each, tensor=_name(run, each.tensor)) for each in accesses)


def _name(run: _Run, owner: str) -> str:
    if owner.startswith(CONSTANT):
        return "a constant"
    if not owner.startswith(ALLOCATED):
        return owner
    zone = next(zone for zone in run.zones if zone.owner == owner)
    outputs = [f"output {index}" for index, address in enumerate(run.addresses) if zone.holds(address)]
    return outputs[0] if outputs else "an intermediate tensor"


def run_twice_on(device: Any, make: Callable[[], Function], inputs: Mapping[str, Array], step: Step) -> Ran:
    """Run the function twice on a GPU, whose memory is not guarded: compute-sanitizer looks at it."""
    step(Stage.RUN)
    function = make()
    tensors = {name: tvm.runtime.tensor(np.array(array), device) for name, array in inputs.items()}
    outputs = flat(function(*tensors.values()))
    changed = memory.modified(inputs, {name: each.numpy() for name, each in tensors.items()})
    step.note(modified=changed, aliases=_aliases(outputs, tensors))
    first = tuple(each.numpy() for each in outputs)
    fresh = (tvm.runtime.tensor(np.array(array), device) for array in inputs.values())
    return Ran(first, tuple(each.numpy() for each in flat(function(*fresh))))


def _aliases(outputs: Sequence[Any], inputs: Mapping[str, Any]) -> tuple[tuple[int, str], ...]:
    return memory.shared([span(each) for each in outputs], {name: span(each) for name, each in inputs.items()})


_SHAPES = ("Shape", "ShapeTuple")
"""How releases of TVM name the type of a shape at run time. It is a sequence, as a tuple of results is."""
_NUMBERS = (bool, int, float)


def flat(result: Any) -> Sequence[Any]:
    """Return the results of main, which are a tensor or a tuple of tensors, as a sequence. Raise `NotATensor` for other
    results."""
    is_one = result is None or isinstance(result, _NUMBERS) or hasattr(result, "numpy") or _is_shape(result)
    results = (result,) if is_one else tuple(result)
    for index, each in enumerate(results):
        if not hasattr(each, "numpy"):
            raise NotATensor(f"output {index} of the compiled function is {_kind(each)}, no tensor")
    return results


def _is_shape(result: Any) -> bool:
    return type(result).__name__ in _SHAPES


def _kind(result: Any) -> str:
    if isinstance(result, _NUMBERS):
        return "a number"
    return "a shape" if _is_shape(result) else f"a value of type {type(result).__name__}"


def span(tensor: Any) -> memory.Span:
    first = releases.address(tensor)
    return first, first + nbytes(tensor.shape, tensor.dtype)
