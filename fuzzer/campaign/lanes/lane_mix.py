"""Which lanes a test without tiers takes: cheap ones in every test, expensive ones in turn, and some that are drawn for
the test alone. Most tests have tiers (`tier_lanes`). One test of fifty has none, nor have tests of lanes that the user
named."""

from __future__ import annotations

from fuzzer.campaign.plan.drawn_lanes import drawn
from fuzzer.campaign.plan.settings import Settings
from fuzzer.campaign.plan.streams import Stream, choices
from fuzzer.campaign.plan.unsupported_operators import supports
from fuzzer.lanes import references_of
from fuzzer.triage.reproduce import judged_by
from generators.graph import Case
from oracles.finding import runs_exported_program
from oracles.importers import drawn_importers
from oracles.lane import LaneSpec, is_relay

EVERY = 4
"""Every 4th test takes the lanes of `LaneMix.often`."""

TRY_UNSUPPORTED_PERCENT = 10
"""The percentage of tests in which an importer also gets operators that it is known not to support."""


def lanes_of(settings: Settings, seed: int, index: int, case: Case) -> tuple[LaneSpec, ...]:
    """The lanes of a test, in the order in which they run. Each comes after the lanes that it is judged with. Of the
    lanes that take turns, a case with symbolic sizes gets those for symbolic sizes, and every other case gets the
    others."""
    mix, dialect = settings.lanes, case.graph.dialect
    source, ops = choices(seed, index, Stream.LANES), frozenset(case.graph.ops)
    try_unsupported = source.rarely(TRY_UNSUPPORTED_PERCENT) or not mix.steered
    turns = [lane for lane in mix.in_turn if lane.symbolic == bool(case.graph.symbols) and lane.dialect == dialect]
    usual = [*mix.always, *(mix.often if index % EVERY == 0 else ())]
    usual += [turns[index % len(turns)]] if turns else []
    usual += mix.configurations.lanes(index) if mix.configurations else ()
    usual = [lane for lane in usual if lane.dialect == dialect]
    lanes = [lane for lane in usual if try_unsupported or is_relay(lane) or supports(lane.importer, ops)]
    importers = [importer for importer in drawn_importers(case.graph.dialect) if supports(importer, ops)]
    if importers and not case.graph.symbols:
        lanes += [drawn(source, case, importers) for _ in range(mix.drawn)]
    # PyTorch runs the exported program only where a lane disagrees with the reference (`judged_run`)
    judged = [each for lane in lanes for each in judged_by(lane) if not runs_exported_program(each)]
    return tuple(dict.fromkeys((*references_of(dialect), *judged)))
