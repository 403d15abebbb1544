"""What a machine can do with a lane. Asked before anything is compiled: no compiler is loaded for the answer."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzzer.system.devices import Device, found_devices
from oracles.lane import Engine, LaneSpec, Params, is_relay
from oracles.targets import TARGETS_BY_NAME, CodeChecker, Runs, Target


@dataclass(frozen=True, slots=True)
class Runnable:
    """It gives results."""


@dataclass(frozen=True, slots=True)
class CompileOnly:
    """It ends with a compiled program, for `why`; `checker` looks at that, None where none is installed."""

    why: str
    checker: CodeChecker | None


@dataclass(frozen=True, slots=True)
class Missing:
    """It does not run here, for `why`."""

    why: str


Availability = Runnable | CompileOnly | Missing


def _cpu_flags() -> frozenset[str]:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return frozenset(next((line.partition(":")[2] for line in lines if line.startswith("flags")), "").split())


@functools.cache
def _devices() -> Sequence[Device]:
    """They are asked for with every lane that runs on one."""
    return found_devices()


def _toolchains() -> Sequence[str]:
    from fuzzer.toolchains import registry  # here: what starts toolchains asks this file about lanes

    return registry.names()


def node_package(name: str, node: str) -> Path | None:
    """The entry of a package that was installed for all of Node's programs."""
    prefixes = (Path(node).resolve().parents[1], Path(node).parents[1], Path("/usr/local"))
    entries = (prefix / "lib/node_modules" / name / "index.js" for prefix in prefixes)
    return next((entry for entry in entries if entry.is_file()), None)


@dataclass(frozen=True, slots=True)
class Machine:
    """What is asked of a machine, each only when a lane depends on it."""

    which: Callable[[str], str | None] = shutil.which
    cpu_flags: Callable[[], frozenset[str]] = _cpu_flags
    devices: Callable[[], Sequence[Device]] = _devices
    package: Callable[[str, str], Path | None] = node_package
    toolchains: Callable[[], Sequence[str]] = _toolchains

    def has(self, checker: CodeChecker) -> bool:
        path = self.which(checker.program)
        return path is not None and (not checker.package or self.package(checker.package, path) is not None)


THIS = Machine()

LINKERS = ("gcc", "cc")
"""What makes a shared library of objects. TVM's own choice is g++, which is not asked for elsewhere."""


def availability(lane: LaneSpec, machine: Machine = THIS) -> Availability:
    if lane.engine is not Engine.TVM:
        return Runnable()
    if is_relay(lane) and lane.toolchain not in machine.toolchains():
        return Missing(f"fuzz toolchain add {lane.toolchain}")
    row = TARGETS_BY_NAME[lane.target]
    compilers = row.compilers or (LINKERS if lane.as_library else ())
    if compilers and _first(compilers, machine) is None:
        return Missing(f"none of {', '.join(compilers)} is on PATH")
    if is_relay(lane):
        return Runnable()
    if lacking := [flag for flag in row.cpu if flag not in machine.cpu_flags()]:
        return Missing(f"this processor has no {', '.join(lacking)}")
    if row.runs is not Runs.HERE and (lane.variant != "relax" or lane.params is not Params.BOUND):
        return Missing("only the model itself is taken there, with its parameters in it")
    match row.runs:
        case Runs.HERE:
            return Runnable()
        case Runs.SANITIZED:
            return Runnable()
        case Runs.ON_A_DEVICE:
            checker = checker_of(row, machine)
            if not machine.devices():
                return CompileOnly("there is no GPU", checker)
            # the compiler that looks at it elsewhere is the one that TVM calls when it loads it
            return Runnable() if checker else CompileOnly(f"no {_programs(row)} on PATH for the GPU's code", None)
        case Runs.NOWHERE:
            checker = checker_of(row, machine)
            unchecked = "" if checker else f", and no {_programs(row)} on PATH looks at it"
            return CompileOnly(f"nothing here runs its code{unchecked}", checker)


def is_for_a_device(lane: LaneSpec) -> bool:
    return lane.engine is Engine.TVM and TARGETS_BY_NAME[lane.target].runs is Runs.ON_A_DEVICE


def runs_on_a_device(lane: LaneSpec, machine: Machine = THIS) -> bool:
    """Whether it is a device's worker that runs the lane. Where it can only be compiled, no device is needed."""
    return is_for_a_device(lane) and isinstance(availability(lane, machine), Runnable)


def available(lanes: Sequence[LaneSpec], machine: Machine = THIS) -> tuple[LaneSpec, ...]:
    """Those that this machine can run, or at least compile."""
    return tuple(lane for lane in lanes if not isinstance(availability(lane, machine), Missing))


def compiler_of(row: Target, machine: Machine = THIS) -> str | None:
    """The path of the compiler for the C that TVM writes."""
    return _first(row.compilers, machine)


def linker() -> str | None:
    """The path of the compiler that links the objects that TVM writes to a shared library."""
    return _first(LINKERS, THIS)


def _first(programs: Sequence[str], machine: Machine) -> str | None:
    return next((path for name in programs if (path := machine.which(name))), None)


def checker_of(row: Target, machine: Machine = THIS) -> CodeChecker | None:
    """The first that is installed of those that look at what TVM writes."""
    return next((each for each in row.written.checkers if machine.has(each)), None) if row.written else None


def _programs(row: Target) -> str:
    checkers = row.written.checkers if row.written else ()
    return " or ".join(f"{each.program} with {each.package}" if each.package else each.program for each in checkers)


def in_words(found: Availability) -> str:
    """For people: what it is, and why."""
    match found:
        case Runnable():
            return "runnable"
        case CompileOnly(why, checker):
            return f"compile-only, {f'checked by {checker.program}' if checker else 'not checked'}: {why}"
        case Missing(why):
            return f"missing: {why}"
