"""Ask eager PyTorch, in a process of its own, whether cases are valid: no compiler takes part."""

from __future__ import annotations

import json
import select
import subprocess
from dataclasses import dataclass
from enum import StrEnum

from fuzzer.system.environment import EnvironmentMissing
from fuzzer.toolchains.toolchain import HOST
from generators import case_file
from generators.graph import Case

START_SECONDS = 180.0
ANSWER_SECONDS = 60.0


class Verdict(StrEnum):
    OK = "ok"
    NOT_FINITE = "not finite"
    INVALID = "invalid"  # PyTorch refuses it
    WRONG_TYPE = "wrong type"  # PyTorch gives another type than was inferred
    DIED = "died"  # PyTorch's process went away
    TIMED_OUT = "timed out"  # PyTorch did not come to an end

    @property
    def is_valid(self) -> bool:
        return self in (Verdict.OK, Verdict.NOT_FINITE)


@dataclass(frozen=True, slots=True)
class Answer:
    verdict: Verdict
    told: str


class Validity:
    """One PyTorch process, started afresh where a case kills it or takes longer than `seconds`. Raises
    `EnvironmentMissing` where none starts."""

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
            [HOST.python, "-P", "-m", "fuzzer.children.validity"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        if self._line(START_SECONDS) != b"ready\n":
            self._child.kill()
            raise EnvironmentMissing(f"PyTorch does not start (status {self._child.wait()}); its message stands above")

    def __call__(self, case: Case) -> Answer:
        """The verdict on a static case."""
        text, tensors = case_file.encode(case)
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(b"".join(len(part).to_bytes(8, "little") for part in (text, tensors)))
            self._child.stdin.write(text)
            self._child.stdin.write(tensors)
            self._child.stdin.flush()
            line = self._line(self._seconds)
        except BrokenPipeError:
            line = b""
        if line is None:
            self._child.kill()
            self._child.wait()
            self._start()
            return Answer(Verdict.TIMED_OUT, f"no answer in {self._seconds:g} s")
        if not line:
            code = self._child.wait()
            self._start()
            return Answer(Verdict.DIED, f"the process ended with status {code}")
        verdict, told = json.loads(line)
        return Answer(Verdict(verdict), told)

    def _line(self, seconds: float) -> bytes | None:
        """What the process says next, nothing at its end, None where it says nothing in time."""
        assert self._child.stdout is not None
        talks, _, _ = select.select([self._child.stdout], [], [], seconds)
        return self._child.stdout.readline() if talks else None
