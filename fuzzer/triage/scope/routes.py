"""What other lanes do with the reduced case: a line for each importer, pipeline and target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fuzzer.isolate.fleet import Runner
from fuzzer.lanes import EVERY_TVM_LANE, lanes_of
from fuzzer.lanes.base.availability import Runnable, availability
from fuzzer.triage.scope.asking import answer_of
from fuzzer.triage.scope.statement import Answer
from generators.graph import Case
from oracles.finding import Finding
from oracles.lane import LaneSpec, is_relax

_BY_NAME = {lane.name: lane for lane in EVERY_TVM_LANE}


def routes(
    runner: Runner, case: Case, finding: Finding, has_time: Callable[[], bool]
) -> tuple[tuple[str, Answer], ...]:
    """Return what each route does with the case, as long as there is time. Only a finding in Relax has routes."""
    if not is_relax(finding.lane):
        return ()
    known = lanes_of(finding.lane.dialect).routes
    lanes = {name: _beside(_BY_NAME[lane], finding.lane) for name, lane in known.items()}
    return tuple(
        (name, answer_of(runner, finding, case, lane))
        for name, lane in lanes.items()
        if isinstance(availability(lane), Runnable) and has_time()
    )


def _beside(lane: LaneSpec, other: LaneSpec) -> LaneSpec:
    """Return the lane in the toolchain of another lane, with open sizes where that one has them."""
    return replace(lane, toolchain=other.toolchain, symbolic=other.symbolic)
