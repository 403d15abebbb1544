"""What is saved with a finding of runs other than its lanes: compute-sanitizer's reports, and how its script ended.

Data only: a finding is read without the modules that start processes.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from enum import StrEnum

SHOWS = 1
"""The exit code of a script that shows its bug."""


class Tool(StrEnum):
    """What compute-sanitizer can look for."""

    MEMCHECK = "memcheck"  # accesses out of bounds or misaligned, errors of CUDA
    INITCHECK = "initcheck"  # reads of global memory that nobody wrote
    RACECHECK = "racecheck"  # two threads of a block at the same shared memory


@dataclass(frozen=True, slots=True)
class SanitizerReport:
    """errors  how many the tool counted, those that it did not print included; None where it did not come to an end
    what    the first of them: "Invalid __global__ write of size 4 bytes"
    kernel  the function on the GPU where it happened; empty where the tool names none
    lines   the first error, as it was printed
    cpu_seconds  of the tool and of the worker that it watched
    """

    tool: Tool
    errors: int | None
    what: str = ""
    kernel: str = ""
    lines: tuple[str, ...] = ()
    cpu_seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class ScriptRun:
    """How a script ended. `exit_code` is that of Python's subprocess, negative for a signal. It is None where the
    script was not run or was killed; `why` then gives the reason. `cpu_seconds` are those of its processes."""

    exit_code: int | None
    why: str = ""
    cpu_seconds: float = field(default=0.0, compare=False)

    @property
    def shows(self) -> bool:
        return self.exit_code == SHOWS

    @property
    def description(self) -> str:
        """The rest of a sentence that begins with "its repro.py"."""
        match self.exit_code:
            case 1:
                return "shows the bug"
            case 0:
                return "says that the bug is gone (exit code 0)"
            case 2 | 125:  # scripts of earlier versions exit with 2
                return f"cannot tell whether the bug is there (exit code {self.exit_code})"
            case None:
                return f"was not run to its end: {self.why}"
            case code:
                return f"ends with {_signal(-code)}" if code < 0 else f"ends with exit code {code}"


def _signal(number: int) -> str:
    """The name of a signal. The number may come from another machine."""
    return signal.Signals(number).name if number in _SIGNALS else f"signal {number}"


_SIGNALS = frozenset(map(int, signal.Signals))
