"""Runs lanes of a case in forked children, under deadline and memory limit. The only producer of outcomes."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import IO, assert_never

from multiprocess.connection import Connection, wait

from fuzzer.isolate import processes, protocol
from fuzzer.isolate.toolchain import HOST, Toolchain
from fuzzer.triage.signature import recognise
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import (
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
LOG_BYTES = 20_000
START_SECONDS = 180.0


class EnvironmentMissing(Exception):
    """The toolchain does not start; the message says what its interpreter printed."""


class _ZygoteGone(Exception):
    pass


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one lane may use: wall and CPU seconds, and resident bytes of its process."""

    wall_seconds: float = 60.0
    cpu_seconds: float = 30.0
    memory_bytes: int = 6 << 30


class Executor:
    """One zygote, and the children that it forks. Threads may call `run` at the same time."""

    def __init__(self, scratch: Path, toolchain: Toolchain = HOST, bounds: Bounds = Bounds()) -> None:
        self.bounds = bounds
        self._scratch = scratch
        self._lock = threading.Lock()
        self._toolchain = toolchain
        self._ended_cpu = 0.0
        self._closed = False
        scratch.mkdir(parents=True, exist_ok=True)
        # the kernel ends a zygote together with the thread that started it: this one lives as long as the executor
        self._keeper = ThreadPoolExecutor(1, "keeper")
        try:
            self._keeper.submit(self._start).result()
        except BaseException:
            self._keeper.shutdown()
            shutil.rmtree(scratch, ignore_errors=True)
            raise

    def _start(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        log = tempfile.TemporaryFile()  # noqa: SIM115 - read below where the start fails
        module = "fuzzer.isolate.zygote"  # -P: whatever lies in the user's folder is no module of ours
        command = [self._toolchain.python, "-P", "-m", module, str(theirs.fileno()), str(os.getpid())]
        environment = {**os.environ, "PYTHONHASHSEED": "0", **self._toolchain.environment}
        with theirs, log:
            try:
                self._zygote = subprocess.Popen(
                    command,
                    env=environment,
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            except OSError as error:
                self._control.close()
                raise EnvironmentMissing(f"toolchain {self._toolchain.name!r} does not start: {error}") from None
            theirs.close()
            ready = self._first_word()
            if not ready:
                self._control.close()
                self._zygote.kill()
                self._zygote.wait()
                log.seek(0)
                tail = log.read().decode(errors="replace").strip().splitlines()[-3:]
                raise EnvironmentMissing(f"toolchain {self._toolchain.name!r} does not start: {' | '.join(tail)}")
        self.versions: dict[str, str] = json.loads(ready)["versions"]

    def _first_word(self) -> bytes:
        """What the zygote says when it is warm; nothing where it ended or takes too long."""
        self._control.settimeout(START_SECONDS)
        try:
            return self._control.recv(1 << 16)
        except TimeoutError:
            return b""
        finally:
            self._control.settimeout(None)

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._closed = True
        self._control.close()  # the zygote ends its children and itself
        try:
            self._zygote.wait(5)
        except subprocess.TimeoutExpired:
            self._zygote.kill()
            self._zygote.wait()
        self._keeper.shutdown()
        shutil.rmtree(self._scratch, ignore_errors=True)

    @property
    def cpu_seconds(self) -> float:
        """Of the zygote and of every child that has ended, warm-up included."""
        return self._ended_cpu + processes.own_cpu_seconds(self._zygote.pid)

    def run(self, case: Case, lanes: Sequence[LaneSpec], bounds: Bounds | None = None) -> Result:
        """The outcome of every lane. A child that dies or hangs costs only the lane that it was in: a fresh one runs
        the rest."""
        result = Result({})
        cpu = 0.0
        pending = list(lanes)
        while pending:
            child = self._fork()
            try:
                child.run(case, _together(pending), bounds or self.bounds, result)
            finally:
                cpu += child.close()
            pending = [lane for lane in pending if lane not in result.outcomes]
        with self._lock:
            self._ended_cpu += cpu
        return Result({lane: result.outcomes[lane] for lane in lanes}, dict(result.stage_cpu), cpu)

    def _fork(self) -> _Child:
        """A fresh child; a zygote that has gone (the kernel was short of memory, say) is started anew once."""
        asked = self._zygote
        try:
            return self._ask_for_child()
        except _ZygoteGone:
            with self._lock:
                if self._closed:
                    raise EnvironmentMissing("this executor is closed") from None
                if self._zygote is asked:  # else another thread has a new one already
                    self._control.close()
                    asked.kill()
                    asked.wait()
                    self._keeper.submit(self._start).result()
        try:
            return self._ask_for_child()
        except _ZygoteGone:
            raise EnvironmentMissing(f"the zygote of {self._toolchain.name!r} ends as soon as it is started") from None

    def _ask_for_child(self) -> _Child:
        with contextlib.ExitStack() as opened:
            data, their_data = socket.socketpair()
            status, their_status = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            for end in (data, their_data, status, their_status):
                opened.enter_context(end)
            try:
                log = opened.enter_context(tempfile.TemporaryFile())
                with self._lock:
                    fds = [their_data.fileno(), their_status.fileno(), log.fileno()]
                    socket.send_fds(self._control, [b"fork"], fds)
                their_status.close()
                status.settimeout(START_SECONDS)
                greeting = status.recv(256)
                scratch = tempfile.mkdtemp(dir=self._scratch)
            except OSError:
                greeting = b""
            if not greeting:
                raise _ZygoteGone
            # a child that stops in the middle of a frame must not hold the supervisor
            patience = struct.pack("ll", int(self.bounds.wall_seconds) + 1, 0)
            for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
                data.setsockopt(socket.SOL_SOCKET, option, patience)
            their_data.close()
            opened.pop_all()
            return _Child(json.loads(greeting)["pid"], Connection(data.detach()), status, log, scratch)


def _together(lanes: Sequence[LaneSpec]) -> list[LaneSpec]:
    """The lanes that the next child runs: those that need a process of their own come last, one by one."""
    return [lane for lane in lanes if not lane.fresh] or list(lanes[:1])


@dataclass(slots=True)
class _Child:
    pid: int
    connection: Connection
    status: socket.socket
    log: IO[bytes]
    scratch: str
    ended: dict[str, float] | None = None

    def run(self, case: Case, lanes: Sequence[LaneSpec], bounds: Bounds, result: Result) -> None:
        """Read frames until the child is done, dead, or over a bound; store what became of each lane."""
        lane, stage = lanes[0], Stage.START
        before = set(result.outcomes)
        facts: dict[LaneSpec, Facts] = {}
        began, cpu_began, looked = time.monotonic(), 0.0, time.monotonic()
        try:
            protocol.send_job(self.connection, case, lanes, self.scratch)
            while True:
                talks = self.connection.poll(POLL_SECONDS)
                now = time.monotonic()
                if now - looked >= POLL_SECONDS:
                    looked = now
                    if outcome := self._over_bounds(bounds, stage, now - began, cpu_began):
                        processes.kill_group(self.pid)  # at once: it may be eating the memory of all
                        result.outcomes.setdefault(lane, outcome)
                        return
                if not talks:
                    continue
                message, payload = protocol.receive(self.connection)
                match message:
                    case protocol.At(lane=number, stage=stage):
                        entered = _numbered(lanes, number)
                        if entered != lane or stage is Stage.START:
                            lane, began, cpu_began = entered, time.monotonic(), processes.cpu_seconds(self.pid)
                    case protocol.Noted(lane=number, facts=seen):
                        facts[_numbered(lanes, number)] = seen
                    case protocol.Finished(stage_cpu=spent):
                        if any(each not in result.outcomes for each in lanes):
                            raise protocol.ProtocolError("it finished before every lane had an outcome")
                        for key, seconds in spent.items():
                            result.stage_cpu[key] = result.stage_cpu.get(key, 0.0) + seconds
                        return
                    case protocol.DidRun() | protocol.DidRaise() | protocol.DidSkip():
                        result.outcomes[_numbered(lanes, message.lane)] = _outcome(message, payload)
                    case protocol.Job():
                        raise protocol.ProtocolError("a child sent a job")
                    case _:
                        assert_never(message)
        except BlockingIOError:  # it stopped in the middle of a frame
            result.outcomes.setdefault(lane, TimedOut(stage, round(time.monotonic() - began, 1)))
        except (EOFError, OSError, protocol.ProtocolError) as error:
            self._wait()
            if lane not in result.outcomes:  # else it died between two lanes: nobody's result
                result.outcomes[lane] = recognise(self._death(stage, error))
        finally:
            for lane in result.outcomes.keys() - before:
                result.outcomes[lane] = _with_facts(result.outcomes[lane], facts.get(lane))

    def _over_bounds(self, bounds: Bounds, stage: Stage, wall: float, cpu_began: float) -> Outcome | None:
        if processes.resident_bytes(self.pid) > bounds.memory_bytes:
            return Died(stage, Cause.MEMORY, signal.SIGKILL, f"more than {bounds.memory_bytes >> 20} MiB")
        if wall > bounds.wall_seconds or processes.cpu_seconds(self.pid) - cpu_began > bounds.cpu_seconds:
            return TimedOut(stage, round(wall, 1))
        return None

    def _death(self, stage: Stage, error: Exception) -> Died:
        status = int(self.ended["status"]) if self.ended else signal.SIGKILL
        log = self._log_tail()
        if isinstance(error, protocol.ProtocolError):
            log += f"\nit sent nonsense: {error}"
        if os.WIFSIGNALED(status):
            return Died(stage, Cause.SIGNAL, os.WTERMSIG(status), log)
        return Died(stage, Cause.EXIT, os.waitstatus_to_exitcode(status), log)

    def _log_tail(self) -> str:
        end = self.log.seek(0, os.SEEK_END)
        self.log.seek(max(0, end - LOG_BYTES))
        return self.log.read().decode(errors="replace")

    def _wait(self, seconds: float = 5.0) -> None:
        """Give the child a moment to end by itself, then end it; read its status either way."""
        if self.ended is None and not wait([self.status], seconds):
            processes.kill_group(self.pid)
        if self.ended is None:
            self.status.settimeout(30)
            with contextlib.suppress(OSError):
                answer = self.status.recv(256)
                self.ended = json.loads(answer) if answer else None

    def close(self) -> float:
        """End the child and everything it started; its CPU seconds."""
        self.connection.close()
        if self.ended is None and not wait([self.status], 0.5):
            processes.kill_group(self.pid)
        self._wait()
        self.status.close()
        self.log.close()
        shutil.rmtree(self.scratch, ignore_errors=True)
        return self.ended["cpu"] if self.ended else 0.0


def _numbered(lanes: Sequence[LaneSpec], number: int) -> LaneSpec:
    if not 0 <= number < len(lanes):
        raise protocol.ProtocolError(f"there is no lane {number}")
    return lanes[number]


def _with_facts(outcome: Outcome, facts: Facts | None) -> Outcome:
    return outcome if facts is None or isinstance(outcome, Unsupported | Skipped) else replace(outcome, facts=facts)


def _outcome(message: protocol.DidRun | protocol.DidRaise | protocol.DidSkip, payload: memoryview) -> Outcome:
    match message:
        case protocol.DidRun(outputs=docs, again=more):
            outputs, rest = protocol.unpack(docs, payload)
            return Ran(outputs, protocol.unpack(more, rest)[0] if more is not None else None)
        case protocol.DidRaise(stage=stage, type=name, text=text, frames=frames):
            return recognise(Raised(stage, name, text, tuple(frames)))
        case protocol.DidSkip(reason=reason):
            return Skipped(reason)
        case _:
            assert_never(message)
