"""Run each lane of a case in its toolchain, or on a device.

Each toolchain has a backend that forks children and one for the devices of the machine. A backend is started for its
first lane.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol

from fuzzer.isolate import script
from fuzzer.isolate.child_process import Bounds, GiveUp, never
from fuzzer.isolate.device_pool import DevicePool, discard
from fuzzer.isolate.executor import Executor
from fuzzer.isolate.reports import SanitizerReport, ScriptRun
from fuzzer.lanes.base.availability import THIS, Machine, device_of
from fuzzer.system import untrusted_files
from fuzzer.system.devices import Device
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.toolchains.toolchain import HOST_NAME, Toolchain
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Result, Stage

Find = Callable[[str], Toolchain]
"""Finds a toolchain by name; raises `EnvironmentMissing` where there is none."""


RunLanes = Callable[[Case, Sequence[LaneSpec]], Result]
"""Runs lanes of a case: `run` or `run_fresh` of a `Runner`, or a wrapper of these."""

RunScript = Callable[[str, LaneSpec], ScriptRun]
"""Runs a script: `run_script` of a `Lab`."""


class Runner(Protocol):
    """Runs lanes."""

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        """Run the lanes in processes that may have run others."""

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        """Run the lanes in processes in which no lane ran before. Triage and replay use it."""


class Lab(Runner, Protocol):
    """Runs lanes, and can investigate what fails."""

    @property
    def versions(self) -> dict[str, str]: ...
    @property
    def cpu_seconds(self) -> float:
        """What all its runs have cost."""

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        """Run a finding's script where its lane ran: in a process of that toolchain, under the bounds of a lane."""

    def examine(self, case: Case, lane: LaneSpec) -> tuple[SanitizerReport, ...]:
        """What compute-sanitizer reports for one run of the lane; empty where it does not apply."""


class Backend(Protocol):
    """Runs lanes of one toolchain: an `Executor`, or a `DevicePool`, because a process that uses a GPU must not
    fork."""

    @property
    def versions(self) -> dict[str, str]: ...
    @property
    def cpu_seconds(self) -> float: ...
    def run(self, case: Case, lanes: Sequence[LaneSpec], bounds: Bounds | None = None) -> Result: ...
    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec], bounds: Bounds | None = None) -> Result: ...
    def examine(self, case: Case, lane: LaneSpec) -> tuple[SanitizerReport, ...]: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class BackendKey:
    """Identifies the backend that runs a lane: the toolchain, and the kind of device where it runs on one. As text it
    is also the name of a folder; it is unique, because neither of them contains a space."""

    toolchain: str
    device: str = ""

    def __str__(self) -> str:
        return f"{self.toolchain} {self.device}" if self.device else self.toolchain


class Fleet:
    """Runs lanes of several toolchains, and lanes on the machine's devices. Several threads may call `run` at the same
    time. `tell` gets a line when a device is quarantined. `new_interpreters`: each script runs in a new interpreter, as
    its readers run it, and not in a child that has loaded torch and TVM already.

    give_up  may be set to what is asked while something starts or runs: where it returns True, that ends at once, and
             `GaveUp` or `EnvironmentMissing` is raised. Workers of devices finish what they run.
    """

    def __init__(
        self,
        scratch: Path,
        find: Find,
        bounds: Bounds = Bounds(),
        machine: Machine = THIS,
        tell: Callable[[str], None] = discard,
        *,
        new_interpreters: bool = False,
    ) -> None:
        self.bounds = bounds
        self.give_up: GiveUp = never
        self._new_interpreters = new_interpreters
        self._scratch = untrusted_files.real(scratch)
        self._find = find
        self._machine = machine
        self._tell = tell
        self._backends: dict[BackendKey, Backend] = {}
        self._starting: dict[BackendKey, threading.Lock] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._script_cpu = 0.0

    def __enter__(self) -> Fleet:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        with self._lock:
            self._closed = True
        for starting in self._starting.values():
            with starting:  # a backend that is starting now is there afterwards
                continue
        for backend in self._backends.values():
            backend.__exit__(kind, error, tb)
        untrusted_files.remove(self._scratch)

    @property
    def versions(self) -> dict[str, str]:
        """The versions in the host, and each version that another started backend has instead, as `tvm@0.26.0`."""
        host = dict(self.backend(BackendKey(HOST_NAME)).versions)
        more = {
            f"{name}@{key}": version
            for key, backend in dict(self._backends).items()
            for name, version in backend.versions.items()
            if host.get(name) != version
        }
        return {**host, **more}

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds of all zygotes, children, workers and scripts so far."""
        return self._script_cpu + sum(backend.cpu_seconds for backend in list(self._backends.values()))

    @property
    def quarantined(self) -> dict[Device, str]:
        """The devices that are no longer used, each with the reason."""
        pools = [backend for backend in list(self._backends.values()) if isinstance(backend, DevicePool)]
        return {device: reason for pool in pools for device, reason in pool.quarantined.items()}

    def run(self, case: Case, lanes: Sequence[LaneSpec], bounds: Bounds | None = None) -> Result:
        """The outcomes of the lanes, in the order of the lanes."""
        within = bounds or self.bounds.for_nodes(len(case.graph.nodes))
        return self._in_backends(lanes, lambda backend, some: backend.run(case, some, within))

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec], bounds: Bounds | None = None) -> Result:
        within = bounds or self.bounds.for_nodes(len(case.graph.nodes))
        return self._in_backends(lanes, lambda backend, some: backend.run_fresh(case, some, within))

    def examine(self, case: Case, lane: LaneSpec) -> tuple[SanitizerReport, ...]:
        return self.backend(self.key_of(lane)).examine(case, lane)

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        toolchain = self._find(lane.toolchain)
        if script.can_be_forked(source, lane, toolchain) and not self._new_interpreters:
            executor = self.backend(BackendKey(lane.toolchain))
            assert isinstance(executor, Executor)
            return executor.run_script(source)
        scratch, targets = self._scratch / "scripts", [lane.target]
        done = script.run(source, toolchain, self.bounds, scratch, give_up=self.give_up, targets=targets)
        with self._lock:
            self._script_cpu += done.cpu_seconds
        return done

    def key_of(self, lane: LaneSpec) -> BackendKey:
        """The backend of a lane. References belong to the host."""
        return BackendKey(lane.toolchain, device_of(lane, self._machine))

    def _in_backends(self, lanes: Sequence[LaneSpec], run: Callable[[Backend, list[LaneSpec]], Result]) -> Result:
        outcomes: dict[LaneSpec, Outcome] = {}
        stage_cpu: dict[Stage, float] = {}
        cpu = 0.0
        keys = {lane: self.key_of(lane) for lane in lanes}
        for key in dict.fromkeys(keys.values()):
            result = run(self.backend(key), [lane for lane in lanes if keys[lane] == key])
            outcomes.update(result.outcomes)
            for stage, seconds in result.stage_cpu.items():
                stage_cpu[stage] = stage_cpu.get(stage, 0.0) + seconds
            cpu += result.cpu_seconds
        return Result({lane: outcomes[lane] for lane in lanes}, stage_cpu, cpu)

    def backend(self, key: BackendKey) -> Backend:
        """The backend, started at the first call. Backends of different keys start side by side. Raise
        `EnvironmentMissing` where the toolchain is missing or does not start."""
        with self._lock:
            if self._closed:
                raise EnvironmentMissing("this fleet is closed")
            starting = self._starting.setdefault(key, threading.Lock())
        with starting:
            if self._closed:
                raise EnvironmentMissing("this fleet is closed")
            if key not in self._backends:
                self._backends[key] = self._started(key)
            return self._backends[key]

    def _started(self, key: BackendKey) -> Backend:
        scratch, toolchain = self._scratch / str(key), self._find(key.toolchain)
        untrusted_files.make_folder(self._scratch)
        if key.device:
            return DevicePool(scratch, self._machine.devices(key.device), toolchain, self.bounds, tell=self._tell)
        return Executor(scratch, toolchain, self.bounds, lambda: self.give_up())
