"""Compare TVM's GPU schedules with the kernels before them, without a GPU.

dlight schedules each kernel for a target: it splits loops, binds them to blocks and threads, and moves parts of the
computation. In TIR such a kernel still has a meaning without threads: each loop over threads is a loop. Both kernels
are compiled for llvm in this form, and run on whole numbers. A schedule that computes something else is wrong on every
device.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.s_tir import dlight

from fuzzer.lanes.base.compiler_error import CompilerError
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.evaluated.interpreter import near
from fuzzer.lanes.relax.behaviour import BehaviourRecorder
from fuzzer.lanes.relax.build import context, target_of, transformed
from fuzzer.lanes.relax.check import Checker
from fuzzer.lanes.relax.exact import is_exact, stays_exact
from fuzzer.lanes.relax.guard_zones import Filling, Zone
from fuzzer.lanes.relax.importing import imported
from fuzzer.lanes.relax.trace import Tracer
from generators.graph import Array
from oracles.lane import LaneSpec
from oracles.outcome import Built, Stage
from oracles.targets import target_named

SCHEDULE = "ApplyDefaultSchedule"
RULES = ("Matmul", "GEMV", "Reduction", "GeneralReduction", "Fallback")
"""The rules of TVM's GPU pipelines, in their order."""

MOST_ELEMENTS = 1 << 20
"""The most elements of a buffer of a kernel that is compared."""


class WrongSchedule(CompilerError):
    """A scheduled kernel computes something else than the kernel before it was scheduled."""

    __module__ = "fuzzer.lanes.schedules"  # the name in findings that are saved


class NotComparable(CompilerError):
    """No kernel of a module can be compared with its schedule."""

    __module__ = "fuzzer.lanes.schedules"


class Schedules:
    """The kernels of a module before the first schedule, and after the last."""

    def __init__(self) -> None:
        self.before: dict[str, Any] = {}
        self.after: dict[str, Any] = {}

    def instruments(self) -> list[Any]:
        """Return the instruments for a PassContext."""
        return [_Instrument(self)]

    def changed(self) -> Iterator[tuple[str, Any, Any]]:
        """Yield the name of each kernel that was scheduled, and the kernel before and after."""
        for name, before in self.before.items():
            after = self.after.get(name)
            if after is not None and not after.same_as(before):
                yield name, before, after


def run(prepared: PreparedCase, spec: LaneSpec, step: Step) -> Built:
    """Schedule the kernels of the model for the target. Raise `WrongSchedule` for the first that computes something
    else then, and `NotComparable` where kernels were scheduled and none of them was compared."""
    tracer = Tracer.of(spec, step, prepared.case)
    model = imported(prepared, spec, step)
    checker = Checker.after_import(model.module, spec, step)
    recorder, schedules = BehaviourRecorder(step), Schedules()
    recorder.imported(model.module)
    target = target_of(target_named(spec.target))
    with context(spec, tracer, checker, recorder, schedules), target:
        step(Stage.TRANSFORM)
        module = transformed(model.module, spec, step, checker, target)
        step(Stage.COMPILE)
        relax.get_default_pipeline(target)(module)
    changed = list(schedules.changed())
    left_out = []
    for name, before, after in changed:
        try:
            difference = compared(name, before, after)
        except NotComparable as why:
            left_out.append(f"{name} {why}")
            continue
        if difference:
            rule = rule_of(before, target)
            raise WrongSchedule(f"dlight's rule {rule} changes what kernel {name} computes: {difference}")
    if changed and len(left_out) == len(changed):
        raise NotComparable(f"no kernel can be compared with its schedule: {left_out[0]}")
    return Built()


def compared(name: str, before: Any, after: Any) -> str:
    """Say how the results of two kernels differ; "" where they do not. Raise `NotComparable` with the reason.

    Where no number is rounded, not a bit may differ."""
    shapes = [_shape(param) for param in before.params]
    if None in shapes:
        raise NotComparable(f"has an open size, or more than {MOST_ELEMENTS:,} elements")
    if _divides_integers(before):
        raise NotComparable("may divide by an integer that it reads")
    try:
        functions = [_built(name, each) for each in (before, as_loops(after))]
    except Exception as error:  # that says nothing about the schedule
        raise NotComparable(f"cannot be compiled for llvm: {type(error).__name__}") from None
    exact = is_exact(before)
    for signed in (False, True):
        (right_zones, right_arrays), (zones, arrays) = (
            _called(function, before.params, signed) for function in functions
        )
        outside = [access.does for zone in zones for access in zone.written(Filling())]
        if outside and not any(any(zone.written(Filling())) for zone in right_zones):
            return f"it {outside[0]}"
        exact = exact and (signed or stays_exact(before, right_arrays))
        for place, (right, found) in enumerate(zip(right_arrays, arrays, strict=True)):
            if not (np.array_equal(found, right) if exact else near(found, right)):
                return _described(place, right, found)
    return ""


def as_loops(kernel: Any) -> Any:
    """Return a scheduled kernel in which each loop over blocks or threads is a plain loop, and all memory is local."""
    text = re.sub(r'T\.thread_binding\((.*?), thread="[\w.]+"', r"T.serial(\1", kernel.script(show_meta=True))
    return tvm.script.from_source(re.sub(r', scope="[\w.]+"', "", text))


def rule_of(kernel: Any, target: Any) -> str:
    """Return the name of the first rule of dlight that schedules a kernel."""
    with target:
        for name in RULES:
            if getattr(dlight.gpu, name)().apply(kernel, target, False) is not None:
                return name
    return "of another name"


def _built(name: str, kernel: Any) -> Any:
    alone = kernel.without_attr("target") if "target" in (kernel.attrs or {}) else kernel
    return tvm.tirx.build(tvm.IRModule({name: alone.with_attr("global_symbol", name)}), target="llvm")[name]


def _called(function: Any, params: Any, signed: bool) -> tuple[list[Zone], list[Array]]:
    """Run a kernel; return the memory of its buffers, and the numbers in them."""
    shapes = [_shape(param) or () for param in params]
    least = min((size for shape in shapes for size in shape), default=1)
    zones, tensors = [], []
    for place, (shape, param) in enumerate(zip(shapes, params, strict=True)):
        numbers = _numbers(shape, str(param.dtype), place, least, signed)
        zone = Zone(f"buffer {place}", numbers.nbytes)
        tensors.append(zone.tensor(shape, str(param.dtype)))
        zone.fill(Filling())
        zone.write(numbers)
        zones.append(zone)
    function(*tensors)
    return zones, [tensor.numpy() for tensor in tensors]


def _numbers(shape: tuple[int, ...], dtype: str, place: int, least: int, signed: bool) -> Array:
    """Whole numbers, of which neighbours differ. Integers may be indices: they are smaller than each size. Signed
    numbers are not larger than those without a sign, and one of 23 is zero."""
    order = np.arange(int(np.prod(shape))) * 7919 + 31 * place
    if dtype.startswith("float") or dtype == "bfloat16":
        sizes = order % 23 + 1
        numbers = np.where(order % 23 == 11, 0, np.where(order // 23 % 2, -sizes, sizes)) if signed else sizes
    else:
        numbers = order % min(least, 2)
    return numbers.reshape(shape).astype(np.dtype(dtype))


def _shape(param: Any) -> tuple[int, ...] | None:
    """The shape of a kernel's parameter; None where it is open or large, or the parameter is no buffer."""
    sizes = getattr(param, "shape", None)
    if sizes is None or not all(isinstance(size, tvm.tirx.IntImm) for size in sizes):
        return None
    shape = tuple(int(size.value) for size in sizes)
    return shape if int(np.prod(shape)) <= MOST_ELEMENTS else None


def _divides_integers(kernel: Any) -> bool:
    """Whether the kernel may divide by an integer that it reads, which may be zero."""
    integers = any(not str(param.dtype).startswith(("float", "bfloat")) for param in kernel.params)
    return integers and re.search(r"//|%|T\.(trunc|floor|shift)?(div|mod)|T\.Div", kernel.script()) is not None


def _described(place: int, right: Array, found: Array) -> str:
    a, b = right.astype(np.float64), found.astype(np.float64)
    distance = np.where(np.isnan(a) & np.isnan(b), 0.0, np.nan_to_num(np.abs(a - b), nan=np.inf))
    at = np.unravel_index(int(np.argmax(distance)), a.shape)
    index = [int(each) for each in at]
    return f"{float(b[at])!r} at {index} of buffer {place}, which is {float(a[at])!r} without the schedule"


@tvm.ir.instrument.pass_instrument
class _Instrument:
    def __init__(self, schedules: Schedules) -> None:
        self._schedules = schedules

    def run_before_pass(self, module: Any, info: Any) -> None:
        if str(info.name) == SCHEDULE and not self._schedules.before:
            self._schedules.before = _kernels(module)

    def run_after_pass(self, module: Any, info: Any) -> None:
        if str(info.name) == SCHEDULE:
            self._schedules.after = _kernels(module)


def _kernels(module: Any) -> dict[str, Any]:
    functions = {str(var.name_hint): function for var, function in module.functions.items()}
    return {name: function for name, function in functions.items() if isinstance(function, tvm.tirx.PrimFunc)}
