"""A lane gives a result for every model that the eager run accepts: it does not die, hang or raise."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import assert_never

from generators.graph import Case
from generators.undefined import INTEGER_QUOTIENT
from oracles.finding import Component, Finding, Kind, component_of
from oracles.lane import Engine, LaneSpec, is_eager, is_reference, is_reference_of_file
from oracles.outcome import (
    Broken,
    Built,
    Cause,
    Died,
    MutantFate,
    Outcome,
    Outcomes,
    Raised,
    Ran,
    Skipped,
    Stage,
    TimedOut,
    Unsupported,
    facts_of,
)
from oracles.reference import eager_run


def crash(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    valid = eager_run(outcomes) is not None
    for lane, outcome in outcomes.items():
        if isinstance(outcome, Ran | Built | Unsupported | Skipped | Broken) or _only_confirms(lane):
            continue
        if any(mutant.fate is MutantFate.DIED for mutant in outcome.facts.mutants):
            continue  # the process ended while it built a module broken on purpose: `checker_gap` judges that
        if _divided_without_quotient(lane, outcome, outcomes):
            continue
        component = component_of(lane, outcome.stage)
        kind = _kind(outcome, component)
        if isinstance(outcome, Raised) and component is Component.ONNXRUNTIME and outcome.stage is Stage.LOAD:
            component = Component.EXPORTER  # the exporter is at fault for a file that does not load
        if isinstance(outcome, Raised) and (component is Component.PYTORCH or not valid):
            continue  # the eager run itself refuses the model: the case is invalid, and the campaign counts it
        yield Finding(kind, component, lane, outcome.stage, outcome)


def _divided_without_quotient(lane: LaneSpec, outcome: Outcome, outcomes: Outcomes) -> bool:
    """Whether the process ended because it divided integers where no quotient is defined (`generators.undefined`).
    Processors signal that, and no other error of arithmetic."""
    if not isinstance(outcome, Died) or outcome.cause is not Cause.SIGNAL or outcome.code != signal.SIGFPE:
        return False
    return is_reference(lane) or any(INTEGER_QUOTIENT in facts_of(each).undefined for each in outcomes.values())


def _only_confirms(lane: LaneSpec) -> bool:
    """Whether the lane's own failures are not reported: it confirms a file, or measures how a case of ONNX is judged.
    Most such lanes run the interpreter of the onnx package."""
    return lane.engine is Engine.ONNX_REFERENCE or (is_reference_of_file(lane) and not is_eager(lane))


def _kind(outcome: Raised | Died | TimedOut, component: Component) -> Kind:
    match outcome:
        case Died(cause=Cause.MEMORY):
            return Kind.OUT_OF_MEMORY
        case Died():
            return Kind.DIED
        case TimedOut():
            return Kind.TIMED_OUT
        case Raised():
            return Kind.REJECTED if is_rejection(outcome, component) else Kind.INTERNAL_ERROR
        case _:
            assert_never(outcome)


def is_rejection(raised: Raised, component: Component) -> bool:
    """Whether the code that reads the model refused it on purpose: by a `raise` or an `assert` of its own.

    Every other exception is an internal error: in Python (a missing attribute), in C++ (a failed check, a type that
    cannot be inferred), or after the frontend had accepted the module. The class of the exception does not decide: TVM
    raises TypeError both from type inference in C++ and from bugs in Python.
    """
    innermost = raised.frames[-1] if raised.frames else None
    deliberate = innermost is not None and innermost.raises
    match component:
        case Component.TVM:
            return raised.stage is Stage.IMPORT and deliberate and innermost is not None and innermost.in_frontend
        case Component.ONNXRUNTIME:
            return raised.stage is Stage.LOAD  # its checks of a file are in C++: the traceback has no frame of them
        case Component.EXPORTER | Component.PYTORCH | Component.ENVIRONMENT | Component.POCL | Component.LAVAPIPE:
            return deliberate
        case _:
            assert_never(component)
