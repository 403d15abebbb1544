"""Whether a machine can run a lane, only compile it, or neither. This loads no compiler."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from fuzzer.system.devices import KINDS, Device
from oracles.lane import SCHEDULES, Engine, LaneSpec, Params, is_relay
from oracles.targets import CodeChecker, Runs, Target, target_named


@dataclass(frozen=True, slots=True)
class Runnable:
    """The lane runs and returns results."""


@dataclass(frozen=True, slots=True)
class CompileOnly:
    """The lane ends with a compiled program; `why` is the reason. `checker` checks it (None: not installed)."""

    why: str
    checker: CodeChecker | None


@dataclass(frozen=True, slots=True)
class Missing:
    """The lane cannot be used on this machine; `why` is the reason."""

    why: str


Availability = Runnable | CompileOnly | Missing


def _cpu_flags() -> frozenset[str]:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return frozenset(next((line.partition(":")[2] for line in lines if line.startswith("flags")), "").split())


@functools.cache
def _devices(kind: str) -> Sequence[Device]:
    """Cached, because every lane for a device asks for them."""
    return KINDS[kind].find()


def _lacks(kind: str) -> str:
    return KINDS[kind].lacks()


def _toolchains() -> Sequence[str]:
    from fuzzer.toolchains import registry  # imported here, because toolchains import this module

    return registry.names()


def node_package(name: str, node: str) -> Path | None:
    """Return the main file of a Node package that is installed globally (`npm install --global`), or None."""
    prefixes = (Path(node).resolve().parents[1], Path(node).parents[1], Path("/usr/local"))
    entries = (prefix / "lib/node_modules" / name / "index.js" for prefix in prefixes)
    return next((entry for entry in entries if entry.is_file()), None)


@dataclass(frozen=True, slots=True)
class Machine:
    """The properties of a machine that lanes depend on. Each is looked up only when a lane needs it."""

    which: Callable[[str], str | None] = shutil.which
    cpu_flags: Callable[[], frozenset[str]] = _cpu_flags
    devices: Callable[[str], Sequence[Device]] = _devices
    package: Callable[[str, str], Path | None] = node_package
    toolchains: Callable[[], Sequence[str]] = _toolchains
    lacks: Callable[[str], str] = _lacks

    def has(self, checker: CodeChecker) -> bool:
        path = self.which(checker.program)
        return path is not None and (not checker.package or self.package(checker.package, path) is not None)


THIS = Machine()

LINKERS = ("gcc", "cc")
"""Compilers that link objects to a shared library. TVM's default is g++, which no other lane needs."""


def availability(lane: LaneSpec, machine: Machine = THIS) -> Availability:
    if lane.engine is not Engine.TVM:
        return Runnable()
    if is_relay(lane) and lane.toolchain not in machine.toolchains():
        return Missing(f"fuzz toolchain add {quote(lane.toolchain)}")
    row = target_named(lane.target)
    compilers = row.compilers or (LINKERS if lane.as_library else ())
    if compilers and _first(compilers, machine) is None:
        return Missing(f"none of {', '.join(compilers)} is on PATH")
    if is_relay(lane):
        return Runnable()
    if lacking := [flag for flag in row.cpu if flag not in machine.cpu_flags()]:
        return Missing(f"this processor has no {', '.join(lacking)}")
    if lane.variant == SCHEDULES:
        return Runnable()
    if row.runs is not Runs.HERE and (lane.variant != "relax" or lane.params is not Params.BOUND):
        return Missing("this target runs only the model itself, with its parameters bound")
    match row.runs:
        case Runs.HERE:
            return Runnable()
        case Runs.SANITIZED:
            return Runnable()
        case Runs.BY_KERNELS:
            if machine.devices(row.device):
                return Runnable()
            lacks = machine.lacks(row.device)
            why = f"there is no {KINDS[row.device].words}{f': {lacks}' if lacks else ''}"
            return CompileOnly(why, checker_of(row, machine))
        case Runs.ON_A_DEVICE:
            checker = checker_of(row, machine)
            what = KINDS[row.device].words
            if not machine.devices(row.device):
                return CompileOnly(f"there is no {what}", checker)
            # where the code is checked, TVM calls the same compiler when it loads the code
            if row.written and not checker:
                return CompileOnly(f"no {_programs(row)} on PATH for the {what}'s code", None)
            return Runnable()
        case Runs.NOWHERE:
            checker = checker_of(row, machine)
            nothing = f"no {_programs(row)} on PATH" if _programs(row) else "no program that difftvm knows"
            return CompileOnly(f"nothing here runs its code{'' if checker else f', and {nothing} checks it'}", checker)


def is_for_a_device(lane: LaneSpec) -> bool:
    return (
        lane.engine is Engine.TVM and lane.variant != SCHEDULES and target_named(lane.target).runs is Runs.ON_A_DEVICE
    )


def runs_by_kernels(lane: LaneSpec, machine: Machine = THIS) -> bool:
    """Whether this machine runs the lane kernel by kernel."""
    row = target_named(lane.target)
    return (
        row.runs is Runs.BY_KERNELS and lane.variant != SCHEDULES and isinstance(availability(lane, machine), Runnable)
    )


def device_of(lane: LaneSpec, machine: Machine = THIS) -> str:
    """The kind of device whose workers run the lane; "" for none. Where it can only be compiled, none is needed."""
    runs = is_for_a_device(lane) and isinstance(availability(lane, machine), Runnable)
    return target_named(lane.target).device if runs else ""


def available(lanes: Sequence[LaneSpec], machine: Machine = THIS) -> tuple[LaneSpec, ...]:
    """Return the lanes that this machine can run or at least compile."""
    return tuple(lane for lane in lanes if not isinstance(availability(lane, machine), Missing))


def compiler_of(row: Target, machine: Machine = THIS) -> str | None:
    """Return the path of the compiler for the C source that TVM writes."""
    return _first(row.compilers, machine)


def linker() -> str | None:
    """Return the path of the compiler that links the objects that TVM writes to a shared library."""
    return _first(LINKERS, THIS)


def _first(programs: Sequence[str], machine: Machine) -> str | None:
    return next((path for name in programs if (path := machine.which(name))), None)


def checker_of(row: Target, machine: Machine = THIS) -> CodeChecker | None:
    """Return the first installed program that checks what TVM writes for a target."""
    return next((each for each in row.written.checkers if machine.has(each)), None) if row.written else None


def _programs(row: Target) -> str:
    checkers = row.written.checkers if row.written else ()
    return " or ".join(f"{each.program} with {each.package}" if each.package else each.program for each in checkers)


def in_words(found: Availability) -> str:
    """Describe an availability and its reason, for people."""
    match found:
        case Runnable():
            return "runnable"
        case CompileOnly(why, checker):
            return f"compile-only, {f'checked by {checker.program}' if checker else 'not checked'}: {why}"
        case Missing(why):
            return f"missing: {why}"
