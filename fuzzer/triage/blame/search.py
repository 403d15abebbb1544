"""Who is to blame for a finding: asked from the front of the compiler to its back, cheapest first.

1. What the evidence says: the importer raises, TVM's checker objects after a pass, the module declares other types.
2. Passes that can be left out: which one decides (`bisection`).
3. What the lane does beside the plain road, which is right.
4. Another target: what it gets right, the code generator gets wrong.
5. The module as imported, operator by operator (`fuzzer.lanes.evaluated.interpreter`): wrong already, or right; and the
   kernels that each operator becomes, as they are written and as they are built.
6. The pass that was under way when the compiler stopped.
"""

from __future__ import annotations

from dataclasses import replace

from fuzzer.signature import Signature
from fuzzer.signature.blame import NO_BLAME, Blame, Place
from fuzzer.triage.blame.bisection import DecidingPass, deciding_pass, programs
from fuzzer.triage.blame.context import BlameContext, LaneObservation, RunLimitReached
from fuzzer.triage.blame.first_wrong import first_wrong
from fuzzer.triage.blame.modules import blame_module, converter_name, converter_of, mistyped
from fuzzer.triage.blame.other_lanes import blame_code_generator, blame_lane_feature
from fuzzer.triage.blame.stopped_pass import blame_stopped_pass, legalizes, module_around
from fuzzer.triage.reproduce import RunLanes
from generators.graph import Case, Graph
from generators.symbolic import Expr
from oracles.finding import Component, Finding, Kind
from oracles.lane import Engine, is_relay
from oracles.outcome import IllFormed, Stage
from oracles.trace import AS_IMPORTED, Trace, Tracing

_BEYOND = frozenset({Kind.CHECKER_GAP, Kind.SLOW})
"""Of other programs than the case's own; told by a clock, which no two runs agree on."""


def blame(run: RunLanes, case: Case, finding: Finding, signature: Signature) -> Blame:
    """As far as it is found out in `MOST_RUNS` runs. `case` is reduced, `finding.lane` shows it, steadily."""
    if finding.component is not Component.TVM or finding.lane.engine is not Engine.TVM or finding.kind in _BEYOND:
        return NO_BLAME
    asked = BlameContext(run, case, finding, signature)
    operator, found = "", NO_BLAME
    try:
        operator = first_wrong(asked)
        found = NO_BLAME if is_relay(finding.lane) else _place(asked, operator)
    except RunLimitReached:
        pass  # what was found until then
    return replace(found, operator=found.operator or operator)


def _place(asked: BlameContext, operator: str) -> Blame:
    whole = asked.traced()
    if not whole.fails:
        again = asked.observe(asked.lane).fails
        return Blame(evidence="It does not show while its passes are watched" if again else "It does not show any more")
    trace = whole.trace
    if isinstance(evidence := asked.finding.evidence, IllFormed):
        return _by_the_checker(asked, trace, evidence)
    if asked.finding.stage is Stage.IMPORT:
        return _by_the_importer(trace, operator)
    if found := _by_the_types(asked, whole, operator):
        return found
    if guilty := deciding_pass(asked, trace):
        before, after = programs(asked, guilty)
        return Blame(Place.PASS, "", guilty.name, _told(guilty), before, after)
    for ask in (blame_lane_feature, blame_code_generator, blame_module, blame_stopped_pass):
        if found := ask(asked, whole, operator):
            return found
    return NO_BLAME


def _told(guilty: DecidingPass) -> str:
    if guilty.optional == 1:
        return f"It is right without {guilty.name}, the only pass that ran and can be left out"
    some = f"the first {guilty.before}" if guilty.before else "none"
    them = f"the {guilty.optional} passes that can be left out"
    return f"It is right with {some} of {them}, and fails once {guilty.name} runs"


def _by_the_checker(asked: BlameContext, trace: Trace, evidence: IllFormed) -> Blame:
    if evidence.after == "import":
        told = "TVM's checker of well-formedness refuses the module as it was imported"
        if "is not defined" in evidence.message and (symbol := symbol_only_in_formulas(asked.case.graph)):
            told += f": {symbol} is part of some input's size, and no size is {symbol} itself"
            return Blame(Place.FRONTEND, "", READS_INPUTS, told)
        return replace(_by_the_importer(trace, ""), evidence=told)
    place = Place.LEGALIZATION if legalizes(evidence.after) else Place.PASS
    before, after = module_around(asked, trace, evidence.after)
    told = f"TVM's checker of well-formedness is content with the module until {evidence.after} has run"
    return Blame(place, "", evidence.after, told, before, after)


READS_INPUTS = "create_input_vars"
"""The importer's function that declares the inputs, before any converter of an operator."""


def symbol_only_in_formulas(graph: Graph) -> str:
    """A symbol that no input has as a size of its own, only in a formula: which operator reads that is chance."""
    sizes = [size for item in graph.inputs for size in item.value.type.shape if isinstance(size, Expr)]
    hidden = {name for size in sizes for name in size.symbols} - {str(size) for size in sizes}
    return min(hidden, default="")


def _by_the_importer(trace: Trace, operator: str) -> Blame:
    """It stopped: in the function that it called last."""
    if not trace.converters:
        return Blame(Place.FRONTEND, operator, "", "The importer does not come to its end")
    what, function = trace.converters[-1]
    return Blame(Place.FRONTEND, operator, converter_name(what, function), f"The importer stops at `{what}`")


def _by_the_types(asked: BlameContext, whole: LaneObservation, operator: str) -> Blame | None:
    """The module says itself that it gives something else than PyTorch does."""
    declared, right = whole.trace.types, whole.types
    wrong = [(one, other) for one, other in zip(declared, right, strict=False) if one and one != other]
    if not right or not declared or (len(declared) == len(right) and not wrong):
        return None
    one, other = wrong[0] if wrong else (f"{len(declared)} results", f"{len(right)} results")
    after = asked.traced(Tracing(show=AS_IMPORTED)).trace.after
    told = f"The module as imported declares {one} where PyTorch gives {other}"
    culprit, told = mistyped(whole.trace, told) or (converter_of(whole.trace, operator), told)
    return Blame(Place.FRONTEND, operator, culprit, told, after=after)
