"""How much work a compilation is: what it has to store, and what it has to compile."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import tvm
from tvm import relax

from fuzzer.lanes.base.step import Step
from fuzzer.lanes.relax import releases
from fuzzer.lanes.relax.guard_zones import nbytes

_LAST_OF_A_KERNEL = ".LowerIntrin"
"""How the name of a pass ends that every kernel goes through once, also those that are compiled to fold a constant."""


class WorkCounter:
    """Counts the passes that run, and the kernels that are compiled."""

    def __init__(self, step: Step) -> None:
        self._step, self._passes, self._kernels = step, 0, 0

    def instruments(self) -> list[Any]:
        """Return the instruments for a PassContext."""
        return [_Instrument(self)]

    def after(self, name: str, module: Any) -> None:
        self._passes += 1
        if name.endswith(_LAST_OF_A_KERNEL):
            self._kernels += len(module.functions)

    def tell(self) -> None:
        self._step.note(passes=self._passes, kernels=self._kernels)


@tvm.ir.instrument.pass_instrument
class _Instrument:
    def __init__(self, counter: WorkCounter) -> None:
        self._counter = counter

    def run_after_pass(self, module: Any, info: Any) -> None:
        self._counter.after(str(info.name), module)


class ConstantCounter:
    """Records the constants of a module, and those that the imported module needs: its own, and what can be computed
    from them alone.

    The legalization of some operators gives constants for the types of their operands: of `isfinite` of integers, of
    the mask of an attention. The imported module is legalized only where it seems to need less than the module has."""

    def __init__(self, step: Step, imported: Any) -> None:
        self._step, self._imported = step, imported
        self._needed = constant_bytes(imported) + foldable_bytes(imported)
        self._legalized = False

    def count(self, module: Any) -> None:
        held = constant_bytes(module)
        if held > self._needed and not self._legalized:
            self._needed, self._legalized = max(self._needed, _needed_when_legalized(self._imported)), True
        self._step.note(constant_bytes=held, needed_bytes=self._needed)


def _needed_when_legalized(imported: Any) -> int:
    """Return 0 where it cannot be legalized; the lane itself tells that."""
    try:
        with tvm.transform.PassContext():  # without the instruments of the lane
            legal = relax.transform.LegalizeOps()(imported)
    except Exception:
        return 0
    return constant_bytes(legal) + foldable_bytes(legal)


def constant_bytes(module: Any) -> int:
    """Return the size in bytes of all constants in the Relax functions. A constant that is used twice counts once."""
    sizes: dict[int, int] = {}

    def look(expr: Any) -> None:
        if (data := releases.constant_in(expr)) is not None:
            sizes[releases.address(data)] = nbytes(data.shape, data.dtype)

    for function in _functions(module):
        relax.analysis.post_order_visit(function, look)
    return sum(sizes.values())


def foldable_bytes(module: Any) -> int:
    """Return the size in bytes of all values of the module that depend on no argument: a compiler may compute them and
    store the results. Values whose size is not known count as nothing."""
    return sum(_of_function(function) for function in _functions(module))


def _functions(module: Any) -> Iterator[Any]:
    return (function for function in module.functions.values() if isinstance(function, relax.Function))


def _of_function(function: Any) -> int:
    varying, total = set(function.params), 0
    for block in getattr(function.body, "blocks", ()):
        for binding in block.bindings:
            value = getattr(binding, "value", None)
            if value is None or not varying.isdisjoint(relax.analysis.free_vars(value)):
                varying.add(binding.var)
            else:
                total += _nbytes(releases.type_of(binding.var))
    return total


def _nbytes(type: Any) -> int:
    """Return the bytes of a tensor or of a tuple of tensors; 0 where a size is not known."""
    if hasattr(type, "fields"):
        return sum(map(_nbytes, type.fields))
    sizes = getattr(getattr(type, "shape", None), "values", None)
    if sizes is None or not all(isinstance(size, tvm.tirx.IntImm) for size in sizes):
        return 0
    shape = [int(size) for size in sizes]
    return nbytes(shape, str(type.dtype)) if prod(shape) else 0
