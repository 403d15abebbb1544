"""One device and its worker: from the start over the known answer to use, recycling and, at the end, quarantine.

    Empty --known answer--> InUse --200 tests, an error of CUDA, a death, a deadline--> Empty
      |  wrong, 3 times in a row                  |  SIGKILL does not end it, the hardware says that it is broken
      +-------------------> Quarantined <---------+

No lane is blamed for what another left behind: what could come from the device counts only where nothing but the known
answer ran in the process before; elsewhere the lane runs again, in a fresh worker.
"""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, assert_never

from multiprocess.connection import Connection

from fuzzer.isolate import protocol
from fuzzer.isolate.child_process import Bounds, ChildProcess, OwnChild, OwnFailure, together, with_deadline
from fuzzer.isolate.known_answer import KNOWN_ANSWER
from fuzzer.signature import GpuDamage, gpu_damage_of
from fuzzer.system import processes
from fuzzer.system.devices import Device
from fuzzer.toolchains.toolchain import HOST, Toolchain, toolchain_environment
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Died, Outcome, Raised, Result, Skipped, Stage, TimedOut, Unsupported

START_SECONDS = 180.0
ON_THE_DEVICE = (Stage.LOAD, Stage.RUN)
START_BOUNDS = Bounds(wall_seconds=START_SECONDS, cpu_seconds=START_SECONDS)


@dataclass(frozen=True, slots=True)
class Care:
    """tests          after so many, a worker is replaced
    attempts       so many workers in a row that do not give the known answer are the end of their device
    grace_seconds  a process that is still there so long after SIGKILL is the end of its device
    """

    tests: int = 200
    attempts: int = 3
    grace_seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class Empty:
    """No worker. `failures` of the last ones did not give the known answer, the last for `reason`."""

    failures: int = 0
    reason: str = ""


@dataclass(slots=True)
class InUse:
    """A worker that gave the known answer, and has run lanes of `tests` tests since."""

    worker: ChildProcess
    tests: int = 0


@dataclass(frozen=True, slots=True)
class Quarantined:
    """No more runs on this device, for `reason`."""

    reason: str


State = Empty | InUse | Quarantined


@dataclass(slots=True)
class Station:
    """Used by one thread at a time; `keeper` starts its processes, which end with the thread that started them.

    stated      what the last worker said of itself: versions, precision
    started     workers, so far
    repeated    lanes that failed where others had run before them, and so ran again; `unrepeated` did not fail then
    """

    device: Device
    scratch: Path
    keeper: ThreadPoolExecutor
    toolchain: Toolchain = HOST
    care: Care = Care()
    kill: Callable[[int], None] = processes.kill_group
    state: State = Empty()
    stated: dict[str, str] = field(default_factory=dict)
    closed: bool = False
    started: int = 0
    repeated: int = 0
    unrepeated: int = 0
    _ended_cpu: float = 0.0
    _doubted: LaneSpec | None = None

    def run(self, case: Case, lanes: Sequence[LaneSpec], bounds: Bounds, result: Result) -> float:
        """Store the outcome of each lane; some have none where the device is quarantined on the way. CPU seconds."""
        pending, cpu = list(lanes), 0.0
        while pending:
            batch = together(pending)
            in_use = self.ready(alone=batch[0].fresh)
            if in_use is None:
                break
            cpu += self._run(in_use, case, batch, bounds, result)
            pending = [lane for lane in pending if lane not in result.outcomes]
        return cpu

    def ready(self, alone: bool = False) -> InUse | None:
        """With `alone`, a worker in which nothing ran before; None where the device is quarantined, or all is over."""
        while not self.closed:
            match self.state:
                case Quarantined():
                    return None
                case InUse(tests=tests) as in_use if tests == 0 or (tests < self.care.tests and not alone):
                    return in_use
                case InUse():
                    self.retire()
                case Empty(failures=failures):
                    self._start(failures)
                case _:
                    assert_never(self.state)
        return None

    def stop(self) -> None:
        """Let the thread that uses this come back at once: what it waits for is ended. Any thread may call it."""
        self.closed = True
        if isinstance(state := self.state, InUse):
            self.kill(state.worker.pid)

    def retire(self) -> None:
        """End the worker, if there is one. One that does not end takes its device with it."""
        if isinstance(self.state, InUse):
            worker, self.state = self.state.worker, Empty()
            self._end(worker)

    @property
    def cpu_seconds(self) -> float:
        """Of its workers, those that have ended and the one in use."""
        return self._ended_cpu + (self.state.worker.cpu_seconds if isinstance(self.state, InUse) else 0.0)

    def _run(self, in_use: InUse, case: Case, batch: Sequence[LaneSpec], bounds: Bounds, result: Result) -> float:
        """Run lanes, and store what counts of what became of them."""
        worker, first, seen = in_use.worker, in_use.tests == 0, Result({})
        before = worker.cpu_seconds
        in_use.tests += 1
        still_there = worker.run(case, batch, bounds, seen)
        if self.closed:  # what it says is the work of `stop`
            return worker.cpu_seconds - before
        for key, seconds in seen.stage_cpu.items():
            result.stage_cpu[key] = result.stage_cpu.get(key, 0.0) + seconds
        for lane in batch:
            outcome = seen.outcomes.get(lane)
            if outcome is None:
                break  # the worker went before it
            if may_be_damage(outcome):  # what the same worker did after this lane is not looked at
                self._give_up(lane, outcome)
                if isinstance(self.state, Quarantined):
                    outcome = Skipped(f"{self.device} is quarantined: {self.state.reason}", environment=True)
                elif not first:
                    self.repeated, self._doubted = self.repeated + 1, lane
                    break
                result.outcomes[lane] = outcome
                break
            self.unrepeated += lane == self._doubted
            result.outcomes[lane], self._doubted, first = outcome, None, False
        if not still_there:
            self.retire()
        return worker.cpu_seconds - before

    def _give_up(self, lane: LaneSpec, outcome: Outcome) -> None:
        """End the worker; and the use of its device, where that is what is broken."""
        self.retire()
        if gpu_damage_of(outcome) is GpuDamage.DEVICE:
            self.state = Quarantined(f"{_told(outcome)}, while it ran {lane}")

    def _start(self, failures: int) -> None:
        """Start a worker and ask it for the known answer."""
        self.started += 1
        try:
            worker = self.keeper.submit(self._spawn).result()
        except OSError as error:
            self._failed(failures, Raised(Stage.START, type(error).__name__, str(error)))
            return
        outcome = self._asked(worker)
        if KNOWN_ANSWER.is_given(outcome):
            self.state = InUse(worker)
        else:
            self._failed(failures, outcome)
            self._end(worker)

    def _failed(self, failures: int, outcome: Outcome) -> None:
        reason = f"no known answer: {_told(outcome)}"
        if gpu_damage_of(outcome) is GpuDamage.DEVICE or failures + 1 >= self.care.attempts:
            self.state = Quarantined(reason)
        else:
            self.state = Empty(failures + 1, reason)

    def _asked(self, worker: ChildProcess) -> Outcome:
        """What becomes of the known answer. A worker that does not even start has not given it."""
        known, result = KNOWN_ANSWER, Result({})
        try:
            if not worker.connection.poll(START_SECONDS):
                return TimedOut(Stage.START, START_SECONDS)
            message, _ = protocol.receive(worker.connection)
        except (EOFError, OSError, protocol.ProtocolError):
            tail = worker.log_tail().strip().splitlines()[-3:]
            return Raised(Stage.START, "EnvironmentMissing", " | ".join(tail))
        if isinstance(message, protocol.Started):
            self.stated = message.stated
        try:
            worker.run(known.case, [known.lane], START_BOUNDS, result)
        except OwnFailure as error:
            return Raised(Stage.START, OwnFailure.__name__, str(error))
        return result.outcomes[known.lane]

    def _spawn(self) -> ChildProcess:
        scratch = tempfile.mkdtemp(dir=self.scratch)
        process, connection, log = spawned(self.device, self.toolchain, self.scratch)
        return ChildProcess(
            process.pid, connection, OwnChild(process), log, scratch, self.kill, self.care.grace_seconds
        )

    def _end(self, worker: ChildProcess) -> None:
        self._ended_cpu += worker.close()
        if worker.ended is None:
            seconds = self.care.grace_seconds
            self.state = Quarantined(f"its process {worker.pid} is still there {seconds:g} s after SIGKILL")


def spawned(
    device: Device, toolchain: Toolchain, scratch: Path, before: Sequence[str] = ()
) -> tuple[subprocess.Popen[bytes], Connection, IO[bytes]]:
    """A worker's process, its connection and its log; `before` are words that come before its command."""
    ours, theirs = socket.socketpair()
    log = tempfile.TemporaryFile()  # noqa: SIM115 - the child process closes it
    module = "fuzzer.children.device_worker"  # -P: whatever lies in the user's folder is no module of ours
    parent = "0" if before else str(os.getpid())  # 0: whoever starts it, which is what `before` names
    command = [toolchain.python, "-P", "-m", module, str(theirs.fileno()), parent, device.opener]
    command += toolchain.preload.arguments if toolchain.preload else ()
    with theirs:
        try:
            process = subprocess.Popen(
                [*before, *command],
                env=environment_of(device, toolchain, scratch),
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        except OSError:
            ours.close()
            log.close()
            raise
    return process, with_deadline(ours, START_SECONDS), log


def environment_of(device: Device, toolchain: Toolchain, scratch: Path) -> dict[str, str]:
    """One device to see, one thread, and no TF32 in NVIDIA's libraries, whoever calls them."""
    mine = {"PYTHONHASHSEED": "0", "CUDA_VISIBLE_DEVICES": device.id, "NVIDIA_TF32_OVERRIDE": "0"}
    return {**toolchain_environment(toolchain, scratch), **processes.ONE_THREAD, **mine}


def may_be_damage(outcome: Outcome) -> bool:
    """Whether an outcome could come from what an earlier lane did to the process or to its device. What is raised
    before anything is loaded touches neither."""
    if isinstance(outcome, Died | TimedOut) or gpu_damage_of(outcome) is not GpuDamage.NONE:
        return True
    return isinstance(outcome, Raised) and outcome.stage in ON_THE_DEVICE


def _told(outcome: Outcome) -> str:
    match outcome:
        case Raised(type=name, message=message):
            return f"{name}: {message.strip().partition(chr(10))[0]}"
        case Died(cause=cause, code=code, log=log):
            return f"its process died ({cause} {code}): {log.strip().rpartition(chr(10))[2]}"
        case TimedOut(stage=stage, seconds=seconds):
            return f"nothing after {seconds:g} s in {stage}"
        case Unsupported(reason=reason) | Skipped(reason=reason):
            return reason
        case _:
            return "another result"
