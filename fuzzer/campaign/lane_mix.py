"""The mix: which lanes a test takes. Cheap ones every test, dear ones in turn, some that are drawn for it alone."""

from __future__ import annotations

from fuzzer.campaign.drawn_lanes import IMPORTERS, drawn
from fuzzer.campaign.settings import Settings
from fuzzer.campaign.unsupported_operators import supports
from fuzzer.lanes import REFERENCES
from fuzzer.triage.reproduce import judged_by
from generators.choice import NumpySource
from generators.graph import Case
from oracles.finding import runs_exported_program
from oracles.lane import LaneSpec, is_relay

EVERY = 4
"""Every 4th test takes the lanes of `LaneMix.often`."""

_DOUBT = 10
"""In so many percent of the tests, what an importer is not known to take is tried on it all the same."""

_LANES = 1
"""The stream of choices that lanes are drawn from; the case's own is 0."""


def lanes_of(settings: Settings, seed: int, index: int, case: Case) -> tuple[LaneSpec, ...]:
    """In the order in which they run, each after what it is judged by. Of the sampled lanes, those for symbolic sizes
    have their turn whenever a case has such."""
    mix = settings.lanes
    source, ops = NumpySource(seed, index, _LANES), frozenset(case.graph.ops)
    doubting = source.rarely(_DOUBT) or not mix.steered
    turns = [lane for lane in mix.in_turn if lane.symbolic == bool(case.graph.symbols)]
    usual = [*mix.always, *(mix.often if index % EVERY == 0 else ())]
    usual += [turns[index % len(turns)]] if turns else []
    lanes = [lane for lane in usual if doubting or is_relay(lane) or supports(lane.importer, ops)]
    importers = [importer for importer in IMPORTERS if supports(importer, ops)]
    if importers and not case.graph.symbols:
        lanes += [drawn(source, case, importers) for _ in range(mix.drawn)]
    # PyTorch on what torch.export gave is asked only where somebody disagrees with it (`judged_run`)
    company = [each for lane in lanes for each in judged_by(lane) if not runs_exported_program(each)]
    return tuple(dict.fromkeys((*REFERENCES, *company)))
