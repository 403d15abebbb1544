"""What the module as imported means, and what becomes of each of its operators: by the lane `interpreted`."""

from __future__ import annotations

from dataclasses import replace

from fuzzer.signature.blame import Blame, Place
from fuzzer.triage.blame.context import BlameContext, LaneObservation
from fuzzer.triage.blame.other_lanes import fails_on_other_target
from fuzzer.triage.blame.stopped_pass import module_around
from oracles.against_torch import judge
from oracles.lane import DEFAULT_OPT_LEVEL, Execution, Importer, LaneSpec, Params, Pipeline, returns_gradients
from oracles.outcome import Ran, Stage
from oracles.targets import family_of
from oracles.trace import (
    AS_IMPORTED,
    CALL_BUILT_KERNELS,
    INTERPRET_KERNELS,
    INTERPRET_OPERATORS,
    Correctness,
    OperatorCheck,
    Trace,
    Tracing,
)

_NOT_READ = (Importer.DYNAMO,)
"""There is no module as imported: torch.compile cuts the model into several."""


def blame_module(asked: BlameContext, whole: LaneObservation, operator: str) -> Blame | None:
    lane = asked.lane
    if (
        lane.importer in _NOT_READ
        or returns_gradients(lane)
        or lane.symbolic
        or family_of(lane.target) not in ("llvm", "c")
    ):
        return None
    seen = asked.observe(interpreted(lane), fully=True)
    examined, opinion = seen.trace.examined, _opinion(seen)
    unsure = [each for each in examined if (each.interpreted, each.built) == (Correctness.UNKNOWN, Correctness.UNKNOWN)]
    if seen.trace.outside:
        told = f"The module as imported asks for elements that are not there: {seen.trace.outside}"
        return _frontend(asked, whole, operator, told)
    if opinion is Correctness.WRONG and not unsure:
        told = "The module as imported is wrong already when PyTorch computes it operator by operator"
        return _frontend(asked, whole, operator, told)
    if found := _by_a_kernel(asked, whole.trace, examined, operator):
        return found
    if opinion is Correctness.WRONG and _others_are_right(asked):
        told = "Other importers of the same model give the right result on the same road"
        return _frontend(asked, whole, operator, told)
    return (
        _by_all_kernels(asked, whole.trace, examined, operator) if opinion is Correctness.RIGHT and not unsure else None
    )


def _by_all_kernels(
    asked: BlameContext, trace: Trace, examined: tuple[OperatorCheck, ...], operator: str
) -> Blame | None:
    """The module is right, and no kernel of it is wrong by itself: are they, one after the other?"""
    if asked.finding.stage is not Stage.RUN or not examined:
        return None
    written, built = (_opinion(asked.observe(interpreted(asked.lane, how), fully=True)) for how in _KERNELS)
    right = "The module as imported is right, and so are the kernels that it becomes, when they are"
    match written, built:
        case Correctness.WRONG, _:
            worst = max(examined, key=lambda one: one.off)
            least = f"that of `{worst.operator}` least of all"
            told = f"The module as imported is right; its kernels as LegalizeOps writes them are too imprecise, {least}"
            return Blame(
                Place.LEGALIZATION, operator, worst.operator, told, *module_around(asked, trace, "LegalizeOps")
            )
        case Correctness.RIGHT, Correctness.WRONG if fails_on_other_target(asked):
            told = f"{right} read loop by loop, and not as built: {_NEEDED}"
            return Blame(Place.PASS, operator, "", told, *module_around(asked, trace, "LegalizeOps"))
        case Correctness.RIGHT, Correctness.RIGHT:
            return Blame(Place.RUNTIME, operator, "", f"{right} called directly")
    return None


_NEEDED = "neither for llvm nor for C, so by a pass that no build can do without"
_KERNELS = (INTERPRET_KERNELS, CALL_BUILT_KERNELS)


def interpreted(lane: LaneSpec, variant: str = INTERPRET_OPERATORS) -> LaneSpec:
    """The road's module as imported, and the kernels that its operators become for a target that runs here."""
    return replace(
        lane,
        name=f"relax-{lane.importer}-{variant}",
        variant=variant,
        params=Params.BOUND,
        passes=(),
        pipeline=Pipeline.DEFAULT,
        disabled=(),
        options=(),
        opt_level=DEFAULT_OPT_LEVEL,
        target="llvm",
        executor=Execution.BYTECODE,
        checked=False,
        as_library=False,
        fresh=False,
        tracing=None,
    )


def _opinion(seen: LaneObservation) -> Correctness:
    right = seen.expected
    if not isinstance(seen.outcome, Ran) or right is None:
        return Correctness.UNKNOWN
    return Correctness.WRONG if judge(seen.outcome.outputs, right) else Correctness.RIGHT


def _by_a_kernel(asked: BlameContext, trace: Trace, examined: tuple[OperatorCheck, ...], operator: str) -> Blame | None:
    """The first operator whose kernels do not give what it means: as they are written, or as they are built."""
    for one in examined:
        name, by = f"`{one.operator}`", f" (by `{one.by}`)" if one.by else ""
        if one.interpreted is not Correctness.RIGHT and one.built is Correctness.WRONG:
            how = "read loop by loop" if one.interpreted is Correctness.WRONG else "built and called directly"
            told = f"What LegalizeOps makes of {name}{by} is wrong when it is {how}, without any other pass"
            if one.interpreted is one.built and not one.by:
                told = f"{name} can be computed, and LegalizeOps makes no kernel of it"
            before, after = module_around(asked, trace, "LegalizeOps")
            return Blame(Place.LEGALIZATION, operator, one.operator, told, before, after)
        if (one.interpreted, one.built) == (Correctness.RIGHT, Correctness.WRONG) and fails_on_other_target(asked):
            told = f"What LegalizeOps makes of {name}{by} is right when it is read loop by loop, and not as built:"
            before, after = module_around(asked, trace, "LegalizeOps")
            return Blame(Place.PASS, operator, "", f"{told} {_NEEDED}", before, after)
    return None


def _others_are_right(asked: BlameContext) -> bool:
    lane = asked.lane
    others = [each for each in (Importer.EXPORT, Importer.ONNX, Importer.EXPORT_RAW) if each is not lane.importer]
    return any(
        asked.observe(replace(lane, importer=each, opset=None, name=f"relax-{each}-other"), fully=True).is_right
        for each in others
    )


def _frontend(asked: BlameContext, whole: LaneObservation, operator: str, told: str) -> Blame:
    after = asked.traced(Tracing(show=AS_IMPORTED)).trace.after
    culprit = converter_of(whole.trace, operator)
    if not culprit:
        culprit, told = mistyped(whole.trace, told) or ("", told)
    return Blame(Place.FRONTEND, operator, culprit, told, after=after)


def mistyped(trace: Trace, told: str) -> tuple[str, str] | None:
    """The converter that first gives another type than PyTorch does, where there is one, and the evidence with it."""
    if trace.mistyped is None:
        return None
    what, made, right = trace.mistyped.by[0], trace.mistyped.made, trace.mistyped.right
    return converter_name(*trace.mistyped.by), f"{told}; `{what}` becomes {made}, and should be {right}"


def converter_of(trace: Trace, operator: str) -> str:
    """What translated an operator: the only one that was called, or the one called for its name."""
    names = {converter_name(*each) for each in trace.converters}
    named = {converter_name(*each) for each in trace.converters if _base(each[0]) == _function(operator)}
    return next(iter(names)) if len(names) == 1 else next(iter(named)) if len(named) == 1 else ""


def _function(operator: str) -> str:
    """A sweep calls functions by their whole name: torch.nn.functional.softmax is softmax."""
    return operator.rpartition(".")[2].lower()


def converter_name(what: str, function: str) -> str:
    """`_flip`; `_binary_op of sub`, of a function that many operators share; `Softmax._impl_v13`, of ONNX."""
    owner, *inner = function.split(".")
    if "Importer" not in owner or not inner:
        return function
    return inner[0] if len(inner) == 1 else f"{inner[0]} of {_base(what)}"


def _base(what: str) -> str:
    """`_softmax.default` is softmax's."""
    return what.lower().partition(".")[0].strip("_")
