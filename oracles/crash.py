"""A lane that PyTorch's model went into must come out with a result: it did not die, hang or refuse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from generators.graph import Case
from oracles.finding import Component, Finding, Kind, component_of
from oracles.lane import Engine
from oracles.outcome import Built, Cause, Died, MutantFate, Outcomes, Raised, Ran, Skipped, Stage, TimedOut, Unsupported
from oracles.reference import eager_run


def crash(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    judge = eager_run(outcomes) is not None
    for lane, outcome in outcomes.items():
        if isinstance(outcome, Ran | Built | Unsupported | Skipped) or lane.engine is Engine.ONNX_REFERENCE:
            continue  # the interpreter of the onnx package is asked for its opinion; it is nobody's product
        if any(mutant.fate is MutantFate.DIED for mutant in outcome.facts.mutants):
            continue  # a module broken on purpose was under way: the checker's matter
        component = component_of(lane, outcome.stage)
        kind = _kind(outcome, component)
        if isinstance(outcome, Raised) and component is Component.ONNXRUNTIME and outcome.stage is Stage.LOAD:
            component = Component.EXPORTER  # a file that does not load is its writer's fault
        if isinstance(outcome, Raised) and (component is Component.PYTORCH or not judge):
            continue  # PyTorch itself refuses: an invalid case, which the campaign counts
        yield Finding(kind, component, lane, outcome.stage, outcome)


def _kind(outcome: Raised | Died | TimedOut, component: Component) -> Kind:
    match outcome:
        case Died(cause=Cause.MEMORY):
            return Kind.OUT_OF_MEMORY
        case Died():
            return Kind.DIED
        case TimedOut():
            return Kind.TIMED_OUT
        case Raised():
            return Kind.REJECTED if refuses(outcome, component) else Kind.INTERNAL_ERROR
        case _:
            assert_never(outcome)


def refuses(raised: Raised, component: Component) -> bool:
    """Whether somebody decided to say no: a `raise` or `assert` of the code that takes the model in. All else is an
    accident: in Python (an attribute that is not there), in C++ (a check, an inferred type), or on a module that
    the frontend had taken. The exception's class says nothing: TVM raises TypeError from type inference in C++ and from
    bugs in Python alike."""
    innermost = raised.frames[-1] if raised.frames else None
    deliberate = innermost is not None and innermost.raises
    match component:
        case Component.TVM:
            return raised.stage is Stage.IMPORT and deliberate and innermost is not None and innermost.in_frontend
        case Component.ONNXRUNTIME:
            return raised.stage is Stage.LOAD  # its checks of a file, of which Python sees no frame
        case Component.EXPORTER | Component.PYTORCH | Component.ENVIRONMENT:
            return deliberate
        case _:
            assert_never(component)
