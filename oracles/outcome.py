"""What a lane did with a case: a closed union. Consume it with `match` and `assert_never`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from generators.graph import Array
from oracles.lane import LaneSpec
from oracles.trace import Trace


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
class IllFormed:
    """What the compiler's own checker said of a module after a step: "import", or a pass."""

    after: str
    type: str
    message: str


class MutantFate(StrEnum):
    """What became of a module that was broken on purpose."""

    REFUSED = "refused by the checker"
    HARMLESS = "same result"
    RAISED = "refused by the build"
    DIED = "ended the process"  # known from the last note of a child that died
    MISCOMPILED = "another result"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A valid module with one thing changed; `change` says which, in words that hold for other modules too.

    legalised  whether it is the module after LegalizeOps
    edits      the change itself: a JSON list of [number, node] of the module's JSON, of those that were not refused
    """

    change: str
    fate: MutantFate
    message: str = ""
    legalised: bool = False
    edits: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """What was seen on the way, however the lane ended. Sizes are bytes, times CPU seconds; 0 where not measured.

    checked          steps after which the checker was content, in order
    ill_formed       the first step after which it was not
    modified         inputs whose numbers changed while the model ran
    aliases          outputs (by position) that share memory with an input (by name)
    parameter_bytes  of the case's parameters and buffers; constant_bytes those in the module before the build;
                     built_bytes of the shared library, where one is written
    mutants          modules broken on purpose, of a lane that does that
    behaviour        names of what the compiler did, for guidance: operators, kernels, passes that changed the program
    trace            what a lane tells that was asked to
    """

    checked: tuple[str, ...] = ()
    ill_formed: IllFormed | None = None
    modified: tuple[str, ...] = ()
    aliases: tuple[tuple[int, str], ...] = ()
    parameter_bytes: int = 0
    constant_bytes: int = 0
    built_bytes: int = 0
    peak_bytes: int = 0
    compile_seconds: float = 0.0
    mutants: tuple[Mutant, ...] = ()
    behaviour: tuple[str, ...] = ()
    trace: Trace | None = None


NO_FACTS = Facts()


@dataclass(frozen=True, slots=True)
class Ran:
    """The lane gave results, twice where it can run twice."""

    outputs: tuple[Array, ...]
    again: tuple[Array, ...] | None = None
    facts: Facts = NO_FACTS


@dataclass(frozen=True, slots=True)
class Built:
    """The lane compiled the case to the end, for a target that nothing here runs."""

    facts: Facts = NO_FACTS


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a traceback, outermost first in `Raised.frames`; C++ frames have a `.cc` or `.h` file.

    raises  the line is a `raise` or an `assert` itself. Somebody decided here; elsewhere something went wrong
    owner   the class of a method of Python, where the interpreter knows it (3.11 and newer)
    """

    file: str
    line: int
    function: str
    raises: bool = False
    owner: str = ""

    @property
    def in_frontend(self) -> bool:
        """Of the code that reads models of other frameworks."""
        return "/frontend/" in self.file


@dataclass(frozen=True, slots=True)
class Raised:
    stage: Stage
    type: str
    message: str
    frames: tuple[Frame, ...] = ()
    facts: Facts = NO_FACTS


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
    facts: Facts = NO_FACTS


@dataclass(frozen=True, slots=True)
class TimedOut:
    stage: Stage
    seconds: float
    facts: Facts = NO_FACTS


@dataclass(frozen=True, slots=True)
class Unsupported:
    """The lane says plainly that it does not do this: counted, never a finding."""

    stage: Stage
    reason: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """The lane was not run: its spec does not apply here, or the campaign is stopping, or, with `environment`, the
    machine failed it: disk full, no compiler, no memory for anyone. Counted, never a finding."""

    reason: str
    environment: bool = False


Outcome = Ran | Built | Raised | Died | TimedOut | Unsupported | Skipped
Outcomes = Mapping[LaneSpec, Outcome]
FAILURES = (Raised, Died, TimedOut)


def facts_of(outcome: Outcome) -> Facts:
    return NO_FACTS if isinstance(outcome, Unsupported | Skipped) else outcome.facts


@dataclass(frozen=True, slots=True)
class Result:
    """What the executor brings back for one case."""

    outcomes: dict[LaneSpec, Outcome]
    stage_cpu: dict[Stage, float] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    """CPU seconds by stage, and of the children in all (those they waited for included)."""
