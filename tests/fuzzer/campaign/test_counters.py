"""What a campaign counts, as scripts read it."""

from __future__ import annotations

import msgspec

from fuzzer.campaign.store import index
from fuzzer.campaign.store.counters import MAX_REASONS, OTHER_REASONS, Counters
from fuzzer.campaign.store.state import State
from fuzzer.campaign.triage import waiting
from fuzzer.lanes import ONNXRUNTIME, TVM_LANES
from fuzzer.lanes.target_table import TARGET_LANES
from oracles.lane import LaneSpec
from oracles.outcome import Broken, Outcome, Raised, Ran, Result, Skipped, Stage, Unsupported

LANES: dict[LaneSpec, Outcome] = {
    TVM_LANES[0]: Ran(()),
    TVM_LANES[1]: Raised(Stage.IMPORT, "ValueError", "no"),
    TVM_LANES[2]: Unsupported(Stage.IMPORT, "no int4"),
    TARGET_LANES[0]: Broken(Stage.IMPORT, "KeyError"),
    TARGET_LANES[1]: Skipped("no space", environment=True),
    ONNXRUNTIME: Ran(()),
}


def test_the_summary() -> None:
    counters = Counters(tests=3, invalid=1, errors=2, cpu_seconds=16.0, wall_seconds=9.876)
    counters.add(Result(LANES, {Stage.COMPILE: 3.456, Stage.START: 1.0}, 5.0))
    counters.add(Result({TVM_LANES[0]: Ran(())}, {Stage.COMPILE: 0.544}, 2.0), triage=True)
    counters.evaluation_disagrees["a"], counters.triage_steps["blame"] = 1, 0.123
    assert counters.summary() == {
        "tests": 3,
        "invalid": 1,
        "errors": 2,
        "lane_results": 2,
        "triage_lane_results": 1,
        "cpu_seconds": 16.0,
        "test_cpu_seconds": 5.0,
        "triage_cpu_seconds": 2.0,
        "triage_steps": {"blame": 0.12},
        "triage_used": 0.286,
        "wall_seconds": 9.88,
        "stage_cpu_seconds": {"compile": 4.0, "start": 1.0},
        "lane_results_per_cpu_second": 0.188,
        "outside_compilers_share": 0.75,
        "unsupported": {TVM_LANES[2].name: 1},
        "environment": {"no space": 1},
        "broken": {TARGET_LANES[0].name: 1},
        "evaluation_disagrees": {"a": 1},
        "judged": {
            "elements": 0,
            "unjudged": {},
            "with_floats": 0,
            "no_float": 0,
            "few_floats": 0,
            "equal_floats": 0,
        },
    }


def test_a_campaign_that_has_just_begun_has_a_summary() -> None:
    summary = Counters().summary()
    names = ("triage_used", "lane_results_per_cpu_second", "outside_compilers_share")
    assert [summary[name] for name in names] == [0.0, 0.0, 1.0]


def test_the_words_and_numbers_on_disk() -> None:
    """A change here loses what campaigns have written."""
    assert (index.NAME, index.OWN, waiting.MET) == ("index.sqlite", 1, ".met")
    written = msgspec.to_builtins(State(7, found={"0a": 1}))
    assert list(written) == ["seed", "next_test", "tally", "seen", "known", "campaign", "format", "last"]
    assert (MAX_REASONS, OTHER_REASONS) == (500, "(other reasons)")
