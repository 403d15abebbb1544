"""A child that exports programs. It gets one question at a time, is killed where it takes too long, and is started
again where it died. When an exporter crashes, only the answer to that question is lost."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import ExitStack

import msgspec
from multiprocess.connection import Connection

from fuzzer.coverage.question import Answer, Question, Table, Tables
from fuzzer.system.child_environment import anonymous
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.system.processes import ONE_THREAD, kill_group, resident_bytes
from fuzzer.toolchains.toolchain import HOST
from generators import case_file
from generators.graph import Case

MODULE = "fuzzer.children.coverage"
START_SECONDS = 180.0
ANSWER_SECONDS = 60.0
MEMORY_BYTES = 6 << 30
POLL_SECONDS = 0.5
LOG_BYTES = 2_000


class _TooMuch(Exception):
    """The child had to be ended; the message says why."""


class Worker:
    """The child. Only the thread that made it may use it: the child ends with that thread."""

    def __init__(self, seconds: float = ANSWER_SECONDS, module: str = MODULE) -> None:
        self._seconds = seconds
        self._module = module
        self._opened = ExitStack()

    def __enter__(self) -> Worker:
        self._log = self._opened.enter_context(tempfile.TemporaryFile())
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._opened:
            self._end()

    def ask(self, question: Question, case: Case) -> Answer | str:
        """The answer to a question; where the child ended, a text that says how."""
        try:
            for part in (msgspec.json.encode(question), *case_file.encode(case)):
                self._connection.send_bytes(part)
            return msgspec.json.decode(self._receive(self._seconds), type=Answer)
        except (_TooMuch, msgspec.DecodeError) as error:
            self._end()
            end = str(error)
        except (OSError, EOFError):
            end = self._end()
        self._start()
        return end

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [HOST.python, "-P", "-m", self._module, str(theirs.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                env={**anonymous(), **ONE_THREAD},
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._connection = Connection(ours.detach())
        try:
            first = msgspec.json.decode(self._receive(START_SECONDS), type=Tables)
        except (_TooMuch, OSError, EOFError, msgspec.DecodeError):
            raise EnvironmentMissing(f"{self._module} does not start ({self._end()}): {self._last_line()}") from None
        self.tables: dict[Table, frozenset[str]] = {table: frozenset(keys) for table, keys in first.tables.items()}

    def _receive(self, seconds: float) -> bytes:
        began = time.monotonic()
        while not self._connection.poll(POLL_SECONDS):
            if time.monotonic() - began > seconds:
                raise _TooMuch(f"no answer in {seconds:g} s")
            if resident_bytes(self._process.pid) > MEMORY_BYTES:
                raise _TooMuch(f"more than {MEMORY_BYTES >> 20} MiB")
        message: bytes = self._connection.recv_bytes()
        return message

    def _end(self) -> str:
        """Wait until the child ends, or kill it and its descendants; return how it ended."""
        self._connection.close()
        try:
            code = self._process.wait(1.0)  # the connection of a dying child closes shortly before the process ends
        except subprocess.TimeoutExpired:
            kill_group(self._process.pid)
            code = self._process.wait()
        return signal.Signals(-code).name if code < 0 else f"exit {code}"

    def _last_line(self) -> str:
        """The last line of its log."""
        self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - LOG_BYTES))
        return self._log.read().decode(errors="replace").rstrip().rpartition("\n")[2]
