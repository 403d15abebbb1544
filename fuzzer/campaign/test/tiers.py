"""One test: tier 1 imports and evaluates the case on each importer, and tier 2 compiles it in lanes
that are likely to show new failures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fuzzer.campaign.lanes.lane_chooser import Chosen, LaneChooser
from fuzzer.campaign.lanes.lane_mix import lanes_of
from fuzzer.campaign.plan.settings import Settings
from fuzzer.campaign.test.tier_lanes import expensive_importers, relay_lanes, takes_everything, tier_1, tier_2
from fuzzer.campaign.test.tier_one import evaluation_disagrees, on_plain_lanes, references
from fuzzer.isolate.fleet import RunLanes
from fuzzer.lanes import plain_sibling, references_of
from fuzzer.triage.reproduce import is_valid, judged_run, settled
from fuzzer.triage.undisturbed import joined
from generators.graph import Case
from oracles.finding import Component
from oracles.judge import judge_all
from oracles.lane import Engine, LaneSpec, is_relax, is_relay
from oracles.outcome import NO_FACTS, Outcome, Result, Stage, facts_of
from oracles.siblings import additions, changes_program

_COMPILING = (Stage.TRANSFORM, Stage.COMPILE, Stage.LOAD, Stage.RUN)


@dataclass(frozen=True, slots=True)
class TieredResult:
    """What a test did.

    result                the outcomes of both tiers, as the oracles judge them: tier 1's failures are on plain lanes
    evaluation_disagrees  plain lanes for whose module difftvm's evaluation is wrong, or raised an exception
    """

    result: Result
    evaluation_disagrees: tuple[LaneSpec, ...] = ()


def run_test(
    run: RunLanes, settings: Settings, seed: int, index: int, case: Case, chooser: LaneChooser
) -> TieredResult:
    """Do one test. Lanes that the user named run in every test, without tiers."""
    if not settings.lanes.steered:
        return TieredResult(judged_run(run, case, lanes_of(settings, seed, index, case)))
    if takes_everything(seed, index):
        return TieredResult(_everything(run, case, lanes_of(settings, seed, index, case), chooser))
    imports, relay = tier_1(settings, seed, index, case), relay_lanes(settings, seed, index, case)
    own = references_of(case.graph.dialect)
    first = run(case, tuple(dict.fromkeys((*own, *references(imports), *imports))))
    if not is_valid(first.outcomes):
        return TieredResult(on_plain_lanes(first))
    chooser.begin(first.cpu_seconds)
    for importer, lanes in expensive_importers(settings, seed, index, case, first.outcomes, chooser).items():
        cheaper, first = first, _with(run, case, first, (*references(lanes), *lanes))
        chooser.imported(importer, first.cpu_seconds - cheaper.cpu_seconds)
    chosen = tier_2(settings, seed, index, case, first.outcomes, chooser)
    before = _with(run, case, on_plain_lanes(first), _with_judges(relay))
    result = _compiled(run, case, before, tuple(chosen.lanes), chooser)
    chooser.end(case, chosen, result.cpu_seconds - before.cpu_seconds)
    return TieredResult(_plain_first(result), evaluation_disagrees(first.outcomes, result.outcomes))


def _everything(run: RunLanes, case: Case, lanes: Sequence[LaneSpec], chooser: LaneChooser) -> Result:
    """Run all lanes. Those of Relax run apart, so that the cost of their two tiers is known."""
    relax = [lane for lane in lanes if is_relax(lane)]
    first = run(case, [lane for lane in lanes if lane.engine is not Engine.TVM])
    if not is_valid(first.outcomes):
        return first
    before = _with(run, case, first, filter(is_relay, lanes))
    result = _with(run, case, before, relax)
    compiling = sum(result.stage_cpu.get(stage, 0.0) - before.stage_cpu.get(stage, 0.0) for stage in _COMPILING)
    chooser.begin(first.cpu_seconds + result.cpu_seconds - before.cpu_seconds - compiling)
    chooser.end(case, Chosen({lane: _behaviour(result, lane) for lane in relax}), compiling)
    return _plain_first(settled(run, case, result))


def _compiled(run: RunLanes, case: Case, first: Result, lanes: Sequence[LaneSpec], chooser: LaneChooser) -> Result:
    """Run lanes that compile the case, with the references that they need, and other lanes where one of them fails."""
    result = _with(run, case, first, _with_judges(lanes))
    failing = [
        finding.lane
        for finding in judge_all(case, result.outcomes)
        if finding.component is Component.TVM and chooser.is_new(case, finding)
    ]
    result = _with(run, case, result, filter(None, map(plain_sibling, failing)))
    return settled(run, case, result)


def _with_judges(lanes: Sequence[LaneSpec]) -> tuple[LaneSpec, ...]:
    """The lanes, after the references that they need and the lanes that they are compared with bit by bit."""
    siblings = filter(None, (plain_sibling(lane) for lane in lanes if _needs_sibling(lane)))
    compared = tuple(dict.fromkeys((*siblings, *lanes)))
    return (*references(compared), *compared)


def _with(run: RunLanes, case: Case, result: Result, lanes: Iterable[LaneSpec]) -> Result:
    """The result with the outcomes of lanes that it does not have yet."""
    missing = [lane for lane in dict.fromkeys(lanes) if lane not in result.outcomes]
    return joined(result, run(case, missing)) if missing else result


def _plain_first(result: Result) -> Result:
    """The result with plain lanes before others, and lanes of Relax before those of Relay. The first lane that shows a
    failure is the one that is reduced."""
    lanes = sorted(result.outcomes, key=lambda lane: (bool(additions(lane)), is_relay(lane)))
    return Result({lane: result.outcomes[lane] for lane in lanes}, result.stage_cpu, result.cpu_seconds)


def _needs_sibling(lane: LaneSpec) -> bool:
    """Whether the lane is compared bit by bit with its plain sibling. Other lanes are compared with PyTorch, and with
    their sibling only where they are wrong."""
    return lane.fresh or not changes_program(lane)


def _behaviour(result: Result, lane: LaneSpec) -> tuple[str, ...]:
    outcome: Outcome | None = result.outcomes.get(lane)
    return (facts_of(outcome) if outcome is not None else NO_FACTS).behaviour
