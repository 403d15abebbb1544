"""The supervisor's end of a process that runs lanes: it sends jobs, receives messages, and enforces the bounds.

Only this module makes outcomes. It serves children that a zygote forked and workers that were spawned for a device.
They differ in one thing here: how the supervisor learns that the process ended. A `Reaper` does that.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import IO, Protocol, assert_never

from multiprocess.connection import Connection, wait

from fuzzer.isolate import protocol
from fuzzer.isolate.frames import Frames
from fuzzer.signature import classify_failure
from fuzzer.system import files, process_tree, processes, secrets
from fuzzer.system.machine_paths import without_machine_paths
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import (
    Broken,
    Built,
    Cause,
    Died,
    Facts,
    Outcome,
    Raised,
    Ran,
    Result,
    Skipped,
    Stage,
    TimedOut,
    Unsupported,
)

POLL_SECONDS = 0.1
STOPPED_SECONDS = 2.0
LOG_BYTES = 20_000
LOG_DISK_BYTES = 16 << 20
"""The most disk space that a log takes. A compiler that prints endlessly would otherwise fill the disk."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most that one lane may use: wall and CPU seconds, resident bytes, and threads. All but the wall seconds are
    those of its process and of the processes below it together."""

    wall_seconds: float = 60.0
    cpu_seconds: float = 30.0
    memory_bytes: int = 6 << 30
    threads: int = 512


class OwnFailure(Exception):
    """difftvm's own code raised an exception in the process. No lane gets an outcome for it."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a process ended: its status as from wait(2), and the CPU seconds of it and of the children that it waited
    for. `with_zygote`: its zygote has ended, and the process with it, for no reason of its own."""

    status: int
    cpu: float
    with_zygote: bool = False


class Clock:
    """The seconds since it was made, without those in which this process was stopped or the machine suspended. It must
    be read often: more than `STOPPED_SECONDS` between two readings count as that.

    was_stopped  whether this process was stopped before the last reading
    """

    def __init__(self) -> None:
        self._seconds, self._read, self.was_stopped = 0.0, time.monotonic(), False

    def seconds(self) -> float:
        now = time.monotonic()
        passed, self._read = now - self._read, now
        self.was_stopped = passed > STOPPED_SECONDS
        self._seconds += min(passed, STOPPED_SECONDS)
        return self._seconds


class ZygoteGone(Exception):
    """The zygote has ended."""


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
    many it got: the process keeps the exported programs of the last one, for further lanes."""

    pid: int
    connection: Connection
    reaper: Reaper
    log: IO[bytes]
    scratch: str
    kill: Callable[[int], None] = process_tree.kill
    grace_seconds: float = 30.0
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
        again. Raise `OwnFailure` where difftvm's own code failed in the process."""
        self.cases += self.last is None or not same_case(self.last, case)
        self.last = case
        lane, stage, current = lanes[0], Stage.START, -1
        before = set(result.outcomes)
        facts: dict[LaneSpec, Facts] = {}
        clock, cpu_began, checked = Clock(), process_tree.usage(self.pid).cpu, 0.0
        self.log_begin = os.fstat(self.log.fileno()).st_size
        frames, most = Frames(self.connection.fileno()), protocol.most_bytes(case)
        try:
            protocol.send_job(self.connection, case, lanes, self.scratch)
            while True:
                readable = wait([self.connection, self.reaper.ready_at_end], POLL_SECONDS)
                now = clock.seconds()
                if clock.was_stopped:  # meanwhile the process may have run several lanes, whose messages wait
                    cpu_began = process_tree.usage(self.pid).cpu
                if now - checked >= POLL_SECONDS:
                    checked = now
                    files.keep_only_tail(self.log.fileno(), LOG_BYTES, LOG_DISK_BYTES)
                    if outcome := self._over_bounds(bounds, stage, now, cpu_began):
                        self.kill(self.pid)  # at once, before it takes the machine's memory
                        result.outcomes.setdefault(lane, outcome)
                        return False
                if readable and self.connection not in readable:
                    raise EOFError  # a process that it started may still hold its end of the connection
                frame = frames.next(most) if readable else None
                if frame is None:
                    continue
                message, payload = protocol.decoded(frame)
                match message:
                    case protocol.At(lane=number, stage=stage):
                        if number != current:  # a lane's bounds count from its first message, however many it sends
                            lane, current = _numbered(lanes, number), _next(number, current)
                            clock, cpu_began, checked = Clock(), process_tree.usage(self.pid).cpu, 0.0
                    case protocol.Noted(lane=number, facts=observed):
                        facts[_of_current(lanes, number, current)] = observed
                    case protocol.Finished(stage_cpu=spent):
                        if any(each not in result.outcomes for each in lanes):
                            raise protocol.ProtocolError("it finished before every lane had an outcome")
                        for key, seconds in spent.items():
                            result.stage_cpu[key] = result.stage_cpu.get(key, 0.0) + seconds
                        return True
                    case protocol.DidRun() | protocol.DidBuild() | protocol.DidRaise() | protocol.DidSkip():
                        whose = _of_current(lanes, message.lane, current)
                        result.outcomes[whose] = _outcome(message, payload, self.scratch)
                    case protocol.Failed(text=text):
                        raise OwnFailure(text)
                    case protocol.Job() | protocol.Started():
                        raise protocol.ProtocolError(f"a child sent {type(message).__name__} in the middle of a job")
                    case _:
                        assert_never(message)
        except BlockingIOError:  # the process does not take the job
            result.outcomes.setdefault(lane, TimedOut(stage, bounds.wall_seconds))
        except (EOFError, OSError, protocol.ProtocolError) as error:
            self._end(0.5 if isinstance(error, protocol.ProtocolError) else 5.0)
            if lane not in result.outcomes:  # otherwise it died between two lanes, which is no lane's outcome
                result.outcomes[lane] = classify_failure(self._death(stage, error))
        finally:
            frames.close()
            for lane in result.outcomes.keys() - before:
                result.outcomes[lane] = _with_facts(result.outcomes[lane], facts.get(lane))
        return False

    def close(self, patience: float = 0.5) -> float:
        """End the process and the processes that it started; return its CPU seconds. It has `patience` seconds to end
        by itself."""
        self.connection.close()
        self._end(patience)
        self.reaper.close()
        self.log.close()
        shutil.rmtree(self.scratch, ignore_errors=True)
        return self.ended.cpu if self.ended else 0.0

    def log_tail(self) -> str:
        """The last part of what the process printed since its last job began."""
        size = os.fstat(self.log.fileno()).st_size  # not by a seek, which would move the process's own position
        begin = min(max(self.log_begin, size - LOG_BYTES), size)  # the process may have cut it
        before = min(begin, secrets.longest())
        text = secrets.blanked(os.pread(self.log.fileno(), size - begin + before, begin - before))
        return text[before:].decode(errors="replace")

    def _over_bounds(self, bounds: Bounds, stage: Stage, wall: float, cpu_began: float) -> Outcome | None:
        used, most = process_tree.usage(self.pid), bounds.memory_bytes
        if used.threads > bounds.threads:
            return Died(stage, Cause.MEMORY, signal.SIGKILL, f"more than {bounds.threads} processes and threads")
        if used.resident > most and (used.processes == 1 or process_tree.proportional_bytes(self.pid) > most):
            return Died(stage, Cause.MEMORY, signal.SIGKILL, f"more than {most >> 20} MiB")
        if wall > bounds.wall_seconds or used.cpu - cpu_began > bounds.cpu_seconds:
            return TimedOut(stage, round(wall, 1))
        return None

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


def next_batch(lanes: Sequence[LaneSpec]) -> list[LaneSpec]:
    """The lanes that the next process runs. Lanes that need a fresh process come last, one at a time."""
    return [lane for lane in lanes if not lane.fresh] or list(lanes[:1])


def with_deadline(end: socket.socket, seconds: float) -> Connection:
    """A connection that raises BlockingIOError where the other side stops for `seconds` in the middle of a frame."""
    patience = processes.timeval(seconds)
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        end.setsockopt(socket.SOL_SOCKET, option, patience)
    return Connection(end.detach())


def _numbered(lanes: Sequence[LaneSpec], number: int) -> LaneSpec:
    if not 0 <= number < len(lanes):
        raise protocol.ProtocolError(f"there is no lane {number}")
    return lanes[number]


def _next(number: int, current: int) -> int:
    """The number of the lane that a process has begun. It runs them in order."""
    if number < current:
        raise protocol.ProtocolError(f"it went back from lane {current} to lane {number}")
    return number


def _of_current(lanes: Sequence[LaneSpec], number: int, current: int) -> LaneSpec:
    """The lane of a message, which must be the one that runs."""
    lane = _numbered(lanes, number)
    if number != current:
        raise protocol.ProtocolError(f"it sent something of lane {number} while lane {current} ran")
    return lane


def _with_facts(outcome: Outcome, facts: Facts | None) -> Outcome:
    if facts is None or isinstance(outcome, Unsupported | Skipped | Broken):
        return outcome
    return replace(outcome, facts=facts)


_Did = protocol.DidRun | protocol.DidBuild | protocol.DidRaise | protocol.DidSkip


def _outcome(message: _Did, payload: memoryview, scratch: str) -> Outcome:
    match message:
        case protocol.DidRun(outputs=docs, again=more):
            outputs, rest = protocol.unpack(docs, payload)
            return Ran(outputs, protocol.unpack(more, rest)[0] if more is not None else None)
        case protocol.DidRaise(stage=stage, type=name, text=text, frames=frames):
            text = without_machine_paths(text[: protocol.MOST_TEXT], scratch)
            frames = [replace(frame, file=without_machine_paths(frame.file, scratch)) for frame in frames]
            outcome = classify_failure(Raised(stage, name, text, tuple(frames)))
            return Broken(stage, message.own_fault) if message.own_fault and isinstance(outcome, Raised) else outcome
        case protocol.DidBuild():
            return Built()
        case protocol.DidSkip(reason=reason):
            return Skipped(reason)
        case _:
            assert_never(message)
