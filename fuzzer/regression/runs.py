"""Runs a case of a regression corpus: how does each of its lanes end?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fuzzer.campaign.store.features import features_of, of_case
from fuzzer.campaign.test.tier_one import ImportVerdict, on_plain_lanes, references, verdicts
from fuzzer.isolate.fleet import RunLanes
from fuzzer.lanes import plain_of
from fuzzer.signature import signature_of
from fuzzer.triage.reproduce import is_valid, settled
from fuzzer.triage.undisturbed import joined
from generators.graph import Case
from oracles.finding import Finding
from oracles.judge import judge_all
from oracles.lane import LaneSpec, is_tier_1
from oracles.outcome import Built, Outcomes, Ran, Unsupported

RIGHT, UNSUPPORTED = "right", "unsupported"


def failure_id(finding: Finding) -> str:
    """The id of a failure, which stays the same between releases of TVM: that of its coarse signature without the
    functions that raised it."""
    return replace(signature_of(finding), frame="").id


@dataclass(frozen=True, slots=True)
class Ends:
    """How the lanes of a case ended.

    ends      by lane: `RIGHT`, `UNSUPPORTED`, or the `failure_id` of a failure. A lane that the machine
              could not run is not in it
    findings  by the id of a failure
    features  of the case, and of what the compiler did
    """

    ends: Mapping[LaneSpec, str]
    findings: Mapping[str, Finding]
    features: frozenset[str]
    cpu_seconds: float


def ends_of(run: RunLanes, case: Case, lanes: Sequence[LaneSpec]) -> Ends:
    """Run the lanes with the references that they need. Where the evaluation of a module is wrong, the plain lane of
    its importer decides, as in a test."""
    result = run(case, tuple(dict.fromkeys((*references(tuple(lanes)), *lanes))))
    wrong = [plain_of(lane) for lane, verdict in verdicts(result.outcomes).items() if verdict is ImportVerdict.WRONG]
    more = [lane for lane in dict.fromkeys((*references(tuple(wrong)), *wrong)) if lane not in result.outcomes]
    result = settled(run, case, on_plain_lanes(joined(result, run(case, more)) if more else result))
    if not is_valid(result.outcomes):
        return Ends({}, {}, frozenset(), result.cpu_seconds)
    found = list(judge_all(case, result.outcomes))
    by_lane = {finding.lane: finding for finding in reversed(found)}  # the first finding of a lane counts
    ends = {lane: end for lane in lanes if (end := _end(lane, result.outcomes, by_lane))}
    return Ends(
        ends,
        {failure_id(each): each for each in reversed(found)},
        frozenset((*features_of(result.outcomes, found), *of_case(case.graph))),
        result.cpu_seconds,
    )


def _end(lane: LaneSpec, outcomes: Outcomes, findings: Mapping[LaneSpec, Finding]) -> str | None:
    """How a lane ended. A failure of a lane of tier 1 stands under the plain lane of its importer."""
    if is_tier_1(lane) and (lane not in outcomes or plain_of(lane) in findings):
        lane = plain_of(lane)
    if lane in findings:
        return failure_id(findings[lane])
    match outcomes.get(lane):
        case Ran() | Built():
            return RIGHT
        case Unsupported():
            return UNSUPPORTED
        case _:
            return None
