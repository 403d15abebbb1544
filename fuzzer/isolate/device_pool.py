"""Runs lanes on GPUs: one spawned worker for each device, each case on the first that is free. Like `Executor`."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from fuzzer.isolate.child_process import Bounds
from fuzzer.isolate.device_supervisor import Care, Quarantined, Station
from fuzzer.isolate.reports import SanitizerReport, Tool
from fuzzer.isolate.sanitizer import examine
from fuzzer.system import processes
from fuzzer.system.devices import Device
from fuzzer.toolchains.toolchain import HOST, Toolchain
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Result, Skipped

STOP_SECONDS = 60.0


def to_nobody(message: str) -> None:
    return None


class DevicePool:
    """Threads may call `run` at the same time: as many run as there are devices, the others wait.

    `tell` gets a line for each device that is quarantined, at once; `quarantined` lists them all. `kill` ends a process
    and what it started.
    """

    def __init__(
        self,
        scratch: Path,
        devices: Sequence[Device],
        toolchain: Toolchain = HOST,
        bounds: Bounds = Bounds(),
        care: Care = Care(),
        tell: Callable[[str], None] = to_nobody,
        kill: Callable[[int], None] = processes.kill_group,
    ) -> None:
        self.bounds = bounds
        self._scratch = scratch = scratch.absolute()
        self._tell = tell
        scratch.mkdir(parents=True, exist_ok=True)
        # the kernel ends a process together with the thread that started it: this one lives as long as the pool
        self._keeper = ThreadPoolExecutor(1, "keeper")
        self.stations = tuple(Station(device, scratch, self._keeper, toolchain, care, kill) for device in devices)
        self._free = list(self.stations)
        self._changed = threading.Condition()
        self._closed = False

    def __enter__(self) -> DevicePool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._closed = True
        for station in self.stations:
            station.stop()
        with self._changed:
            self._changed.notify_all()
            self._changed.wait_for(lambda: len(self._free) + len(self.quarantined) == len(self.stations), STOP_SECONDS)
        for station in self.stations:
            station.retire()
        self._keeper.shutdown()
        shutil.rmtree(self._scratch, ignore_errors=True)

    @property
    def versions(self) -> dict[str, str]:
        """What workers said of themselves: versions of what they loaded, and how they compute float32 products; and the
        names of the devices."""
        names = ", ".join(dict.fromkeys(station.device.name for station in self.stations if station.device.name))
        stated = {key: value for station in self.stations for key, value in station.stated.items()}
        return {**stated, "device": names} if names else stated

    @property
    def cpu_seconds(self) -> float:
        """Of every worker, the known answers included."""
        return sum(station.cpu_seconds for station in self.stations)

    @property
    def quarantined(self) -> dict[Device, str]:
        """The devices that are not used any more, each with the reason."""
        return {each.device: each.state.reason for each in self.stations if isinstance(each.state, Quarantined)}

    def run(self, case: Case, lanes: Sequence[LaneSpec], bounds: Bounds | None = None) -> Result:
        """The outcome of every lane. What the quarantine of a device leaves over, another device runs; with none left
        it is `Skipped`, by the environment; so are lanes that are under way when the pool is closed."""
        result, pending, cpu = Result({}), list(lanes), 0.0
        while pending:
            with self._taken() as station:
                if station is None:
                    break
                cpu += station.run(case, pending, bounds or self.bounds, result)
            pending = [lane for lane in pending if lane not in result.outcomes]
        for lane in pending:
            result.outcomes[lane] = Skipped(self._why_none(), environment=True)
        return Result({lane: result.outcomes[lane] for lane in lanes}, dict(result.stage_cpu), cpu)

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec], bounds: Bounds | None = None) -> Result:
        """Like `run`, each lane in a worker where nothing but the known answer ran before: what confirms a finding."""
        alone = {replace(lane, fresh=True): lane for lane in lanes}
        result = self.run(case, tuple(alone), bounds)
        return replace(result, outcomes={alone[lane]: outcome for lane, outcome in result.outcomes.items()})

    def examine(self, case: Case, lane: LaneSpec, tools: Sequence[Tool] = tuple(Tool)) -> tuple[SanitizerReport, ...]:
        """What compute-sanitizer says of one run of the lane; nothing where it is missing, or no device is left."""
        with self._taken() as station:
            if station is None:
                return ()
            return examine(case, lane, station.device, self._scratch, tools, self.bounds, station.toolchain)

    @contextmanager
    def _taken(self) -> Iterator[Station | None]:
        """A device for this thread alone; None where all are quarantined, or the pool is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._free or self._closed or len(self.quarantined) == len(self.stations))
            station = None if self._closed or not self._free else self._free.pop(0)
        if station is None:
            yield None
            return
        try:
            yield station
        finally:
            with self._changed:
                if isinstance(station.state, Quarantined):
                    self._tell(f"{station.device} is not used any more: {station.state.reason}")
                else:
                    self._free.append(station)
                self._changed.notify_all()

    def _why_none(self) -> str:
        if self._closed:
            return "the campaign is stopping"
        if not self.stations:
            return "there is no GPU here"
        return "every GPU is quarantined: " + "; ".join(f"{each}: {why}" for each, why in self.quarantined.items())
