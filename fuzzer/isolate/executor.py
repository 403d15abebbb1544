"""Run lanes of cases, and scripts of findings, in forked children, within limits of time and memory.

A child runs several cases one after the other. Its first case costs twice as much as a later one, because the child
then copies memory pages and fills caches. An earlier case does not make a finding: if a child ends in a case that is
not its first, the lane runs again in a fresh child, and findings are confirmed in fresh children (`run_fresh`).
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import IO, TypeVar

from fuzzer.isolate import script
from fuzzer.isolate.child_process import (
    ENDED_WITH_ZYGOTE,
    Bounds,
    ChildProcess,
    GiveUp,
    ZygoteGone,
    ZygoteReaper,
    never,
    next_batch,
    same_case,
    with_deadline,
)
from fuzzer.isolate.reports import SanitizerReport, ScriptRun
from fuzzer.isolate.zygote_requests import FORK, OWN_FAILURE, SCRIPT
from fuzzer.system import cgroup, files, process_tree, processes, strays, untrusted_files
from fuzzer.system.environment import EnvironmentMissing, MachineLacks
from fuzzer.toolchains.toolchain import HOST, Toolchain, toolchain_environment
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Died, Result, Skipped, TimedOut

__all__ = ["Bounds", "EnvironmentMissing", "Executor"]

START_SECONDS = 180.0

START_POLL = 0.2
"""Seconds between two looks at whether a start was given up."""

CASES = 8
"""The most cases that one child runs."""

MEMORY_SHARE = 4
"""A child that uses more than 1 / `MEMORY_SHARE` of its memory limit after a case runs no further case."""

MOST_FILES = 256
"""A child with more open files after a case runs no further case. The usual limit of a process is 1,024."""

MOST_LOST, MOST_STARTS = 2, 4
"""How many children a run may lose with their zygote before a lane is skipped for that, and how often a zygote is
started for one request."""


T = TypeVar("T")


class Executor:
    """A zygote and the children that it forks. Several threads may call `run` at the same time. Where `give_up` returns
    True, what runs or starts ends at once, and `GaveUp` or `EnvironmentMissing` is raised."""

    def __init__(
        self, scratch: Path, toolchain: Toolchain = HOST, bounds: Bounds = Bounds(), give_up: GiveUp = never
    ) -> None:
        self.bounds, self._give_up = bounds, give_up
        self._scratch = scratch = untrusted_files.real(scratch)  # a program that a lane starts may run elsewhere
        self._lock = threading.Lock()
        self._toolchain = toolchain
        self._cpu_of_children = 0.0
        self._idle: list[ChildProcess] = []
        self._groups = cgroup.delegated()
        self._closed = False
        untrusted_files.make_folder(scratch)
        # the kernel kills a zygote when the thread that started it ends; this thread lives as long as the executor
        self._keeper = ThreadPoolExecutor(1, "keeper")
        try:
            self._keeper.submit(self._start).result()
        except BaseException:
            self._keeper.shutdown()
            untrusted_files.remove(scratch)
            raise

    def _start(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        log = tempfile.TemporaryFile()  # noqa: SIM115 - read below if the start fails
        module = "fuzzer.children.zygote"  # -P: files in the user's folder must not replace modules
        name_and_kind = (self._toolchain.name, self._toolchain.kind)
        command = [self._toolchain.python, "-P", "-m", module, *name_and_kind, str(theirs.fileno()), str(os.getpid())]
        command += self._toolchain.preload.arguments if self._toolchain.preload else ()
        environment = {**toolchain_environment(self._toolchain, self._scratch), "PYTHONHASHSEED": "0"}
        with theirs, log:
            try:
                self._zygote = subprocess.Popen(
                    command,
                    env=environment,
                    cwd="/",
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            except OSError as error:
                self._control.close()
                raise EnvironmentMissing(f"toolchain {self._toolchain.name!r} does not start: {error}") from None
            strays.mark(self._zygote.pid, self._scratch)
            theirs.close()
            began = time.monotonic()
            report = json.loads(self._first_message() or b"{}")
            if "versions" not in report:
                self._control.close()
                self._zygote.kill()
                self._zygote.wait()
                log.seek(0)
                tail = log.read().decode(errors="replace").strip().splitlines()[-3:]
                late = (
                    f"it was not ready within {START_SECONDS:g} s" if time.monotonic() - began > START_SECONDS else ""
                )
                why = report.get("failed") or late or " | ".join(tail) or f"exit status {self._zygote.returncode}"
                if self._toolchain.preload and "failed" not in report:
                    why += f" (--preload {self._toolchain.preload.path})"
                raise EnvironmentMissing(f"toolchain {self._toolchain.name!r} does not start: {why}")
        self.versions: dict[str, str] = report["versions"]

    def _first_message(self) -> bytes:
        """The message that the zygote sends when it is ready; empty if it ended, takes too long, or was given up."""
        deadline = time.monotonic() + START_SECONDS
        self._control.settimeout(START_POLL)
        try:
            while time.monotonic() < deadline and not self._give_up():
                with contextlib.suppress(TimeoutError):
                    return self._control.recv(1 << 16)
            return b""
        finally:
            self._control.settimeout(None)

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._closed = True
        for child in self._idle:
            child.close()
        self._control.close()  # the zygote ends its children and itself
        try:
            self._zygote.wait(0.5 if self._give_up() else 5)
        except subprocess.TimeoutExpired:
            self._zygote.kill()
            self._zygote.wait()
        self._keeper.shutdown()
        strays.kill_strays(self._scratch)  # a lane may have killed the zygote
        untrusted_files.remove(self._scratch)

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds of the zygote, its start included, and of its children so far."""
        return self._cpu_of_children + processes.own_cpu_seconds(self._zygote.pid)

    def run(self, case: Case, lanes: Sequence[LaneSpec], bounds: Bounds | None = None) -> Result:
        """Return the outcome of every lane. If a child dies or hangs in one lane, another child runs the others."""
        return self._run(case, lanes, bounds or self.bounds, reuse=True)

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec], bounds: Bounds | None = None) -> Result:
        """Like `run`, but in children that run no other case."""
        return self._run(case, lanes, bounds or self.bounds, reuse=False)

    def _run(self, case: Case, lanes: Sequence[LaneSpec], bounds: Bounds, reuse: bool) -> Result:
        result, cpu, pending, lost = Result({}), 0.0, list(lanes), 0
        while pending:
            batch = next_batch(pending)
            child = self._used_child(case) if reuse and not batch[0].fresh else self._fork()
            used, before = child.cases > 0, child.cpu_seconds
            healthy = False
            try:
                healthy = child.run(case, batch, bounds, result)
            finally:
                keep = healthy and reuse and self._is_reusable(child, bounds)
                after = self._keep(child) if keep else child.close()
                cpu += after - before
                with self._lock:
                    self._cpu_of_children += after - before
            lost += _is_lost(child)
            if not healthy and not self._closed and (used or (_is_lost(child) and lost <= MOST_LOST)):
                _remove_last_outcome(batch, result)
                reuse = False
            if _remove_skipped(batch if used else batch[1:], result):
                reuse = False
            pending = [lane for lane in pending if lane not in result.outcomes]
        return Result({lane: result.outcomes[lane] for lane in lanes}, dict(result.stage_cpu), cpu)

    def _used_child(self, case: Case) -> ChildProcess:
        """The child that ran this case last, which still has its exported programs; otherwise the one that has been
        idle for the longest time, and a fresh one if none is idle. A child that has run `CASES` cases gets no other
        case."""
        with self._lock:
            same = next((child for child in self._idle if child.last and same_case(child.last, case)), None)
            if same is not None:
                self._idle.remove(same)
                return same
            oldest = self._idle.pop(0) if self._idle else None
        if oldest is not None and oldest.cases < CASES:
            return oldest
        if oldest is not None:
            before = oldest.cpu_seconds
            spent = oldest.close() - before
            with self._lock:
                self._cpu_of_children += spent
        return self._fork()

    def _is_reusable(self, child: ChildProcess, bounds: Bounds) -> bool:
        """Whether the child may run another job."""
        if processes.open_files(child.pid) > MOST_FILES or process_tree.children(child.pid):
            return False
        return processes.resident_bytes(child.pid) * MEMORY_SHARE <= bounds.memory_bytes

    def _keep(self, child: ChildProcess) -> float:
        """Keep the child for another case; return its CPU seconds so far."""
        spent = child.cpu_seconds
        with self._lock:
            if not self._closed:
                self._idle.append(child)
                return spent
        return child.close()

    def examine(self, case: Case, lane: LaneSpec) -> tuple[SanitizerReport, ...]:
        """No reports: compute-sanitizer examines GPUs only."""
        return ()

    def run_script(self, source: str) -> ScriptRun:
        """Run a script that `script.can_be_forked` allows in a child that runs nothing else. It runs once more if the
        zygote ends meanwhile: that is no end of the script. Raise `MachineLacks` where it could not be run."""
        for _ in range(2):
            with contextlib.suppress(ZygoteGone):
                folder = self._scratch / "scripts"
                done = script.run_started(source, self._fork_script, self.bounds, folder, (), self._give_up)
                with self._lock:
                    self._cpu_of_children += done.cpu_seconds
                if done.exit_code == OWN_FAILURE:
                    raise MachineLacks("its child could not begin")
                return done
        raise MachineLacks("the zygote ended each time")

    def _fork(self) -> ChildProcess:
        """A fresh child."""
        return self._from_zygote(self._ask_for_child)

    def _fork_script(self, path: Path) -> tuple[int, ZygoteReaper]:
        """A fresh child that runs a Python file."""
        return self._from_zygote(lambda: self._ask_for_script(path))

    def _from_zygote(self, ask: Callable[[], T]) -> T:
        """Return the result of `ask`, which sends a request to the zygote. If the zygote has ended, for example because
        the kernel was short of memory or a lane killed it, start a new one, a few times."""
        for _ in range(MOST_STARTS):
            zygote = self._zygote
            try:
                return ask()
            except ZygoteGone:
                with self._lock:
                    if self._closed:
                        raise EnvironmentMissing("this executor is closed") from None
                    if self._zygote is zygote:  # otherwise another thread has started a new one already
                        self._control.close()
                        zygote.kill()
                        zygote.wait()
                        strays.kill_strays(self._scratch)  # what its children started
                        self._keeper.submit(self._start).result()
        raise EnvironmentMissing(f"the zygote of {self._toolchain.name!r} ends as soon as it is started")

    def _ask_for_child(self) -> ChildProcess:
        with contextlib.ExitStack() as opened:
            data, their_data = socket.socketpair()
            status, their_status = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            for end in (data, their_data, status, their_status):
                opened.enter_context(end)
            scratch, log = self._scratch_and_log()
            opened.enter_context(log)
            try:
                request = FORK + os.fsencode(scratch)
                with files.opened_again(log) as their_log:
                    pid = self._forked(request, status, their_status, their_log, their_data.fileno())
            except OSError:
                untrusted_files.remove(scratch)
                raise ZygoteGone from None
            their_data.close()
            opened.pop_all()  # these ends and the log stay open: the `ChildProcess` owns them
            # a child that stops in the middle of a message must not block the supervisor
            connection = with_deadline(data, self.bounds.wall_seconds)
            child = ChildProcess(pid, connection, ZygoteReaper(status), log, str(scratch), kernel_bounds=True)
            child.give_up = self._give_up
            child.group = self._groups.new_for(pid) if self._groups else None
            return child

    def _scratch_and_log(self) -> tuple[Path, IO[bytes]]:
        """A new folder and log for a child. Lanes that run meanwhile may delete or replace the folder that has them."""
        for _ in range(MOST_STARTS):
            with contextlib.suppress(FileNotFoundError, FileExistsError, NotADirectoryError):
                return untrusted_files.new_folder_and_log(self._scratch)
        raise EnvironmentMissing(f"{self._scratch}: something replaces this folder again and again; end what does")

    def _ask_for_script(self, path: Path) -> tuple[int, ZygoteReaper]:
        status, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, open(os.devnull, "wb") as dropped:
            try:
                pid = self._forked(SCRIPT + os.fsencode(path), status, theirs, dropped.fileno())
            except OSError:
                status.close()
                raise ZygoteGone from None
        return pid, ZygoteReaper(status)

    def _forked(self, request: bytes, status: socket.socket, theirs: socket.socket, *fds: int) -> int:
        """Send a request with the other end of the status socket and more descriptors; return the pid of the child.
        Raise OSError where the zygote has ended."""
        with self._lock:
            socket.send_fds(self._control, [request], [theirs.fileno(), *fds])
        theirs.close()
        status.settimeout(START_SECONDS)
        greeting = status.recv(256)
        if not greeting:
            raise ConnectionResetError("the zygote has ended")
        return int(json.loads(greeting)["pid"])


def _is_lost(child: ChildProcess) -> bool:
    """Whether a child ended with its zygote, for no reason of its own."""
    return child.ended is not None and child.ended.with_zygote


def _remove_skipped(lanes: Sequence[LaneSpec], result: Result) -> bool:
    """Remove the outcomes of lanes that lacked something, as open files, in a process that had run others before: one
    of these may have taken it. They run again, the first of them in a process that has run nothing. Return whether
    there are such lanes."""
    outcomes = {lane: result.outcomes.get(lane) for lane in lanes}
    lacking = [lane for lane, outcome in outcomes.items() if isinstance(outcome, Skipped) and outcome.environment]
    for lane in lacking:
        del result.outcomes[lane]
    return bool(lacking)


def _remove_last_outcome(lanes: Sequence[LaneSpec], result: Result) -> None:
    """Remove the outcome of the lane in which a child ended that had run other cases: one of these may be the cause."""
    for lane in lanes:
        if isinstance(outcome := result.outcomes.get(lane), Died | TimedOut) or outcome == ENDED_WITH_ZYGOTE:
            del result.outcomes[lane]
