"""Supervises the worker of one device: starts it, checks it, runs lanes in it, replaces it, and quarantines the device.

    Empty --known answer--> InUse --200 tests, an error of CUDA, a death, a deadline--> Empty
      |  wrong, 3 times in a row                  |  SIGKILL does not end it, the hardware says that it is broken
      +-------------------> Quarantined <---------+

Where the machine is short of something when a worker starts, as of space on the disk, the state is Short until the
next lanes come: that says nothing about the device. The lanes are skipped for the environment.

A worker is used after it gave the known answer to a small case. No lane gets a failure that an earlier lane caused: a
failure that may come from a damaged device counts only where the worker ran nothing but the known answer before.
Otherwise the lane runs again in a fresh worker.
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
from fuzzer.isolate.child_process import Bounds, ChildProcess, ChildReaper, next_batch, with_deadline
from fuzzer.isolate.known_answer import KNOWN_ANSWER
from fuzzer.isolate.running_job import POLL_SECONDS, OwnFailure
from fuzzer.signature import GpuDamage, gpu_damage_of, passing_lack
from fuzzer.system import files, process_tree, processes, strays, untrusted_files
from fuzzer.system.devices import Device
from fuzzer.system.process_clock import ProcessClock
from fuzzer.toolchains.toolchain import HOST, Toolchain, toolchain_environment
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Broken, Died, Outcome, Raised, Result, Skipped, Stage, TimedOut, Unsupported

START_SECONDS = 180.0
ON_THE_DEVICE = (Stage.LOAD, Stage.RUN)
START_BOUNDS = Bounds(wall_seconds=START_SECONDS, cpu_seconds=START_SECONDS)


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """When a worker is replaced, and when a device is quarantined.

    tests          a worker is replaced after this many tests
    attempts       the device is quarantined after this many workers in a row without the known answer
    grace_seconds  the device is quarantined where a process still exists so long after SIGKILL
    """

    tests: int = 200
    attempts: int = 3
    grace_seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class Empty:
    """There is no worker. The last `failures` workers did not give the known answer; `reason` is why the last one did
    not."""

    failures: int = 0
    reason: str = ""


@dataclass(slots=True)
class InUse:
    """A worker that gave the known answer, and has run lanes of `tests` tests since then."""

    worker: ChildProcess
    tests: int = 0


@dataclass(frozen=True, slots=True)
class Quarantined:
    """The device is no longer used, for `reason`."""

    reason: str


@dataclass(frozen=True, slots=True)
class Short:
    """There is no worker, because the machine was short of something for a moment: `reason`. The next lanes start one.
    `failures` as in `Empty`."""

    failures: int
    reason: str


State = Empty | InUse | Quarantined | Short


@dataclass(slots=True)
class DeviceSupervisor:
    """Supervises one device. One thread uses it at a time. `keeper` is the thread that starts the workers, because a
    worker ends with the thread that started it.

    stated      what the last worker reported: versions, precision
    started     the number of workers that were started
    repeated    the number of lanes that failed after other lanes and ran again; `unrepeated` of them did not fail again
    """

    device: Device
    scratch: Path
    keeper: ThreadPoolExecutor
    toolchain: Toolchain = HOST
    limits: WorkerLimits = WorkerLimits()
    kill: Callable[[int], None] = process_tree.kill
    state: State = Empty()
    stated: dict[str, str] = field(default_factory=dict)
    closed: bool = False
    started: int = 0
    repeated: int = 0
    unrepeated: int = 0
    _ended_cpu: float = 0.0
    _doubted: LaneSpec | None = None

    def run(self, case: Case, lanes: Sequence[LaneSpec], bounds: Bounds, result: Result) -> float:
        """Run lanes and store their outcomes; return the CPU seconds. Lanes that are left when the device is
        quarantined have no outcome. Those left when the machine is short of something are skipped."""
        pending, cpu = list(lanes), 0.0
        while pending:
            batch = next_batch(pending)
            in_use = self.ready(alone=batch[0].fresh)
            if in_use is None:
                break
            cpu += self._run(in_use, case, batch, bounds, result)
            pending = [lane for lane in pending if lane not in result.outcomes]
        if isinstance(self.state, Short):
            result.outcomes.update(dict.fromkeys(pending, Skipped(self.state.reason, environment=True)))
        return cpu

    def ready(self, alone: bool = False) -> InUse | None:
        """Return a worker that can run lanes; with `alone`, a worker that ran only the known answer before. Return None
        where the device is quarantined or closed, or the machine is short of something."""
        if isinstance(self.state, Short):
            self.state = Empty(self.state.failures, self.state.reason)
        while not self.closed:
            match self.state:
                case Quarantined() | Short():
                    return None
                case InUse(tests=tests) as in_use if tests == 0 or (tests < self.limits.tests and not alone):
                    return in_use
                case InUse():
                    self.retire()
                case Empty(failures=failures):
                    self._start(failures)
                case _:
                    assert_never(self.state)
        return None

    def stop(self) -> None:
        """Kill the worker, so that the thread that waits for it returns at once. Any thread may call this."""
        self.closed = True
        if isinstance(state := self.state, InUse):
            self.kill(state.worker.pid)

    def retire(self) -> None:
        """End the worker, if there is one. The device is quarantined where the worker does not end."""
        if isinstance(self.state, InUse):
            worker, self.state = self.state.worker, Empty()
            self._end(worker)

    @property
    def why_unused(self) -> str:
        """Why no lane can run: the device is quarantined, or had no worker at the last attempt; "" otherwise."""
        return self.state.reason if isinstance(self.state, Quarantined | Short) else ""

    @property
    def cpu_seconds(self) -> float:
        """The CPU seconds of all workers, including the one in use."""
        return self._ended_cpu + (self.state.worker.cpu_seconds if isinstance(self.state, InUse) else 0.0)

    def _run(self, in_use: InUse, case: Case, batch: Sequence[LaneSpec], bounds: Bounds, result: Result) -> float:
        """Run lanes, and store the outcomes that cannot come from an earlier lane; return the CPU seconds."""
        worker, first, observed = in_use.worker, in_use.tests == 0, Result({})
        before = worker.cpu_seconds
        in_use.tests += 1
        healthy = worker.run(case, batch, bounds, observed)
        if self.closed:  # `stop` may have caused the outcomes
            return worker.cpu_seconds - before
        for key, seconds in observed.stage_cpu.items():
            result.stage_cpu[key] = result.stage_cpu.get(key, 0.0) + seconds
        for lane in batch:
            outcome = observed.outcomes.get(lane)
            if outcome is None:
                break  # the worker ended before this lane
            if may_be_damage(outcome):  # later outcomes of the same worker do not count
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
        if not healthy:
            self.retire()
        return worker.cpu_seconds - before

    def _give_up(self, lane: LaneSpec, outcome: Outcome) -> None:
        """End the worker; quarantine the device where the outcome shows that the device is broken."""
        self.retire()
        if gpu_damage_of(outcome) is GpuDamage.DEVICE:
            self.state = Quarantined(f"{_description(outcome)}, while it ran {lane}")

    def _start(self, failures: int) -> None:
        """Start a worker and ask it for the known answer."""
        self.started += 1
        try:
            worker = self.keeper.submit(self._spawn).result()
        except OSError as error:
            self._failed(failures, Raised(Stage.START, type(error).__name__, str(error)))
            return
        outcome = self._run_known_answer(worker)
        if KNOWN_ANSWER.is_given(outcome):
            self.state = InUse(worker)
        else:
            self._failed(failures, outcome)
            self._end(worker)

    def _failed(self, failures: int, outcome: Outcome) -> None:
        """Record that a worker did not give the known answer. Quarantine the device after `limits.attempts` such
        workers in a row, or where the outcome shows that it is broken. One that the machine was short of something for
        does not count."""
        reason = f"no known answer: {_description(outcome)}"
        if lack := passing_lack(outcome):
            self.state = Short(failures, f"{self.device} has no worker: {lack}")
        elif gpu_damage_of(outcome) is GpuDamage.DEVICE or failures + 1 >= self.limits.attempts:
            self.state = Quarantined(reason)
        else:
            self.state = Empty(failures + 1, reason)

    def _run_known_answer(self, worker: ChildProcess) -> Outcome:
        """Run the lane with the known answer and return its outcome. A worker that does not start has one too."""
        known, result = KNOWN_ANSWER, Result({})
        try:
            clock = ProcessClock(worker.pid)
            while not worker.connection.poll(POLL_SECONDS):
                if clock.is_over(START_SECONDS):
                    return TimedOut(Stage.START, START_SECONDS)
                if busy := clock.why_short(START_SECONDS):
                    return Skipped(busy, environment=True)
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
        scratch = str(untrusted_files.new_folder(self.scratch))
        try:
            process, connection, log = spawned(self.device, self.toolchain, self.scratch)
        except OSError:
            untrusted_files.remove(Path(scratch))
            raise
        return ChildProcess(
            process.pid, connection, ChildReaper(process), log, scratch, self.kill, self.limits.grace_seconds
        )

    def _end(self, worker: ChildProcess) -> None:
        """End a worker. Quarantine the device where its process remains after SIGKILL."""
        self._ended_cpu += worker.close()
        strays.kill_strays(self.scratch, os.getpid())  # what it started and left
        if worker.ended is None:
            seconds = self.limits.grace_seconds
            self.state = Quarantined(f"its process {worker.pid} is still there {seconds:g} s after SIGKILL")


def spawned(
    device: Device, toolchain: Toolchain, scratch: Path, before: Sequence[str] = ()
) -> tuple[subprocess.Popen[bytes], Connection, IO[bytes]]:
    """Start a worker; return its process, its connection and its log. `before` is put before the command line."""
    ours, theirs = socket.socketpair()
    log = tempfile.TemporaryFile()  # noqa: SIM115 - the child process closes it
    module = "fuzzer.children.device_worker"  # -P: files in the user's folder must not replace modules
    parent = "0" if before else str(os.getpid())  # 0: the process that starts it, here the program of `before`
    command = [toolchain.python, "-P", "-m", module, str(theirs.fileno()), parent, device.opener]
    command += toolchain.preload.arguments if toolchain.preload else ()
    with theirs, files.opened_again(log) as their_log:
        try:
            process = subprocess.Popen(
                [*before, *command],
                env=environment_of(device, toolchain, scratch),
                cwd="/",
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=their_log,
                stderr=their_log,
            )
        except OSError:
            ours.close()
            log.close()
            raise
    strays.mark(process.pid, scratch)
    return process, with_deadline(ours, START_SECONDS), log


def environment_of(device: Device, toolchain: Toolchain, scratch: Path) -> dict[str, str]:
    """The worker's environment: only this device is visible, one thread, and NVIDIA's libraries do not use TF32."""
    own = {"PYTHONHASHSEED": "0", "CUDA_VISIBLE_DEVICES": device.id, "NVIDIA_TF32_OVERRIDE": "0"}
    return {**toolchain_environment(toolchain, scratch), **processes.ONE_THREAD, **own}


def may_be_damage(outcome: Outcome) -> bool:
    """Return whether damage to the process or the device, caused by an earlier lane, may explain the outcome. It never
    explains an exception before the stage `load`."""
    if isinstance(outcome, Died | TimedOut) or gpu_damage_of(outcome) is not GpuDamage.NONE:
        return True
    return isinstance(outcome, Raised) and outcome.stage in ON_THE_DEVICE


def _description(outcome: Outcome) -> str:
    """Return one line about an outcome, for messages."""
    match outcome:
        case Raised(type=name, message=message):
            return f"{name}: {message.strip().partition(chr(10))[0]}"
        case Died(cause=cause, code=code, log=log):
            return f"its process died ({cause} {code}): {log.strip().rpartition(chr(10))[2]}"
        case TimedOut(stage=stage, seconds=seconds):
            return f"nothing after {seconds:g} s in {stage}"
        case Unsupported(reason=reason) | Skipped(reason=reason):
            return reason
        case Broken(error=error):
            return f"difftvm itself failed: {error.partition(chr(10))[0]}"
        case _:
            return "another result"
