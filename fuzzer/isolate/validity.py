"""Check with the reference of their dialect, in a separate process, whether cases are valid. No compiler is used."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from dataclasses import dataclass
from enum import StrEnum

from fuzzer.system.child_environment import anonymous
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.toolchains.toolchain import HOST
from generators import case_file
from generators.graph import Case

START_SECONDS = 180.0
ANSWER_SECONDS = 60.0
MOST_LINE = 1 << 16
"""Far more bytes than an answer has."""


class CaseVerdict(StrEnum):
    OK = "ok"
    NOT_FINITE = "not finite"
    INVALID = "invalid"  # a reference raises an exception
    WRONG_TYPE = "wrong type"  # a result of a reference has another type than was inferred
    DIED = "died"  # the process of the references ended
    TIMED_OUT = "timed out"  # a reference did not finish

    @property
    def is_valid(self) -> bool:
        return self in (CaseVerdict.OK, CaseVerdict.NOT_FINITE)


@dataclass(frozen=True, slots=True)
class CaseCheck:
    """The verdict on a case, and what a reference reported."""

    verdict: CaseVerdict
    message: str


class Validity:
    """A process of the references that checks cases. A new one is started after a case killed it or took longer than
    `seconds`. Raise `EnvironmentMissing` where PyTorch does not start."""

    def __init__(self, seconds: float = ANSWER_SECONDS) -> None:
        self._seconds = seconds

    def __enter__(self) -> Validity:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill()
        self._child.wait()

    def _start(self) -> None:
        self._child = subprocess.Popen(
            [HOST.python, "-P", "-m", "fuzzer.children.validity"],
            env=anonymous(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._child.stdin is not None
        os.set_blocking(self._child.stdin.fileno(), False)
        if self._line(time.monotonic() + START_SECONDS) != b"ready\n":
            self._child.kill()
            raise EnvironmentMissing(f"PyTorch does not start (status {self._child.wait()}); see its message above")

    def __call__(self, case: Case) -> CaseCheck:
        """Check a case with static sizes."""
        text, tensors = case_file.encode(case)
        lengths = b"".join(len(part).to_bytes(8, "little") for part in (text, tensors))
        deadline = time.monotonic() + self._seconds
        try:
            is_sent = all(self._send(part, deadline) for part in (lengths, text, tensors))
            line = self._line(deadline) if is_sent else None
        except BrokenPipeError:
            line = b""
        if line is None:
            self._child.kill()
            self._child.wait()
            self._start()
            return CaseCheck(CaseVerdict.TIMED_OUT, f"no answer in {self._seconds:g} s")
        if not line:
            code = self._child.wait()
            self._start()
            return CaseCheck(CaseVerdict.DIED, f"the process ended with status {code}")
        verdict, message = json.loads(line)
        return CaseCheck(CaseVerdict(verdict), message)

    def _send(self, data: bytes, deadline: float) -> bool:
        """Whether the process took all of it in time. Raise BrokenPipeError where it has ended."""
        assert self._child.stdin is not None
        left = memoryview(data)
        while left:
            _, writable, _ = select.select([], [self._child.stdin], [], max(0.0, deadline - time.monotonic()))
            if not writable:
                return False
            left = left[os.write(self._child.stdin.fileno(), left) :]
        return True

    def _line(self, deadline: float) -> bytes | None:
        """The next line that the process prints; empty where it has ended, None where no whole line comes in time."""
        assert self._child.stdout is not None
        line = b""
        while not line.endswith(b"\n"):
            readable, _, _ = select.select([self._child.stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not readable:
                return None
            piece = os.read(self._child.stdout.fileno(), MOST_LINE)
            if len(line) > MOST_LINE:
                self._child.kill()
            if not piece or len(line) > MOST_LINE:
                return b""
            line += piece
        return line
