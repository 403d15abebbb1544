"""Which lanes a test takes in each tier. Given the chooser, these are pure functions of their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from fuzzer.campaign.cases.torch.pass_tests import pass_test
from fuzzer.campaign.lanes.lane_chooser import Chosen, LaneChooser
from fuzzer.campaign.lanes.lane_mix import TRY_UNSUPPORTED_PERCENT, lanes_of
from fuzzer.campaign.plan.drawn_lanes import TORCH_IMPORTER, drawn, with_open_sizes
from fuzzer.campaign.plan.settings import Settings
from fuzzer.campaign.plan.streams import Stream, choices
from fuzzer.campaign.plan.unsupported_operators import supports
from fuzzer.campaign.test.tier_one import ImportVerdict, verdicts
from fuzzer.cases.open_sizes import why_not
from fuzzer.lanes import EVALUATED_LANES, plain_of
from fuzzer.toolchains.toolchain import HOST_NAME
from generators.choice import ChoiceSource
from generators.graph import Case
from oracles.importers import EXPENSIVE, Importer, drawn_importers, plain_importer
from oracles.lane import LaneSpec, is_relax, is_relay, is_tier_1
from oracles.outcome import FAILURES, Outcomes, Unsupported, facts_of
from oracles.siblings import REMEMBERED

EVERYTHING_PERCENT = 2
"""The percentage of tests that run all lanes of `lane_mix.lanes_of`, whatever the chooser has learnt."""

CANDIDATES = 8
"""How many lanes are drawn for each test that may run one of them. To draw one takes a tenth of a millisecond."""

WITHOUT_NOVELTY = 2
"""How many lanes of tier 2 a test of a campaign without guidance takes, beside the plain lanes that tier 1 asks for."""

_PLAIN = frozenset(map(plain_of, EVALUATED_LANES))


def takes_everything(seed: int, index: int) -> bool:
    """Whether the test runs all lanes of `lane_mix.lanes_of`, in one tier."""
    return choices(seed, index, Stream.EVERYTHING).rarely(EVERYTHING_PERCENT)


def tier_1(settings: Settings, seed: int, index: int, case: Case) -> tuple[LaneSpec, ...]:
    """The cheap importers of tier 1, which read each case, in each toolchain of the mix that has Relax."""
    return tuple(lane for lane in _importers(settings, seed, index, case) if lane.importer not in EXPENSIVE)


def expensive_importers(
    settings: Settings, seed: int, index: int, case: Case, outcomes: Outcomes, chooser: LaneChooser
) -> dict[Importer, tuple[LaneSpec, ...]]:
    """The expensive importers that read the case too, with their lanes. `outcomes` are those of the cheap ones. Without
    guidance, the seed and the number decide alone."""
    offered: dict[Importer, tuple[LaneSpec, ...]] = {}
    for lane in _importers(settings, seed, index, case):
        if lane.importer in EXPENSIVE and not (settings.guided and _would_fail(lane, outcomes)):
            offered[lane.importer] = (*offered.get(lane.importer, ()), lane)
    _, drawn_now = _tier_1_draws(seed, index)
    return {
        importer: lanes
        for importer, lanes in offered.items()
        if (chooser.reads(importer, case) if settings.guided else importer in drawn_now)
    }


def _importers(settings: Settings, seed: int, index: int, case: Case) -> list[LaneSpec]:
    """The lanes of tier 1, without importers that lack an operator of the case; in a few tests, with these too."""
    ops, (try_unsupported, _) = frozenset(case.graph.ops), _tier_1_draws(seed, index)
    toolchains = dict.fromkeys(lane.toolchain for lane in settings.lanes.always if is_relax(lane))
    return [
        replace(lane, toolchain=toolchain)
        for toolchain in toolchains
        for lane in EVALUATED_LANES
        if lane.dialect == case.graph.dialect and (try_unsupported or supports(lane.importer, ops))
    ]


def _tier_1_draws(seed: int, index: int) -> tuple[bool, set[Importer]]:
    """What is drawn for tier 1: whether importers get operators that they lack, and the importers that read the case
    in a campaign without guidance."""
    source = choices(seed, index, Stream.TIER_1)
    try_unsupported = source.rarely(TRY_UNSUPPORTED_PERCENT)
    percents = {lane.importer: lane.importer.row.percent for lane in EVALUATED_LANES}
    return try_unsupported, {importer for importer, percent in percents.items() if source.rarely(percent)}


def _would_fail(lane: LaneSpec, outcomes: Outcomes) -> bool:
    """Whether an expensive importer would end as the plain one did, in its toolchain."""
    return any(
        isinstance(outcome, (*FAILURES, Unsupported)) and outcome.stage in lane.importer.row.fails_with
        for other, outcome in outcomes.items()
        if is_tier_1(other) and other.importer is plain_importer(lane.dialect) and other.toolchain == lane.toolchain
    )


def relay_lanes(settings: Settings, seed: int, index: int, case: Case) -> tuple[LaneSpec, ...]:
    """Relay's lanes, which have no tiers."""
    mix = settings.lanes
    if not any(map(is_relay, (*mix.always, *mix.often, *mix.in_turn))):  # as in most campaigns
        return ()
    return tuple(lane for lane in lanes_of(settings, seed, index, case) if is_relay(lane))


def tier_2(settings: Settings, seed: int, index: int, case: Case, outcomes: Outcomes, chooser: LaneChooser) -> Chosen:
    """The lanes that compile the case, each with the behaviour of its importer in tier 1. First those that must run:
    plain lanes of importers on which tier 1 and PyTorch disagree, a lane with the pass that the case was drawn for,
    and a lane that has not run for long. Then those that the chooser takes."""
    source = choices(seed, index, Stream.TIER_2)
    found = verdicts(outcomes)
    behaviour = {
        _route(lane): facts_of(outcomes[lane]).behaviour
        for lane, verdict in found.items()
        if verdict is not ImportVerdict.FAILED
    }
    plain = {plain_of(lane): verdict for lane, verdict in found.items() if verdict is not ImportVerdict.FAILED}
    wrong = [lane for lane, verdict in plain.items() if verdict is ImportVerdict.WRONG]
    not_wrong = [lane for lane in plain if lane not in wrong]
    routes = {_route(lane) for lane in not_wrong}
    open_lanes = [lane for lane in _sampled(settings, case) if _route(lane) in routes and lane not in wrong]
    importers = [each for each in drawn_importers(case.graph.dialect) if (each, HOST_NAME) in routes]
    draws = bool(settings.lanes.drawn and importers and not case.graph.symbols)
    wanted = pass_test(seed, index)
    must = list(wrong)
    if wanted and wanted.may_act_on(case.graph.rows):
        if draws:
            must.append(drawn(source, case, importers, wanted.row))
        elif settings.lanes.drawn and TORCH_IMPORTER in importers and why_not(case) is None:
            must.append(with_open_sizes(source, wanted.row))
    drawn_lanes = [drawn(source, case, importers) for _ in range(CANDIDATES)] if draws else []
    if settings.guided:
        candidates = dict.fromkeys([*must, *not_wrong, *open_lanes, *drawn_lanes])
        return chooser.choose(case, must, {lane: behaviour[_route(lane)] for lane in candidates})
    taken = dict.fromkeys([*must, *_some(source, [[*not_wrong, *open_lanes], drawn_lanes])])
    return Chosen({lane: behaviour[_route(lane)] for lane in taken})


def _sampled(settings: Settings, case: Case) -> list[LaneSpec]:
    """The lanes of the mix that a case may take beside the plain ones of tier 1: those for symbolic sizes where it has
    some, and otherwise the others."""
    given = (*settings.lanes.often, *settings.lanes.in_turn)
    lanes = (lane for lane in given if is_relax(lane) and lane.dialect == case.graph.dialect)
    return [lane for lane in lanes if not _is_plain(lane) and lane.symbolic == bool(case.graph.symbols)]


@lru_cache(REMEMBERED)
def _is_plain(lane: LaneSpec) -> bool:
    """Whether it is the plain lane of an importer of tier 1, in any toolchain."""
    return replace(lane, toolchain=HOST_NAME) in _PLAIN


def _route(lane: LaneSpec) -> tuple[Importer, str]:
    """The importer of tier 1 whose module the lane compiles, or converts the same graph, and the toolchain."""
    return lane.importer if lane.importer.row.is_evaluated else lane.importer.route, lane.toolchain


def _some(source: ChoiceSource, groups: Sequence[Sequence[LaneSpec]]) -> list[LaneSpec]:
    """Draw lanes, each from one of the groups."""
    given = [group for group in groups if group]
    return [source.choice(source.choice(given)) for _ in range(WITHOUT_NOVELTY)] if given else []
