"""What a lane did with a case, as a closed union. Consume it with `match` and `assert_never`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import assert_never

from generators.graph import Array
from oracles.lane import LaneSpec
from oracles.memory_access import MemoryAccess
from oracles.stage import Stage as Stage
from oracles.trace import Trace


@dataclass(frozen=True, slots=True)
class IllFormed:
    """The error of TVM's checker of well-formedness, and the step after which it raised: "import", or a pass.

    `follows` is the kind of the failure that the lane shows after that, such as "wrong-value"; "" where there is none.
    """

    after: str
    type: str
    message: str
    follows: str = ""


class MutantFate(StrEnum):
    """What happened to a module that was broken on purpose."""

    REFUSED = "refused by the checker"
    HARMLESS = "same result"
    RAISED = "refused by the build"
    DIED = "ended the process"  # known from the last facts that the child sent before it died
    MISCOMPILED = "another result"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A valid module in which one thing was changed.

    change     what was changed, in words that fit other modules too
    message    the error of what refused it
    legalised  whether it is the module after LegalizeOps
    edits      the change as a JSON list of [number, node] of the module's JSON; empty where the checker refused it
    """

    change: str
    fate: MutantFate
    message: str = ""
    legalised: bool = False
    edits: str = ""


@dataclass(frozen=True, slots=True)
class BaseCosts:
    """What the same lane cost in the base, where a build of TVM is compared with another one: fields of `Facts`."""

    compile_seconds: float = 0.0
    constant_bytes: int = 0
    built_bytes: int = 0
    peak_bytes: int = 0


@dataclass(frozen=True, slots=True)
class WrongOperand:
    """A value of the graph to which an importer gave a wrong type, before it raised at a node that depends on it.

    value     the first result of the call that computes it
    of_dtype  whether its dtype is wrong; otherwise its shape is
    """

    value: str
    of_dtype: bool


@dataclass(frozen=True, slots=True)
class Facts:
    """What a lane recorded while it ran, however it ended. Sizes are in bytes, times in CPU seconds; 0: not measured.

    checked          steps after which the checker of well-formedness accepted the module, in order
    ill_formed       the first step after which it did not
    modified         inputs whose numbers changed while the model ran
    aliases          outputs (by position) that share memory with an input (by name)
    accesses         accesses to memory that is none of the model's tensors, or has no value yet
    parameter_bytes  the size of the case's parameters and buffers
    needed_bytes     the size of the constants of the imported module, or of it legalized, and of what can be computed
                     from them alone; None: not measured
    constant_bytes   the size of the constants in the module before the build
    built_bytes      the size of the shared library, where one is written
    peak_bytes       by how much the peak of the process's memory grew
    compile_seconds  the time of the compilation
    kernels          how many kernels were compiled, also to fold constants
    passes           how many passes ran, also to fold constants
    mutants          modules broken on purpose, for lanes that break modules
    behaviour        names of what the compiler did, for guidance: operators, kernels, passes that changed the program
    reached          functions of changed code that the lane called, where a build of TVM is compared with another one
    base             what the lane cost in the base, where it came to an end there too
    trace            what the lane recorded for blame, where its `tracing` requests that
    undefined        the rows of `generators.undefined` that hold for a node, of a lane that measures the envelope
    overflow         the first value with a finite number that is too large for its dtype, of a lane that measures the
                     envelope; "" where there is none
    pointed          the value of the graph at whose node the lane raised, where the exception's frames tell it; no
                     finding has it
    wrong_operand    what a converter has given a wrong type to, on the way to that node; no finding has it
    """

    checked: tuple[str, ...] = ()
    ill_formed: IllFormed | None = None
    modified: tuple[str, ...] = ()
    aliases: tuple[tuple[int, str], ...] = ()
    accesses: tuple[MemoryAccess, ...] = ()
    parameter_bytes: int = 0
    needed_bytes: int | None = None
    constant_bytes: int = 0
    built_bytes: int = 0
    peak_bytes: int = 0
    compile_seconds: float = 0.0
    kernels: int = 0
    passes: int = 0
    mutants: tuple[Mutant, ...] = ()
    behaviour: tuple[str, ...] = ()
    reached: tuple[str, ...] = ()
    base: BaseCosts | None = None
    trace: Trace | None = None
    undefined: tuple[str, ...] = ()
    overflow: str = ""
    pointed: str = ""
    wrong_operand: WrongOperand | None = None


NO_FACTS = Facts()


@dataclass(frozen=True, slots=True)
class Ran:
    """The lane gave results. `again` are those of the second run, where the lane can run twice."""

    outputs: tuple[Array, ...]
    again: tuple[Array, ...] | None = None
    facts: Facts = NO_FACTS


@dataclass(frozen=True, slots=True)
class Built:
    """The lane compiled the case completely, for a target whose code this machine cannot run."""

    facts: Facts = NO_FACTS


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a traceback. `Raised.frames` has them outermost first; C++ frames have a `.cc` or `.h` file.

    raises  whether the line is itself a `raise` or an `assert`: the exception is deliberate
    owner   the class of a Python method, where the interpreter provides it (3.11 and newer)
    """

    file: str
    line: int
    function: str
    raises: bool = False
    owner: str = ""

    @property
    def in_frontend(self) -> bool:
        """Whether the line is in TVM's code that reads models of other frameworks."""
        return "/frontend/" in self.file


@dataclass(frozen=True, slots=True)
class Raised:
    """The lane ended with an exception."""

    stage: Stage
    type: str
    message: str
    frames: tuple[Frame, ...] = ()
    facts: Facts = NO_FACTS


class Cause(StrEnum):
    """Why a process ended."""

    SIGNAL = "signal"
    EXIT = "exit"
    MEMORY = "memory"  # it was killed because it needed too much memory


@dataclass(frozen=True, slots=True)
class Died:
    """The process ended. `code` is the number of the signal or the exit status, `log` the end of what it printed."""

    stage: Stage
    cause: Cause
    code: int
    log: str = ""
    facts: Facts = NO_FACTS


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The lane had not ended after `seconds` and was killed."""

    stage: Stage
    seconds: float
    facts: Facts = NO_FACTS


@dataclass(frozen=True, slots=True)
class Unsupported:
    """The lane states that it does not support something in the case. Counted, never a finding."""

    stage: Stage
    reason: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """The lane was not run: its spec does not fit the case, or the campaign is stopping.

    `environment`: the machine is the reason (full disk, no compiler, no memory). Counted, never a finding.
    """

    reason: str
    environment: bool = False


@dataclass(frozen=True, slots=True)
class Broken:
    """difftvm's own code raised an exception in the process of the lane. Counted and saved for the developers of
    difftvm, never a finding.

    error  the exception in one line, then its traceback
    """

    stage: Stage
    error: str


Outcome = Ran | Built | Raised | Died | TimedOut | Unsupported | Skipped | Broken
Outcomes = Mapping[LaneSpec, Outcome]
FAILURES = (Raised, Died, TimedOut)


def why_no_result(outcome: Outcome) -> str:
    """Why a lane gave no result, in one line; "" where it gave one."""
    match outcome:
        case Ran() | Built():
            return ""
        case Unsupported(stage=stage, reason=reason):
            return f"{stage}: {reason}"
        case Skipped(reason=reason):
            return reason
        case Broken(stage=stage, error=error):
            return f"difftvm's own code failed in {stage}: {error.splitlines()[0]}"
        case Raised(stage=stage, type=type, message=message):
            return f"{stage}: {type}: {_first_statement(message)}"
        case Died(stage=stage, cause=cause, code=code):
            return f"{stage}: its process ended ({cause} {code})"
        case TimedOut(stage=stage, seconds=seconds):
            return f"{stage}: no result after {seconds:g} s"
        case _:
            assert_never(outcome)


def _first_statement(message: str) -> str:
    """The first line with text of a message. Where it ends with a colon, what follows belongs to it: "with the errors:
    FCmp instructions require floats"."""
    lines = [line for each in message.splitlines() if (line := each.strip())]
    number = next((number for number, line in enumerate(lines) if not line.endswith(":")), len(lines))
    return " ".join(lines[: number + 1])


def facts_of(outcome: Outcome) -> Facts:
    """Return the facts of any outcome; no facts for a lane that did not run."""
    return NO_FACTS if isinstance(outcome, Unsupported | Skipped | Broken) else outcome.facts


@dataclass(frozen=True, slots=True)
class Result:
    """What the executor returns for one case.

    stage_cpu    CPU seconds by stage
    cpu_seconds  CPU seconds of the children in all, including those of processes that they waited for
    """

    outcomes: dict[LaneSpec, Outcome]
    stage_cpu: dict[Stage, float] = field(default_factory=dict)
    cpu_seconds: float = 0.0
