"""One investigation: from a sighting to a finding that can be saved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fuzzer.isolate.child_process import USUAL_NODES
from fuzzer.isolate.device_supervisor import ON_THE_DEVICE
from fuzzer.isolate.fleet import Lab, RunLanes
from fuzzer.isolate.reports import SanitizerReport, ScriptRun
from fuzzer.signature import Signature, final_signature, signature_of
from fuzzer.signature.blame import NO_BLAME, NO_RELEASES, Blame, Releases
from fuzzer.triage import exported
from fuzzer.triage.blame.releases import Release, in_releases
from fuzzer.triage.blame.search import blame, needs_trace
from fuzzer.triage.combined_steps import REDUCERS_OF_AN_INVESTIGATION
from fuzzer.triage.eager_values import computed_values
from fuzzer.triage.metered import CostBySteps, MeteredLab, Step
from fuzzer.triage.naming import RUNS, NamedFailure, beyond_sibling, name_failure
from fuzzer.triage.reduce import Effort, Reduction, reduce
from fuzzer.triage.reducers import Subject
from fuzzer.triage.reproduce import (
    Observation,
    as_run_on,
    judged_by,
    judged_run,
    observe,
    reproduces,
    try_candidate,
    up_to_failure,
)
from fuzzer.triage.suspect import NO_SUSPECT, Suspect
from fuzzer.triage.suspects import Located, located
from fuzzer.triage.suspicion import certain_calls
from fuzzer.triage.undisturbed import undisturbed
from generators.graph import Case
from generators.onnx.model import OnnxModel
from oracles.finding import Component, Finding, Kind
from oracles.judge import judge_all
from oracles.lane import LaneSpec
from oracles.outcome import Outcomes
from oracles.targets import target_named

CONFIRMATIONS = 3
"""How many fresh runs must show a failure. A failure that shows in half of all runs passes once in 8 times."""

WHOLE_EFFORT = Effort()
OTHER_EFFORT = Effort(calls=20, seconds=20.0)
"""For failures of exporters and onnxruntime, which difftvm does not look for."""

EXPENSIVE_KINDS = frozenset({Kind.TIMED_OUT, Kind.OUT_OF_MEMORY})
"""Kinds of which each run that shows the failure costs as much as a lane may take. No blame is looked for."""

EXPENSIVE_EFFORT = Effort(calls=20, seconds=60.0)

SECONDS_OF_A_NODE = 0.5
"""A case of more than `USUAL_NODES` nodes is a model of a user: its reduction may take so much longer for each of the
others, because a run of it does."""

ChooseReleases = Callable[[LaneSpec], Sequence[Release]]
"""Returns the releases of TVM in which the case of a finding on this lane runs, including the lane's own."""

RunSanitizer = Callable[[Case, LaneSpec], tuple[SanitizerReport, ...]]
"""Runs a lane under compute-sanitizer and returns its reports."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """One failure in a test, and every lane that showed it. `suspect` is what it was suspected of when it was seen."""

    signature: Signature
    finding: Finding
    lanes: tuple[LaneSpec, ...]
    suspect: Suspect = NO_SUSPECT


class Unfinished(Exception):
    """The seconds of a reduction are used up, and its case still has several calls.

    case      the smallest case so far that shows the failure
    sighting  the failure as this case shows it
    others    other failures of TVM that the reduction found
    costs     what the investigation cost, by step
    """

    def __init__(self, case: Case, sighting: Sighting, others: tuple[tuple[Case, Sighting], ...]) -> None:
        super().__init__("the seconds of a reduction are used up")
        self.case, self.sighting, self.others = case, sighting, others
        self.costs: CostBySteps = {}


@dataclass(frozen=True, slots=True)
class Investigated:
    """What an investigation ended with, as it is saved: confirmed, flaky, or as it was seen.

    signature    the final signature
    finding      the finding that `case` shows. The evidence is always that of this case
    case         reduced, unless the failure is flaky
    lanes        names of the lanes that show it
    again        how many fresh runs showed the failure
    runs         how many fresh runs were made
    found_in     operators of the case in which the failure was found
    reduction    the reduction; None if the failure is flaky
    reports      what compute-sanitizer reported for a lane that ran on a GPU
    blame        the part of TVM at fault
    releases     the verdicts of other releases of TVM
    onnx         the ONNX file that TVM imports: a given one, and an exported one if TVM is at fault
    other_failures  other failures of TVM that the reduction found, each with its case, to be investigated on their own
    costs        what the investigation cost, by step
    script       how its repro.py ended; None if it has not run
    """

    signature: Signature
    finding: Finding
    case: Case
    lanes: tuple[str, ...]
    again: int
    runs: int
    found_in: tuple[str, ...]
    reduction: Reduction | None
    reports: tuple[SanitizerReport, ...] = ()
    blame: Blame = NO_BLAME
    releases: Releases = NO_RELEASES
    onnx: OnnxModel | None = None
    other_failures: tuple[tuple[Case, Sighting], ...] = ()
    costs: CostBySteps = field(default_factory=dict)
    script: ScriptRun | None = None

    @property
    def cpu_seconds(self) -> float:
        return sum(self.costs.values(), 0.0)

    @property
    def flaky(self) -> bool:
        return self.again < self.runs

    @property
    def key(self) -> str:
        """The key of the finding in a campaign. A flaky finding must not hide a steady one with the same signature."""
        return f"flaky-{self.signature.id}" if self.flaky else self.signature.id


def sightings(findings: Iterable[Finding]) -> list[Sighting]:
    """Group the findings of one test into sightings, one for each coarse signature.

    Lanes whose plain sibling is right form one sighting for each feature that they add to the sibling.
    """
    groups: dict[tuple[Signature, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((signature_of(finding), beyond_sibling(finding)), []).append(finding)
    return [Sighting(s, group[0], tuple(f.lane for f in group)) for (s, _), group in groups.items()]


def shown_by(run: RunLanes, case: Case, lanes: Sequence[LaneSpec]) -> tuple[Outcomes, list[Sighting]]:
    """Run the lanes, with all others that are needed to judge them. Return the outcomes, and what the lanes show."""
    everything = tuple(dict.fromkeys(each for lane in lanes for each in judged_by(lane)))
    outcomes = judged_run(undisturbed(run), case, everything).outcomes
    return outcomes, sightings(finding for finding in judge_all(case, outcomes) if finding.lane in lanes)


def unconfirmed(case: Case, sighting: Sighting) -> Investigated:
    """The sighting in the form of a finding that no run has confirmed yet."""
    names = tuple(dict.fromkeys(lane.name for lane in sighting.lanes))
    return Investigated(sighting.signature, sighting.finding, case, names, 0, 0, case.graph.ops, None)


def investigate(
    lab: Lab,
    case: Case,
    sighting: Sighting,
    releases: ChooseReleases,
    run_sanitizer: RunSanitizer,
    width: int = 1,
    effort: Effort = WHOLE_EFFORT,
    own_operators: bool = False,
) -> Investigated:
    """Confirm, reduce, name, blame, run in other releases, examine.

    The reduction tries `width` candidates at a time. A campaign uses 1, because its workers keep every core busy with
    other tests. `fuzz minimize` uses all cores. Raise `MachineLacks` where the machine lacks something that a judgement
    needs, again and again. `effort` limits the reduction of a failure of TVM's. With
    `own_operators`, the case is of a person's model, and no call becomes one of an operator that the case has not.
    Raise `Unfinished` where the effort is a part, its seconds are used up and the case has several calls: the caller
    goes on with the smaller case later.
    """
    metered = MeteredLab(lab)
    try:
        named = _confirmed_and_reduced(metered, case, sighting, width, effort, own_operators)
    except Unfinished as unfinished:
        unfinished.costs = metered.by_step
        raise
    found = named.found
    if not found.flaky and found.finding.kind not in EXPENSIVE_KINDS:
        with metered.during(Step.BLAME):
            found = _blamed(named.run, found, named.observed)
    if not found.flaky:
        others = releases(found.finding.lane)
        with metered.during(Step.RELEASES):
            verdicts = in_releases(metered.run_fresh, found.case, found.finding, found.signature, others)
        found = replace(found, releases=verdicts)
    with metered.during(Step.BLAME):
        found = _examined(named.run, found, run_sanitizer)
    return replace(found, costs=metered.by_step)


def confirm_and_reduce(lab: Lab, case: Case, sighting: Sighting, width: int = 1) -> Investigated:
    """Confirm, reduce and name. The steps of `investigate` after these do not change the case."""
    metered = MeteredLab(lab)
    named = _confirmed_and_reduced(metered, case, sighting, width, WHOLE_EFFORT)
    return replace(named.found, costs=metered.by_step)


def confirm_as_it_is(lab: Lab, case: Case, sighting: Sighting, run_sanitizer: RunSanitizer) -> Investigated | None:
    """Confirm, name, blame and examine a case, and do not reduce it. Return None if it does not show the failure."""
    metered = MeteredLab(lab)
    named = _named_in_fresh_children(metered, case, sighting, Reduction(case, sighting.finding.lane, 0, True))
    if named is None:
        return None
    with metered.during(Step.BLAME):
        found = _examined(named.run, _blamed(named.run, named.found, named.observed), run_sanitizer)
    return replace(found, costs=metered.by_step)


@dataclass(frozen=True, slots=True)
class _Named:
    """A finding before it is blamed.

    run       what blame runs lanes with: in fresh children if used ones showed something else
    observed  what the run that named it showed on its lane
    """

    found: Investigated
    run: RunLanes
    observed: Mapping[LaneSpec, Observation] = field(default_factory=dict)


def _confirmed_and_reduced(
    lab: MeteredLab, case: Case, sighting: Sighting, width: int, effort: Effort, own_operators: bool = False
) -> _Named:
    """Reduce in used children where the failure allows it. All is done in fresh ones if that fails."""
    case = as_run_on(sighting.finding.lane, case)
    subject = Subject(case, sighting.finding.lane, {}, sighting.signature.needs_ops)
    if own_operators:
        subject = replace(subject, operators=frozenset(node.op for node in case.graph.nodes))
    effort = _effort(sighting.signature, len(case.graph.nodes), effort)
    named: _Named | None = None
    others: tuple[tuple[Case, Sighting], ...] = ()
    if may_run_in_used_children(sighting.finding):
        with lab.during(Step.REDUCE):
            reduction = _reduced(lab.run, subject, sighting, width, effort, confirmed=False)
            if effort.is_part:
                _go_on_later(lab.run, sighting, reduction)
        others = _other_sightings(reduction)
        named = _named_in_fresh_children(lab, case, sighting, reduction)
    if named is None:
        named = _in_fresh_children(lab, subject, sighting, width, effort)
        others = _one_of_each((*others, *named.found.other_failures))
    return replace(named, found=replace(named.found, other_failures=others))


def _go_on_later(run: RunLanes, sighting: Sighting, reduction: Reduction) -> None:
    """Raise `Unfinished` where the seconds of a reduction are used up and several calls are left."""
    if not reduction.late or len(reduction.case.graph.nodes) == 1:
        return
    observation = observe(run, reduction.case, reduction.lane, sighting.signature)
    same = (each for each in observation.findings if sighting.signature.same_failure(signature_of(each)))
    if (finding := next(same, None)) is not None:
        smaller = Sighting(signature_of(finding), finding, (reduction.lane,))
        raise Unfinished(reduction.case, smaller, _other_sightings(reduction))


def _one_of_each(others: Iterable[tuple[Case, Sighting]]) -> tuple[tuple[Case, Sighting], ...]:
    """Return the last sighting of each signature."""
    return tuple({sighting.signature: (case, sighting) for case, sighting in others}.values())


STEADY_KINDS = frozenset(
    {
        Kind.INTERNAL_ERROR,
        Kind.REJECTED,
        Kind.ILL_FORMED,
        Kind.WRONG_ARITY,
        Kind.WRONG_SHAPE,
        Kind.WRONG_DTYPE,
        Kind.WRONG_VALUE,
        Kind.OUT_OF_BOUNDS_READ,
        Kind.UNINITIALISED_READ,
        Kind.ALIASED_OUTPUT,
    }
)
"""Kinds that an earlier case of the same process hardly ever influences. Memory, time and deaths are influenced. What
is read out of bounds is filled anew for each run; a write out of bounds may damage more than that."""


def may_run_in_used_children(finding: Finding) -> bool:
    """Whether candidates may run in children that have run other cases. The result is confirmed in fresh ones."""
    lane = finding.lane
    return finding.kind in STEADY_KINDS and target_named(lane.target).runs.in_plain_process and not lane.fresh


def _named_in_fresh_children(lab: MeteredLab, case: Case, sighting: Sighting, reduction: Reduction) -> _Named | None:
    """Name and confirm in fresh children what was reduced in used ones. Return None if it does not show the failure."""
    signature = sighting.signature
    if reduction.gone:
        return None
    fresh = up_to_failure(lab.run_fresh, signature)
    with lab.during(Step.NAME):
        named = name_failure(
            lab.run_fresh, reduction.case, reduction.lane, signature, traced=needs_trace(sighting.finding)
        )
    if named is None:
        return None
    others = CONFIRMATIONS - 1  # the run that named it is the first
    with lab.during(Step.CONFIRM):
        if not all(reproduces(fresh, reduction.case, reduction.lane, signature) for _ in range(others)):
            return None
    run = lab.run if may_run_in_used_children(named.finding) else lab.run_fresh
    return _Named(_confirmed(case, reduction, named), run, named.observed)


def _in_fresh_children(lab: MeteredLab, subject: Subject, sighting: Sighting, width: int, effort: Effort) -> _Named:
    """Confirm, reduce and name in fresh children only.

    The finding is flaky if it is not confirmed, or if the reduced case does not show the failure when it is named.
    """
    case, signature = subject.case, sighting.signature
    fresh = up_to_failure(lab.run_fresh, signature)
    with lab.during(Step.CONFIRM):
        again = sum(reproduces(fresh, case, sighting.finding.lane, signature) for _ in range(CONFIRMATIONS))
    if again < CONFIRMATIONS:
        return _Named(_flaky(case, sighting, again, CONFIRMATIONS), lab.run_fresh)
    with lab.during(Step.REDUCE):
        reduction = _reduced(lab.run_fresh, subject, sighting, width, effort, confirmed=True)
    with lab.during(Step.NAME):
        named = name_failure(lab.run_fresh, reduction.case, reduction.lane, signature)
    if named is None:
        flaky = _flaky(case, sighting, CONFIRMATIONS, CONFIRMATIONS + RUNS)
        return _Named(replace(flaky, other_failures=_other_sightings(reduction)), lab.run_fresh)
    return _Named(_confirmed(case, reduction, named), lab.run_fresh)


def _flaky(case: Case, sighting: Sighting, again: int, runs: int) -> Investigated:
    names = tuple(lane.name for lane in sighting.lanes)
    signature = final_signature(sighting.signature, case)
    return Investigated(signature, sighting.finding, case, names, again, runs, case.graph.ops, None)


def _reduced(
    run: RunLanes, subject: Subject, sighting: Sighting, width: int, effort: Effort, *, confirmed: bool
) -> Reduction:
    case, signature, shortened = subject.case, sighting.signature, up_to_failure(run, sighting.signature)
    several = len(case.graph.nodes) > 1
    certain = certain_calls(case, sighting.suspect)
    first = located(shortened, case, sighting.finding, signature, certain) if several else Located({}, ())
    return reduce(
        replace(subject, suspects=first.suspects),
        lambda smaller, lane: try_candidate(shortened, smaller, lane, signature),
        lambda whole: first.computed if whole is case else computed_values(run, whole),
        effort,
        REDUCERS_OF_AN_INVESTIGATION,
        width=width,
        confirmed=confirmed,
    )


def _effort(signature: Signature, nodes: int, of_tvm: Effort) -> Effort:
    if signature.kind in EXPENSIVE_KINDS:
        return EXPENSIVE_EFFORT
    usual = of_tvm if signature.component is Component.TVM else OTHER_EFFORT
    return replace(usual, seconds=usual.seconds + SECONDS_OF_A_NODE * max(0, nodes - USUAL_NODES))


def _confirmed(case: Case, reduction: Reduction, named: NamedFailure) -> Investigated:
    names = tuple(dict.fromkeys(lane.name for lane in named.lanes))
    return Investigated(
        named.signature,
        named.finding,
        reduction.case,
        names,
        CONFIRMATIONS,
        CONFIRMATIONS,
        case.graph.ops,
        reduction,
        other_failures=_other_sightings(reduction),
    )


def _other_sightings(reduction: Reduction) -> tuple[tuple[Case, Sighting], ...]:
    """Return the other failures of TVM. Those of exporters and references are not investigated."""
    of_tvm = [other for other in reduction.other_failures if other.finding.component is Component.TVM]
    return tuple(
        (each.case, Sighting(signature_of(each.finding), each.finding, (each.finding.lane,))) for each in of_tvm
    )


def _blamed(run: RunLanes, found: Investigated, observed: Mapping[LaneSpec, Observation]) -> Investigated:
    """Add the blame, which is part of the signature of failures without a message."""
    fault = blame(run, found.case, found.finding, found.signature, observed)
    return replace(found, blame=fault, signature=final_signature(found.signature, found.case, fault))


def _examined(run: RunLanes, found: Investigated, run_sanitizer: RunSanitizer) -> Investigated:
    """Add the ONNX file that TVM imports, and the reports of compute-sanitizer, for findings that have these."""
    if exported.read_by_tvm(found.finding):
        found = replace(found, onnx=exported.onnx_file(run, found.case, found.finding.lane))
    elif exported.reads_given_file(found.case, found.finding.lane):
        found = replace(found, onnx=exported.given_file(run, found.case, found.finding.lane))
    if found.finding.stage in ON_THE_DEVICE:
        found = replace(found, reports=run_sanitizer(found.case, found.finding.lane))
    return found
