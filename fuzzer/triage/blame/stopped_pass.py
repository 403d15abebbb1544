"""Blame for a failure without a result: the pass that was running when the compiler stopped, or what follows it."""

from __future__ import annotations

from fuzzer.signature.blame import Blame, Place
from fuzzer.triage.blame.context import BlameContext, LaneObservation
from oracles.finding import Kind
from oracles.outcome import Stage
from oracles.trace import Trace, Tracing

_LEGALIZING = ("LegalizeOps", "DispatchSortScan", "DispatchSampling")
_LAST_OF_RELAX = "AttachGlobalSymbol"
_FIRST_OF_KERNELS = "BindTarget"


def legalizes(name: str) -> bool:
    """Return whether the pass lowers operators to kernels."""
    return name in _LEGALIZING


def blame_stopped_pass(context: BlameContext, whole: LaneObservation, operator: str) -> Blame | None:
    """Blame the step in which the compiler stopped. No optional pass and no importer is at fault."""
    trace, finding = whole.trace, context.finding
    match finding.stage:
        case Stage.TRANSFORM | Stage.COMPILE if trace.under_way:
            return _running_pass(context, trace, operator)
        case Stage.TRANSFORM | Stage.COMPILE:
            return _after_last_pass(trace, operator)
        case Stage.LOAD:
            evidence = "Every pass has run, and the compiled module cannot be loaded"
            return Blame(Place.CODEGEN, operator, "", evidence)
        case Stage.RUN if finding.kind is Kind.ALIASED_OUTPUT:
            return Blame(Place.RUNTIME, operator, "", "The output shares memory, whichever passes are left out")
        case _:
            return None


def _running_pass(context: BlameContext, trace: Trace, operator: str) -> Blame:
    outer, inner = trace.under_way[0], trace.under_way[-1]
    before, _ = module_around(context, trace, outer)
    if legalizes(outer):
        lowered, function = trace.legalizations[-1] if trace.legalizations else ("", "")
        evidence = f"{outer} stops" + (f" in `{function}`, which makes a kernel for `{lowered}`" if function else "")
        return Blame(Place.LEGALIZATION, operator, lowered or outer, evidence, before)
    evidence = f"{inner} stops, even without all optional passes"
    return Blame(Place.PASS, operator, inner, evidence, before)


def _after_last_pass(trace: Trace, operator: str) -> Blame | None:
    """Blame what follows the last pass that ran: no pass was running when the compiler stopped."""
    last = trace.passes[-1].name if trace.passes else ""
    if last.endswith(_LAST_OF_RELAX):
        left = ", ".join(f"`{name}`" for name in trace.left)
        evidence = "The virtual machine's code generator stops" + (
            f" at {left}, for which no kernel was made" if left else ""
        )
        return Blame(Place.LEGALIZATION if left else Place.CODEGEN, operator, trace.left[0] if left else "", evidence)
    if any(each.name.endswith(_FIRST_OF_KERNELS) for each in trace.passes):
        return Blame(Place.CODEGEN, operator, "", f"The compiler stops after its last pass, {last}")
    return None


def module_around(context: BlameContext, trace: Trace, name: str) -> tuple[str, str]:
    """Return TVMScript before and after the first pass of that name. The second is "" if the pass does not end."""
    place = next((place for place, each in enumerate(trace.passes) if each.name == name), None)
    if place is None:
        return "", ""
    shown = context.traced(Tracing(show=place)).trace
    return shown.before, shown.after
