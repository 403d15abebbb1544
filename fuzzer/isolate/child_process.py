"""The supervisor's end of a process that runs lanes: it sends jobs, receives messages, and enforces the bounds.

Only this module and `running_job.py` make outcomes. It serves children that a zygote forked and workers that were
spawned for a device. They differ in one thing here: how the supervisor learns that the process ended. A `Reaper` does
that.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Protocol

from multiprocess.connection import Connection, wait

from fuzzer.isolate import protocol
from fuzzer.isolate.frames import Frames
from fuzzer.isolate.running_job import POLL_SECONDS, RunningJob
from fuzzer.signature import classify_failure
from fuzzer.system import files, process_tree, processes, secrets, untrusted_files
from fuzzer.system.cgroup import Group
from fuzzer.system.free_memory import FreeMemory
from fuzzer.system.free_space import RESERVE, FreeSpace
from fuzzer.system.machine_paths import without_machine_paths
from generators.graph import Case, Invalid
from oracles.lane import LaneSpec
from oracles.outcome import (
    Broken,
    Cause,
    Died,
    Facts,
    Outcome,
    Result,
    Skipped,
    Stage,
    TimedOut,
    Unsupported,
)
from oracles.targets import target_named

LOG_BYTES = 20_000
LOG_DISK_BYTES = 16 << 20
"""The most disk space that a log takes. A compiler that prints endlessly would otherwise fill the disk."""

USUAL_NODES = 100
"""No drawn case and no seed case has more."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most that one lane may use: wall and CPU seconds, resident bytes, and threads. All but the wall seconds are
    those of its process and of the processes below it together. `disk_reserve`: the bytes that it must leave free on
    the disk of its folder."""

    wall_seconds: float = 60.0
    cpu_seconds: float = 30.0
    memory_bytes: int = 6 << 30
    threads: int = 512
    disk_reserve: int = RESERVE

    def for_nodes(self, count: int) -> Bounds:
        """The bounds of a case of `count` nodes: one of more than `USUAL_NODES`, a model of a user, may take longer in
        proportion."""
        times = max(1.0, count / USUAL_NODES)
        return replace(self, wall_seconds=times * self.wall_seconds, cpu_seconds=times * self.cpu_seconds)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a process ended: its status as from wait(2), and the CPU seconds of it and of the children that it waited
    for. `with_zygote`: its zygote has ended, and the process with it, for no reason of its own."""

    status: int
    cpu: float
    with_zygote: bool = False


def may_bound_data(targets: Iterable[str]) -> bool:
    """Whether the kernel may bound the data of a process that runs code for these targets. AddressSanitizer, and the
    drivers of GPUs, reserve terabytes of addresses, which count as data."""
    return all(map(_runs_in_plain_process, targets))


def _runs_in_plain_process(target: str) -> bool:
    try:
        return target_named(target).runs.in_plain_process
    except Invalid:  # the child says what is wrong with it
        return True


ENDED_WITH_ZYGOTE = Skipped("its zygote has ended", environment=True)
"""The outcome of a lane whose process ended with its zygote, and so for no reason of its own."""


class ZygoteGone(Exception):
    """The zygote has ended."""


class GaveUp(Exception):
    """The run was given up while it was under way: it has no outcomes."""


GiveUp = Callable[[], bool]
"""Asked ten times a second while something runs: where it returns True, the run is given up."""


def never() -> bool:
    return False


class Reaper(Protocol):
    """Learns how a process ended."""

    @property
    def ready_at_end(self) -> socket.socket | int:
        """What becomes readable when the process has ended."""

    def ending(self, seconds: float) -> Ending | None:
        """Wait up to `seconds` for the process to end; return None where it still runs."""

    def close(self) -> None: ...


class ZygoteReaper:
    """The reaper of a forked child: its zygote waits for it, and reports its end on a socket."""

    def __init__(self, status: socket.socket) -> None:
        self._status = status

    @property
    def ready_at_end(self) -> socket.socket:
        return self._status

    def ending(self, seconds: float) -> Ending | None:
        if not wait([self._status], seconds):
            return None
        with contextlib.suppress(OSError):
            if answer := self._status.recv(256):
                report = json.loads(answer)
                return Ending(int(report["status"]), report["cpu"])
        return Ending(signal.SIGKILL, 0.0, with_zygote=True)

    def close(self) -> None:
        self._status.close()


class ChildReaper:
    """The reaper of a process that the supervisor itself started, as the leader of a process group."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._watched = os.pidfd_open(process.pid)

    @property
    def ready_at_end(self) -> int:
        return self._watched

    def ending(self, seconds: float) -> Ending | None:
        if not wait([self._watched], seconds):
            return None
        processes.kill_group(self._process.pid)  # processes that it started; the pid is not reused before the wait
        _, status, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return Ending(status, usage.ru_utime + usage.ru_stime)

    def close(self) -> None:
        os.close(self._watched)


def same_case(one: Case, other: Case) -> bool:
    """Whether two cases are equal but for their origin."""
    if one is other:
        return True
    return (
        (one.graph, one.sizes, one.also, one.profile) == (other.graph, other.sizes, other.also, other.profile)
        and one.tensors.keys() == other.tensors.keys()
        and all(array.tobytes() == other.tensors[name].tobytes() for name, array in one.tensors.items())
    )


@dataclass(slots=True)
class ChildProcess:
    """A process that runs lanes. `grace_seconds` is how long it may live after SIGKILL. A process that hangs in a
    driver of the kernel may never end; then `ended` stays None. `last` is the last case that it got, and `cases` is how
    many it got: the process keeps the exported programs of the last one, for further lanes. `kernel_bounds`: the kernel
    enforces its bounds too, if wider ones; `group` is its control group, where there is one."""

    pid: int
    connection: Connection
    reaper: Reaper
    log: IO[bytes]
    scratch: str
    kill: Callable[[int], None] = process_tree.kill
    grace_seconds: float = 30.0
    kernel_bounds: bool = False
    group: Group | None = None
    give_up: GiveUp = never
    ended: Ending | None = None
    last: Case | None = None
    cases: int = 0
    log_begin: int = 0

    @property
    def cpu_seconds(self) -> float:
        return self.ended.cpu if self.ended else processes.cpu_seconds(self.pid)

    def run(self, case: Case, lanes: Sequence[LaneSpec], bounds: Bounds, result: Result) -> bool:
        """Run lanes of a case, and store an outcome for each lane that was reached.

        Return True where the job is done. Return False where the process died or exceeded a bound; it must not be used
        again. Raise `OwnFailure` where difftvm's own code failed in the process, and `GaveUp` where `give_up` returned
        True."""
        self.cases += self.last is None or not same_case(self.last, case)
        self.last = case
        self.log_begin = os.fstat(self.log.fileno()).st_size
        job, before = RunningJob(self.pid, lanes, self.scratch, result), set(result.outcomes)
        killed = processes.killed_for_memory()
        messages, most = self.connection.fileno(), protocol.most_bytes(case)
        reserves = FreeMemory(), FreeSpace(Path(self.scratch), bounds.disk_reserve)
        frames, poll = Frames(messages), select.poll()  # `wait` of Connection would register both for each message
        for each in (messages, self.reaper.ready_at_end):
            poll.register(each, select.POLLIN)
        if self.kernel_bounds:
            memory = bounds.memory_bytes if may_bound_data(lane.target for lane in lanes) else None
            processes.bound_by_kernel(self.pid, memory, len(lanes) * bounds.cpu_seconds)
        if self.group:
            self.group.bound(processes.TIMES * bounds.memory_bytes, processes.TIMES * bounds.threads)
        try:
            protocol.send_job(self.connection, case, lanes, self.scratch)
            while not job.is_done:
                ready = [(messages, 0)] if frames.has_next(most) else poll.poll(1000 * POLL_SECONDS)
                readable = {descriptor for descriptor, _ in ready}
                if self.give_up():
                    self.kill(self.pid)
                    raise GaveUp
                if job.is_due and (outcome := self._over_bounds(bounds, job, reserves)):
                    self.kill(self.pid)  # at once, before it takes the machine's memory
                    result.outcomes.setdefault(job.lane, outcome)
                    return False
                if readable and messages not in readable:
                    raise EOFError  # a process that it started may still hold its end of the connection
                if readable and (frame := frames.next(most)) is not None:
                    job.take(*protocol.decoded(frame))
            return True
        except BlockingIOError:  # the process does not take the job
            result.outcomes.setdefault(job.lane, TimedOut(job.stage, bounds.wall_seconds))
        except (EOFError, OSError, protocol.ProtocolError) as error:
            self._end(0.5 if isinstance(error, protocol.ProtocolError) else 5.0)
            if job.lane not in result.outcomes:  # otherwise it died between two lanes, which is no lane's outcome
                result.outcomes[job.lane] = self._outcome_of_death(job, bounds, error, killed)
        finally:
            frames.close()
            with contextlib.suppress(
                protocol.ProtocolError
            ):  # of a lane that ended the process, and its memory may be nonsense
                job.settle()
            for lane in result.outcomes.keys() - before:
                result.outcomes[lane] = _with_facts(result.outcomes[lane], job.facts.get(lane))
        return False

    def close(self, patience: float = 0.5) -> float:
        """End the process and the processes that it started; return its CPU seconds. It has `patience` seconds to end
        by itself."""
        self.connection.close()
        self._end(patience)
        if self.group:
            self.group.close()
        self.reaper.close()
        self.log.close()
        untrusted_files.remove(Path(self.scratch))
        return self.ended.cpu if self.ended else 0.0

    def log_tail(self) -> str:
        """The last part of what the process printed since its last job began."""
        size = os.fstat(self.log.fileno()).st_size  # not by a seek, which would move the process's own position
        begin = min(max(self.log_begin, size - LOG_BYTES), size)  # the process may have cut it
        before = min(begin, secrets.longest())
        text = secrets.blanked(os.pread(self.log.fileno(), size - begin + before, begin - before))
        return text[before:].decode(errors="replace")

    def _over_bounds(self, bounds: Bounds, job: RunningJob, reserves: tuple[FreeMemory, FreeSpace]) -> Outcome | None:
        """The outcome of the lane that runs, where it exceeds a bound. Others may take the memory of the machine and
        its processors, and fill the disk too, so that this is no failure of the lane."""
        files.keep_only_tail(self.log.fileno(), LOG_BYTES, LOG_DISK_BYTES)
        used, most, own = process_tree.usage(self.pid), bounds.memory_bytes, job.clock.own_seconds()
        if used.threads > bounds.threads:
            return Died(job.stage, Cause.MEMORY, signal.SIGKILL, f"more than {bounds.threads} processes and threads")
        if used.resident > most and (used.processes == 1 or process_tree.proportional_bytes(self.pid) > most):
            return _too_much_memory(job.stage, bounds)
        if short := next((why for each in reserves if (why := each.why_short())), ""):
            return Skipped(short, environment=True)
        if own > bounds.wall_seconds or used.cpu - job.cpu_began > bounds.cpu_seconds:
            return TimedOut(job.stage, round(own, 1))
        busy = job.clock.why_short(bounds.wall_seconds)
        return Skipped(busy, environment=True) if busy else None

    def _outcome_of_death(self, job: RunningJob, bounds: Bounds, error: Exception, killed: int) -> Outcome:
        """The outcome of the lane in which the process ended. The kernel may have ended it for its bounds, or because
        the machine had no memory left: it had ended `killed` processes for that when the job began."""
        if self.ended and self.ended.with_zygote:
            return ENDED_WITH_ZYGOTE
        ended_by = os.WTERMSIG(self.ended.status) if self.ended and os.WIFSIGNALED(self.ended.status) else 0
        if ended_by == signal.SIGXCPU:
            return TimedOut(job.stage, round(job.clock.own_seconds(), 1))
        if ended_by == signal.SIGKILL and self.group and self.group.was_out_of_memory:
            return _too_much_memory(job.stage, bounds)
        sent_nonsense = isinstance(error, protocol.ProtocolError)  # for which it was ended here
        if ended_by == signal.SIGKILL and not sent_nonsense and processes.killed_for_memory() > killed:
            return Skipped(processes.SHORT_OF_MEMORY, environment=True)
        return classify_failure(self._death(job.stage, error))

    def _death(self, stage: Stage, error: Exception) -> Died:
        status = self.ended.status if self.ended else signal.SIGKILL
        log = without_machine_paths(self.log_tail(), self.scratch)
        if isinstance(error, protocol.ProtocolError):
            log += f"\nit sent nonsense: {error}"
        if os.WIFSIGNALED(status):
            return Died(stage, Cause.SIGNAL, os.WTERMSIG(status), log)
        return Died(stage, Cause.EXIT, os.waitstatus_to_exitcode(status), log)

    def _end(self, patience: float) -> None:
        """Give the process `patience` seconds to end by itself, then kill it. Record how it ended."""
        if self._has_ended(patience):
            return
        self.kill(self.pid)
        self._has_ended(self.grace_seconds)

    def _has_ended(self, seconds: float) -> bool:
        if self.ended is None:
            self.ended = self.reaper.ending(seconds)
        return self.ended is not None


def _too_much_memory(stage: Stage, bounds: Bounds) -> Died:
    return Died(stage, Cause.MEMORY, signal.SIGKILL, f"more than {bounds.memory_bytes >> 20} MiB")


def next_batch(lanes: Sequence[LaneSpec]) -> list[LaneSpec]:
    """The lanes that the next process runs. Lanes that need a fresh process come last, one at a time."""
    return [lane for lane in lanes if not lane.fresh] or list(lanes[:1])


def with_deadline(end: socket.socket, seconds: float) -> Connection:
    """A connection that raises BlockingIOError where the other side stops for `seconds` in the middle of a frame."""
    patience = processes.timeval(seconds)
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        end.setsockopt(socket.SOL_SOCKET, option, patience)
    return Connection(end.detach())


def _with_facts(outcome: Outcome, facts: Facts | None) -> Outcome:
    if facts is None or isinstance(outcome, Unsupported | Skipped | Broken):
        return outcome
    return replace(outcome, facts=facts)
