"""Blame by evaluation of the imported module and of the kernels of its operators, with the lane `interpreted`."""

from __future__ import annotations

from dataclasses import replace

from fuzzer.signature.blame import ALREADY_WRONG, Blame, Place
from fuzzer.triage.blame.context import BlameContext, LaneObservation
from fuzzer.triage.blame.other_lanes import fails_on_other_target
from fuzzer.triage.blame.stopped_pass import module_around
from oracles.against_torch import judge
from oracles.importers import Importer
from oracles.lane import DEFAULT_OPT_LEVEL, Execution, LaneSpec, Params, Pipeline, returns_gradients
from oracles.outcome import Ran, Stage
from oracles.targets import family_of
from oracles.trace import (
    CALL_BUILT_KERNELS,
    INTERPRET_KERNELS,
    INTERPRET_OPERATORS,
    Correctness,
    OperatorCheck,
    Trace,
)


def blame_module(context: BlameContext, whole: LaneObservation, operator: str) -> Blame | None:
    """Blame the frontend, a legalization, a pass or the runtime, by evaluating the module and its kernels."""
    lane = context.lane
    if (
        not lane.importer.row.reads.is_one_graph
        or returns_gradients(lane)
        or lane.symbolic
        or family_of(lane.target) not in ("llvm", "c")
    ):
        return None
    observation = context.observe(interpreted(lane), fully=True)
    examined, correctness = observation.trace.examined, _correctness(observation)
    unknown = [
        each for each in examined if (each.interpreted, each.built) == (Correctness.UNKNOWN, Correctness.UNKNOWN)
    ]
    if observation.trace.outside:
        evidence = f"The imported module reads outside a tensor: {observation.trace.outside}"
        return _frontend(whole, operator, evidence)
    if correctness is Correctness.WRONG and not unknown:
        return _frontend(whole, operator, ALREADY_WRONG)
    if found := _by_a_kernel(context, whole.trace, examined, operator):
        return found
    if correctness is Correctness.WRONG and _others_are_right(context):
        evidence = "Another importer of the same model gives the right result with the same passes and target"
        return _frontend(whole, operator, evidence)
    if correctness is Correctness.RIGHT and not unknown:
        return _by_all_kernels(context, whole.trace, examined, operator)
    return None


def _by_all_kernels(
    context: BlameContext, trace: Trace, examined: tuple[OperatorCheck, ...], operator: str
) -> Blame | None:
    """Evaluate all kernels one after the other. The module is right, and no single kernel is wrong."""
    if context.finding.stage is not Stage.RUN or not examined:
        return None
    interpretation, built = (
        _correctness(context.observe(interpreted(context.lane, how), fully=True)) for how in _KERNELS
    )
    right = "The imported module is right, and so are its kernels when they are"
    match interpretation, built:
        case Correctness.WRONG, _:
            worst = max(examined, key=lambda one: one.off)
            least = f"the one of `{worst.operator}` most of all"
            evidence = f"The imported module is right; the kernels that LegalizeOps makes are too imprecise, {least}"
            return Blame(
                Place.LEGALIZATION, operator, worst.operator, evidence, *module_around(context, trace, "LegalizeOps")
            )
        case Correctness.RIGHT, Correctness.WRONG if fails_on_other_target(context):
            evidence = f"{right} interpreted, but not when they are built {_NEEDED}"
            return Blame(Place.PASS, operator, "", evidence, *module_around(context, trace, "LegalizeOps"))
        case Correctness.RIGHT, Correctness.RIGHT:
            return Blame(Place.RUNTIME, operator, "", f"{right} called directly")
    return None


_NEEDED = "for llvm and for C, so that a pass which every build needs is at fault"
_KERNELS = (INTERPRET_KERNELS, CALL_BUILT_KERNELS)


def interpreted(lane: LaneSpec, variant: str = INTERPRET_OPERATORS) -> LaneSpec:
    """Return the lane that evaluates the imported module and the kernels of its operators, for llvm."""
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


def _correctness(observation: LaneObservation) -> Correctness:
    expected = observation.expected
    if not isinstance(observation.outcome, Ran) or expected is None:
        return Correctness.UNKNOWN
    return Correctness.WRONG if judge(observation.outcome.outputs, expected) else Correctness.RIGHT


def _by_a_kernel(
    context: BlameContext, trace: Trace, examined: tuple[OperatorCheck, ...], operator: str
) -> Blame | None:
    """Blame the first operator whose kernels are wrong, interpreted or built."""
    for one in examined:
        name, by = f"`{one.operator}`", f" (by `{one.by}`)" if one.by else ""
        if one.interpreted is not Correctness.RIGHT and one.built is Correctness.WRONG:
            how = "interpreted" if one.interpreted is Correctness.WRONG else "built and called directly"
            evidence = f"The kernel that LegalizeOps makes for {name}{by} is wrong when {how}, without any other pass"
            if one.interpreted is one.built and not one.by:
                evidence = f"{name} can be computed, and LegalizeOps makes no kernel for it"
            before, after = module_around(context, trace, "LegalizeOps")
            return Blame(Place.LEGALIZATION, operator, one.operator, evidence, before, after)
        if (one.interpreted, one.built) == (Correctness.RIGHT, Correctness.WRONG) and fails_on_other_target(context):
            evidence = (
                f"The kernel that LegalizeOps makes for {name}{by} is right when interpreted, and wrong when built"
            )
            before, after = module_around(context, trace, "LegalizeOps")
            return Blame(Place.PASS, operator, "", f"{evidence} {_NEEDED}", before, after)
    return None


def _others_are_right(context: BlameContext) -> bool:
    lane = context.lane
    own = [each for each in Importer if each.row.dialect == lane.dialect]
    others = [each for each in own if each.row.compared and each is not lane.importer]
    return any(
        context.observe(replace(lane, importer=each, opset=None, name=f"relax-{each}-other"), fully=True).is_right
        for each in others
    )


def _frontend(whole: LaneObservation, operator: str, evidence: str) -> Blame:
    culprit = converter_of(whole.trace, operator)
    if not culprit:
        culprit, evidence = mistyped(whole.trace, evidence) or ("", evidence)
    return Blame(Place.FRONTEND, operator, culprit, evidence, after=whole.trace.after)


def mistyped(trace: Trace, evidence: str) -> tuple[str, str] | None:
    """Return the first converter that gives another type than the model, and the evidence with that type added."""
    if trace.mistyped is None:
        return None
    converted, made, right = trace.mistyped.by[0], trace.mistyped.made, trace.mistyped.right
    known = f"{evidence}; " if evidence else ""
    return converter_name(*trace.mistyped.by), f"{known}`{converted}` becomes {made}, and should be {right}"


def converter_of(trace: Trace, operator: str) -> str:
    """Return the converter of an operator: the only one called, or the one called for its name; "" if unclear."""
    names = {converter_name(*each) for each in trace.converters}
    named = {converter_name(*each) for each in trace.converters if _base(each[0]) == _function(operator)}
    return next(iter(names)) if len(names) == 1 else next(iter(named)) if len(named) == 1 else ""


def _function(operator: str) -> str:
    """Return the function's own name. In a sweep, an operator has the whole name, as torch.nn.functional.softmax."""
    return operator.rpartition(".")[2].lower()


def converter_name(what: str, function: str) -> str:
    """Return the name of a converter: `_flip`, `Softmax._impl_v13`, or `_binary_op of sub` if operators share it."""
    owner, *inner = function.split(".")
    if "Importer" not in owner or not inner:
        return function
    return inner[0] if len(inner) == 1 else f"{inner[0]} of {_base(what)}"


def _base(what: str) -> str:
    """Return the operator's own name: softmax for `_softmax.default`."""
    return what.lower().partition(".")[0].strip("_")
