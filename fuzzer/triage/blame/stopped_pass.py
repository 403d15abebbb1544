"""Where the compiler stopped: the pass that was under way, or what comes after all passes."""

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
    """Whether a pass makes kernels of operators."""
    return name in _LEGALIZING


def blame_stopped_pass(asked: BlameContext, whole: LaneObservation, operator: str) -> Blame | None:
    """Of what gives no result. Nobody else is to blame: no pass that could be left out, nor the importer."""
    trace, finding = whole.trace, asked.finding
    match finding.stage:
        case Stage.TRANSFORM | Stage.COMPILE if trace.under_way:
            return _under_way(asked, trace, operator)
        case Stage.TRANSFORM | Stage.COMPILE:
            return _between(trace, operator)
        case Stage.LOAD:
            told = "Every pass has run, and what comes of it is not loaded"
            return Blame(Place.CODEGEN, operator, "", told)
        case Stage.RUN if finding.kind is Kind.ALIASED_OUTPUT:
            return Blame(Place.RUNTIME, operator, "", "It shares memory whatever passes are left out")
        case _:
            return None


def _under_way(asked: BlameContext, trace: Trace, operator: str) -> Blame:
    outer, inner = trace.under_way[0], trace.under_way[-1]
    before, _ = module_around(asked, trace, outer)
    if legalizes(outer):
        what = trace.legalizations[-1] if trace.legalizations else ("", "")
        told = f"{outer} stops" + (f" in `{what[1]}`, which makes a kernel of `{what[0]}`" if what[1] else "")
        return Blame(Place.LEGALIZATION, operator, what[0] or outer, told, before)
    told = f"{inner} stops, with all passes left out that can be"
    return Blame(Place.PASS, operator, inner, told, before)


def _between(trace: Trace, operator: str) -> Blame | None:
    """No pass was at work: what came last?"""
    last = trace.passes[-1].name if trace.passes else ""
    if last.endswith(_LAST_OF_RELAX):
        left = ", ".join(f"`{name}`" for name in trace.left)
        told = "The virtual machine's code generator stops" + (
            f" at {left}, of which no kernel was made" if left else ""
        )
        return Blame(Place.LEGALIZATION if left else Place.CODEGEN, operator, trace.left[0] if left else "", told)
    if any(each.name.endswith(_FIRST_OF_KERNELS) for each in trace.passes):
        return Blame(Place.CODEGEN, operator, "", f"The compiler stops behind its last pass, {last}")
    return None


def module_around(asked: BlameContext, trace: Trace, name: str) -> tuple[str, str]:
    """TVMScript before and after the first pass of that name; the latter is empty where it does not end."""
    place = next((place for place, each in enumerate(trace.passes) if each.name == name), None)
    if place is None:
        return "", ""
    shown = asked.traced(Tracing(show=place)).trace
    return shown.before, shown.after
