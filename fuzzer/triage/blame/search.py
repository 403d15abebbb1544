"""Find the part of TVM that is at fault. The parts are examined from the importer to the runtime, cheapest check first.

1. The evidence itself: the importer raises, TVM's checker objects after a pass, the module declares other types. Where
   the importer gave a value another type before that, the converter of that value is at fault (`wrong_types`).
2. Optional passes: which one decides whether the result is right (`bisection`).
3. The feature that the lane adds to its plain sibling, if the sibling is right.
4. Another target: if it gives the right result, the code generator is at fault.
5. The first value of the imported module that has another type than in the model (`wrong_types`).
6. The imported module, evaluated operator by operator (`fuzzer.lanes.evaluated.interpreter`), and the kernels of each
   operator, both interpreted and built.
7. The pass that was running when the compiler stopped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fuzzer.cases.open_sizes import symbol_only_in_formulas
from fuzzer.isolate.fleet import RunLanes
from fuzzer.signature import Signature
from fuzzer.signature.blame import DECLARES_INPUTS, NO_BLAME, Blame, Origin, Place
from fuzzer.triage.blame.bisection import DecidingPass, deciding_pass, programs
from fuzzer.triage.blame.context import BlameContext, LaneObservation, RunLimitReached
from fuzzer.triage.blame.first_wrong import first_wrong
from fuzzer.triage.blame.modules import blame_module, converter_name, converter_of
from fuzzer.triage.blame.origin import origin_of, place_in_python
from fuzzer.triage.blame.other_lanes import blame_code_generator, blame_lane_feature
from fuzzer.triage.blame.stopped_pass import blame_stopped_pass, legalizes, module_around
from fuzzer.triage.blame.wrong_types import blame_first_wrong_type, blame_result_types
from fuzzer.triage.reproduce import Observation
from generators.dialect import dialect_named
from generators.graph import Case
from oracles.finding import Component, Finding, Kind
from oracles.lane import Engine, LaneSpec, is_relay
from oracles.outcome import IllFormed, Raised, Stage
from oracles.trace import Trace

_NOT_SEARCHED = frozenset({Kind.CHECKER_GAP, Kind.SLOW})
"""A checker gap shows on another program than the case. Times differ between runs."""


def is_searched(finding: Finding) -> bool:
    """Whether a part of TVM can be blamed for the finding."""
    by_tvm = finding.component is Component.TVM and finding.lane.engine is Engine.TVM
    return by_tvm and finding.kind not in _NOT_SEARCHED


def needs_trace(finding: Finding) -> bool:
    """Whether the search reads a trace. Of a Relay lane, only the first wrong operator is searched."""
    return is_searched(finding) and not is_relay(finding.lane)


def blame(
    run: RunLanes,
    case: Case,
    finding: Finding,
    signature: Signature,
    observed: Mapping[LaneSpec, Observation] | None = None,
) -> Blame:
    """Return the blame as far as `MOST_RUNS` runs can determine it. `finding.lane` shows the reduced case steadily.

    `observed` has what earlier runs of the case showed, by lane. All lanes that judge it ran with it.
    """
    if not is_searched(finding):
        return NO_BLAME
    context = BlameContext(run, case, finding, signature)
    for lane, observation in (observed or {}).items():
        context.remember(lane, observation)
    operator, found, origin = "", NO_BLAME, Origin()
    try:
        operator = first_wrong(context)
        if needs_trace(finding):
            trace = context.traced().trace
            origin = origin_of(case.graph, trace)
            found = _place(context, operator)
            origin = replace(origin, place=place_in_python(found, trace))
    except RunLimitReached:
        pass  # what was found so far is kept
    return replace(found, operator=found.operator or operator, origin=origin)


def _place(context: BlameContext, operator: str) -> Blame:
    whole = context.traced()
    if not whole.fails:
        untraced = context.observe(context.lane).fails
        condition = "while the passes are traced" if untraced else "any more"
        return Blame(evidence=f"The failure does not show {condition}")
    trace = whole.trace
    if isinstance(evidence := context.finding.evidence, IllFormed):
        return _by_the_checker(context, trace, evidence, operator)
    if context.finding.stage is Stage.IMPORT:
        stopped = _before_a_converter(context, trace, operator) or _by_the_importer(trace, operator)
        return blame_first_wrong_type(context, trace, stopped.evidence) or stopped
    if found := blame_result_types(context, whole, operator):
        return found
    if deciding := deciding_pass(context, trace):
        before, after = programs(context, deciding)
        return Blame(Place.PASS, "", deciding.name, _evidence_of(deciding), before, after)
    for check in (blame_lane_feature, blame_code_generator, _by_the_first_type, blame_module, blame_stopped_pass):
        if found := check(context, whole, operator):
            return found
    return NO_BLAME


def _by_the_first_type(context: BlameContext, whole: LaneObservation, operator: str) -> Blame | None:
    """Blame the first converter that gave another type than the model has, where no pass and no target decides."""
    return blame_first_wrong_type(context, whole.trace)


def _evidence_of(deciding: DecidingPass) -> str:
    if deciding.optional == 1:
        return f"The result is right without {deciding.name}, the only optional pass that ran"
    some = f"the first {deciding.before}" if deciding.before else "none"
    passes = f"{some} of the {deciding.optional} optional passes"
    return f"The result is right with {passes}, and the failure shows once {deciding.name} runs"


def _by_the_checker(context: BlameContext, trace: Trace, ill_formed: IllFormed, operator: str) -> Blame:
    """Blame what ran before TVM's checker of well-formedness objected. It looks at a module when all converters have
    run: the last one is not at fault because it is the last."""
    if ill_formed.after == "import":
        evidence = "TVM's checker of well-formedness refuses the imported module"
        if "is not defined" in ill_formed.message and (symbol := symbol_only_in_formulas(context.case.graph)):
            evidence += f": {symbol} is part of some input's size, and no size is {symbol} itself"
            return Blame(Place.FRONTEND, "", DECLARES_INPUTS[dialect_named(context.lane.dialect).is_file], evidence)
        stated = Blame(Place.FRONTEND, operator, converter_of(trace, operator), evidence)
        return blame_first_wrong_type(context, trace, evidence) or stated
    place = Place.LEGALIZATION if legalizes(ill_formed.after) else Place.PASS
    before, after = module_around(context, trace, ill_formed.after)
    evidence = f"TVM's checker of well-formedness accepts the module until {ill_formed.after} has run"
    return Blame(place, "", ill_formed.after, evidence, before, after)


def _before_a_converter(context: BlameContext, trace: Trace, operator: str) -> Blame | None:
    """Blame the importer of files itself where it stops at an operator before it calls its converter."""
    raised, called = context.finding.evidence, {converted for converted, _ in trace.converters}
    is_file = dialect_named(context.lane.dialect).is_file
    if not is_file or not isinstance(raised, Raised) or operator in ("", *called):
        return None
    if any(frame.in_frontend and frame.function.startswith("_impl") for frame in raised.frames):
        return None
    evidence = f"The importer stops before it calls a converter for `{operator}`"
    return Blame(Place.FRONTEND, operator, "", evidence)


def _by_the_importer(trace: Trace, operator: str) -> Blame:
    """Blame the converter that the importer called last before it stopped."""
    if not trace.converters:
        return Blame(Place.FRONTEND, operator, "", "The importer stops before it calls a converter")
    converted, function = trace.converters[-1]
    evidence = f"The importer stops at `{converted}`"
    return Blame(Place.FRONTEND, operator, converter_name(converted, function), evidence)
