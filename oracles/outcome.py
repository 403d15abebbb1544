"""What a lane did with a case: a closed union. Consume it with `match` and `assert_never`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from generators.graph import Array
from oracles.lane import LaneSpec


class Stage(StrEnum):
    """Where in a lane something happened."""

    START = "start"  # before the lane's first step
    RENDER = "render"
    EXPORT = "export"
    IMPORT = "import"
    VERIFY = "verify"
    TRANSFORM = "transform"
    COMPILE = "compile"
    LOAD = "load"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class Ran:
    """The lane gave results, twice where it can run twice."""

    outputs: tuple[Array, ...]
    again: tuple[Array, ...] | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a traceback, outermost first in `Raised.frames`; C++ frames have a `.cc` or `.h` file."""

    file: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Raised:
    stage: Stage
    type: str
    message: str
    frames: tuple[Frame, ...] = ()


class Cause(StrEnum):
    SIGNAL = "signal"
    EXIT = "exit"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Died:
    """The process went away. `code` is the signal's number or the exit status; `log` the end of what it printed."""

    stage: Stage
    cause: Cause
    code: int
    log: str = ""


@dataclass(frozen=True, slots=True)
class TimedOut:
    stage: Stage
    seconds: float


@dataclass(frozen=True, slots=True)
class Unsupported:
    """The lane says plainly that it does not do this: counted, never a finding."""

    stage: Stage
    reason: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """The lane was not run: its spec does not apply here, or the campaign is stopping."""

    reason: str


Outcome = Ran | Raised | Died | TimedOut | Unsupported | Skipped
Outcomes = Mapping[LaneSpec, Outcome]
FAILURES = (Raised, Died, TimedOut)


@dataclass(frozen=True, slots=True)
class Result:
    """What the executor brings back for one case."""

    outcomes: dict[LaneSpec, Outcome]
    stage_cpu: dict[Stage, float] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    """CPU seconds by stage, and of the children in all (those they waited for included)."""
