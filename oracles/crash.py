"""A lane that PyTorch's model went into must come out with a result: it did not die, hang or refuse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from generators.graph import Case
from oracles.finding import Component, Finding, Kind, component_of, is_eager, through_onnx
from oracles.lane import Engine
from oracles.outcome import Cause, Died, Outcome, Outcomes, Raised, Ran, Skipped, Stage, TimedOut, Unsupported

INTERNAL_ERRORS = ("InternalError", "tvm.error.InternalError")


def crash(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    judge = any(is_eager(spec) and isinstance(out, Ran) for spec, out in outcomes.items())
    for lane, outcome in outcomes.items():
        kind = _kind(outcome)
        if kind is None or isinstance(outcome, Ran | Unsupported | Skipped):
            continue
        component = component_of(lane, outcome.stage)
        if isinstance(outcome, Raised) and component is Component.ONNXRUNTIME and outcome.stage is Stage.LOAD:
            component = Component.EXPORTER  # a file that does not load is its writer's fault
        if isinstance(outcome, Raised) and (component is Component.PYTORCH or not judge):
            continue  # PyTorch itself refuses: an invalid case, which the campaign counts
        if component is Component.TVM and through_onnx(lane) and isinstance(outcome, Raised):
            file = _onnxruntime(outcomes)
            if isinstance(file, Raised) or (kind is Kind.REJECTED and not isinstance(file, Ran)):
                continue  # onnxruntime does not take the file either: perhaps it deserves to be refused
        yield Finding(kind, component, lane, outcome.stage, outcome)


def _kind(outcome: Outcome) -> Kind | None:
    match outcome:
        case Died(cause=Cause.MEMORY):
            return Kind.OUT_OF_MEMORY
        case Died():
            return Kind.DIED
        case TimedOut():
            return Kind.TIMED_OUT
        case Raised(type=name):
            return Kind.INTERNAL_ERROR if name in INTERNAL_ERRORS else Kind.REJECTED
        case Ran() | Unsupported() | Skipped():
            return None
        case _:
            assert_never(outcome)


def _onnxruntime(outcomes: Outcomes) -> Outcome | None:
    return next((out for spec, out in outcomes.items() if spec.engine is Engine.ONNXRUNTIME), None)
