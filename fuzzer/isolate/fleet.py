"""Runs the lanes of a case each where it belongs: one backend per toolchain, started when its first lane comes."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol

from fuzzer.isolate.child_process import Bounds
from fuzzer.isolate.executor import EnvironmentMissing, Executor
from fuzzer.isolate.toolchain import HOST_NAME, Toolchain
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Result, Stage

Find = Callable[[str], Toolchain]
"""From a toolchain's name to it; raises `EnvironmentMissing` where there is none."""


class Backend(Protocol):
    """Something that runs lanes: an `Executor`, or what is written for devices that no process may fork with."""

    @property
    def versions(self) -> dict[str, str]: ...
    @property
    def cpu_seconds(self) -> float: ...
    def run(self, case: Case, lanes: Sequence[LaneSpec], bounds: Bounds | None = None) -> Result: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None: ...


def key_of(lane: LaneSpec) -> str:
    """Which backend runs the lane. References are lanes of the host."""
    return lane.toolchain


class Fleet:
    """What an `Executor` is, for lanes of several toolchains. Threads may call `run` at the same time."""

    def __init__(self, scratch: Path, find: Find, bounds: Bounds = Bounds()) -> None:
        self.bounds = bounds
        self._scratch = scratch
        self._find = find
        self._backends: dict[str, Backend] = {}
        self._lock = threading.Lock()
        self._closed = False

    def __enter__(self) -> Fleet:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._closed = True
        with self._lock:
            for backend in self._backends.values():
                backend.__exit__(kind, error, tb)
        shutil.rmtree(self._scratch, ignore_errors=True)

    @property
    def versions(self) -> dict[str, str]:
        """The host's, and those in which started toolchains differ from it, as `tvm@0.26.0`."""
        host = dict(self.backend(HOST_NAME).versions)
        more = {
            f"{name}@{key}": version
            for key, backend in dict(self._backends).items()
            for name, version in backend.versions.items()
            if host.get(name) != version
        }
        return {**host, **more}

    @property
    def cpu_seconds(self) -> float:
        """Of all zygotes and children so far."""
        return sum(backend.cpu_seconds for backend in list(self._backends.values()))

    def run(self, case: Case, lanes: Sequence[LaneSpec], bounds: Bounds | None = None) -> Result:
        """The outcome of every lane, in their order."""
        outcomes: dict[LaneSpec, Outcome] = {}
        stage_cpu: dict[Stage, float] = {}
        cpu = 0.0
        for key in dict.fromkeys(map(key_of, lanes)):
            result = self.backend(key).run(case, [lane for lane in lanes if key_of(lane) == key], bounds)
            outcomes.update(result.outcomes)
            for stage, seconds in result.stage_cpu.items():
                stage_cpu[stage] = stage_cpu.get(stage, 0.0) + seconds
            cpu += result.cpu_seconds
        return Result({lane: outcomes[lane] for lane in lanes}, stage_cpu, cpu)

    def backend(self, key: str) -> Backend:
        """Started at the first call. Raise `EnvironmentMissing` where there is none, or it does not start."""
        with self._lock:
            if self._closed:
                raise EnvironmentMissing("this fleet is closed")
            if key not in self._backends:
                self._backends[key] = Executor(self._scratch / key, self._find(key), self.bounds)
            return self._backends[key]
