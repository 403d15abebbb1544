"""Run lanes on GPUs. Each device has a spawned worker; a case runs on the first free device. The methods are those of
`Executor`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from fuzzer.isolate.child_process import Bounds
from fuzzer.isolate.device_supervisor import DeviceSupervisor, Quarantined, WorkerLimits
from fuzzer.isolate.reports import SanitizerReport, Tool
from fuzzer.isolate.sanitizer import examine
from fuzzer.system import process_tree, untrusted_files
from fuzzer.system.devices import Device
from fuzzer.toolchains.toolchain import HOST, Toolchain
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Result, Skipped

STOP_SECONDS = 60.0


def discard(message: str) -> None:
    """Drop a message."""


class DevicePool:
    """The GPUs of a machine. Several threads may call `run`: as many run at a time as there are devices.

    `tell` gets a line when a device is quarantined; `quarantined` lists all quarantined devices. `kill` ends a process
    and the processes that it started.
    """

    def __init__(
        self,
        scratch: Path,
        devices: Sequence[Device],
        toolchain: Toolchain = HOST,
        bounds: Bounds = Bounds(),
        limits: WorkerLimits = WorkerLimits(),
        tell: Callable[[str], None] = discard,
        kill: Callable[[int], None] = process_tree.kill,
    ) -> None:
        self.bounds = bounds
        self._scratch = scratch = untrusted_files.real(scratch)
        self._tell = tell
        untrusted_files.make_folder(scratch)
        # the kernel kills a worker when the thread that started it ends; this thread lives as long as the pool
        self._keeper = ThreadPoolExecutor(1, "keeper")
        self.supervisors = tuple(
            DeviceSupervisor(device, scratch, self._keeper, toolchain, limits, kill) for device in devices
        )
        self._free = list(self.supervisors)
        self._changed = threading.Condition()
        self._examined_cpu = 0.0
        self._closed = False

    def __enter__(self) -> DevicePool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._closed = True
        for supervisor in self.supervisors:
            supervisor.stop()
        with self._changed:
            self._changed.notify_all()
            self._changed.wait_for(self._nothing_runs, STOP_SECONDS)
        for supervisor in self.supervisors:
            supervisor.retire()
        self._keeper.shutdown()
        untrusted_files.remove(self._scratch)

    def _nothing_runs(self) -> bool:
        """Whether no thread uses a device. A device that `check_devices` has quarantined was never taken by one."""
        return all(each in self._free or isinstance(each.state, Quarantined) for each in self.supervisors)

    @property
    def versions(self) -> dict[str, str]:
        """What the workers reported, versions of packages and the precision of float32 products; and the names of the
        devices."""
        names = ", ".join(
            dict.fromkeys(supervisor.device.name for supervisor in self.supervisors if supervisor.device.name)
        )
        stated = {key: value for supervisor in self.supervisors for key, value in supervisor.stated.items()}
        return {**stated, "device": names} if names else stated

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds of all workers, including the known answers and the runs under compute-sanitizer."""
        return self._examined_cpu + sum(supervisor.cpu_seconds for supervisor in self.supervisors)

    @property
    def quarantined(self) -> dict[Device, str]:
        """The devices that are no longer used, each with the reason."""
        return {each.device: each.state.reason for each in self.supervisors if isinstance(each.state, Quarantined)}

    def run(self, case: Case, lanes: Sequence[LaneSpec], bounds: Bounds | None = None) -> Result:
        """The outcome of every lane. When a device is quarantined, another device runs its remaining lanes. Lanes are
        `Skipped` for the environment where no device is left, or where the pool is closed meanwhile."""
        result, pending, cpu = Result({}), list(lanes), 0.0
        while pending:
            with self._taken() as supervisor:
                if supervisor is None:
                    break
                cpu += supervisor.run(case, pending, bounds or self.bounds, result)
            pending = [lane for lane in pending if lane not in result.outcomes]
        for lane in pending:
            result.outcomes[lane] = Skipped(self._why_none(), environment=True)
        return Result({lane: result.outcomes[lane] for lane in lanes}, dict(result.stage_cpu), cpu)

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec], bounds: Bounds | None = None) -> Result:
        """Like `run`, but each lane runs in a worker that ran only the known answer before. Findings are confirmed
        so."""
        alone = {replace(lane, fresh=True): lane for lane in lanes}
        result = self.run(case, tuple(alone), bounds)
        return replace(result, outcomes={alone[lane]: outcome for lane, outcome in result.outcomes.items()})

    def examine(self, case: Case, lane: LaneSpec, tools: Sequence[Tool] = tuple(Tool)) -> tuple[SanitizerReport, ...]:
        """Run the lane under compute-sanitizer and return its reports; empty where the program is missing or no device
        is left."""
        with self._taken() as supervisor:
            if supervisor is None:
                return ()
            reports = examine(case, lane, supervisor.device, self._scratch, tools, self.bounds, supervisor.toolchain)
        with self._changed:
            self._examined_cpu += sum(report.cpu_seconds for report in reports)
        return reports

    @contextmanager
    def _taken(self) -> Iterator[DeviceSupervisor | None]:
        """Reserve a device for this thread; None where all are quarantined or the pool is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._free or self._closed or len(self.quarantined) == len(self.supervisors))
            supervisor = None if self._closed or not self._free else self._free.pop(0)
        if supervisor is None:
            yield None
            return
        try:
            yield supervisor
        finally:
            with self._changed:
                if isinstance(supervisor.state, Quarantined):
                    self._tell(f"{supervisor.device} is no longer used: {supervisor.state.reason}")
                else:
                    self._free.append(supervisor)
                self._changed.notify_all()

    def _why_none(self) -> str:
        if self._closed:
            return "the campaign is stopping"
        if not self.supervisors:
            return "there is no GPU here"
        return "every GPU is quarantined: " + "; ".join(f"{each}: {why}" for each, why in self.quarantined.items())
