"""The lanes of TVM on three small models: PyTorch's result, and the recorded facts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from graphs_by_hand import case_of
from small_models import CASES, LINEAR, outcome_of

from fuzzer.isolate.executor import Executor
from fuzzer.lanes import SAMPLED_LANES, TORCH, TVM_LANES, needed
from fuzzer.lanes.base.availability import Runnable, availability
from fuzzer.triage.reproduce import judged_run
from oracles.finding import Component
from oracles.judge import judge_all
from oracles.lane import LaneSpec, Params
from oracles.outcome import Facts, Ran, facts_of

pytestmark = pytest.mark.tvm

LLVM, ONNX, C = TVM_LANES
NAMED = {lane.name.removeprefix("relax-export-"): lane for lane in (*TVM_LANES, *SAMPLED_LANES)}
NOT_YET = {
    ("conv", "relax-fx-llvm"): "Unsupported",  # batch normalisation
    ("conv", "relax-dynamo-llvm"): "Unsupported",
    ("conv", "relax-export-raw-llvm"): "wrong-value",  # batch normalisation as aten::batch_norm
}
"""What TVM 0.27 does not support of these models."""
PLAIN = [
    lane
    for lane in NAMED.values()
    if lane.variant == "relax" and not lane.symbolic and availability(lane) == Runnable() and lane.target != "cuda"
]


def facts(executor: Executor, lane: LaneSpec, case: str = "linear") -> Facts:
    outcome = outcome_of(executor, CASES[case], lane)
    assert isinstance(outcome, Ran), outcome
    return outcome.facts


@pytest.mark.parametrize("case", CASES)
def test_all_lanes_compute_what_pytorch_computes(executor: Executor, case: str) -> None:
    lanes = [lane for lane in PLAIN if lane.params is Params.BOUND or CASES[case].owned]
    everybody = dict.fromkeys(each for lane in lanes for each in (*needed(lane), lane))
    outcomes = judged_run(executor.run, CASES[case], list(everybody)).outcomes
    others = {lane: type(out).__name__ for lane, out in outcomes.items() if not isinstance(out, Ran)}
    others |= {f.lane: str(f.kind) for f in judge_all(CASES[case], outcomes) if f.component is Component.TVM}
    assert {(case, str(lane)): failure for lane, failure in others.items()} == {
        key: failure for key, failure in NOT_YET.items() if key[0] == case
    }
    for lane in set(lanes) - set(others):
        observed = facts_of(outcomes[lane])
        assert (observed.modified, observed.aliases, observed.ill_formed) == ((), (), None)


def test_the_module_is_checked_after_the_import_and_after_each_pass(executor: Executor) -> None:
    observed = facts(executor, NAMED["zero"])
    assert observed.checked[0] == "import"
    assert {"FoldConstant", "FuseOps", "FuseTIR", "LegalizeOps", "VMShapeLower"} <= set(observed.checked)
    assert not any(name.startswith(("tirx", "s_tir", "sequential", "_")) for name in observed.checked)
    assert facts(executor, NAMED["script"]).checked == ()


def test_the_module_is_checked_after_round_trips(executor: Executor) -> None:
    observed = facts(executor, replace(NAMED["script"], passes=("ScriptRoundTrip", "JsonRoundTrip"), checked=True))
    assert observed.checked[:3] == ("import", "ScriptRoundTrip", "JsonRoundTrip")


def test_sizes_and_times(executor: Executor) -> None:
    parameters = sum(array.nbytes for array in LINEAR.owned.values())
    observed = facts(executor, NAMED["library"])
    assert observed.parameter_bytes == parameters == 4 * (20 + 5)
    assert observed.constant_bytes == parameters
    assert 5_000 < observed.built_bytes < 500_000
    assert 0 < observed.compile_seconds < 10
    assert facts(executor, C).built_bytes > 5_000
    assert facts(executor, LLVM).built_bytes == 0


def test_constants_are_counted_after_the_pipeline(executor: Executor) -> None:
    """`zero` folds the transposed weight; a constant that stands in the module twice counts once."""
    case = CASES["linear"]
    assert facts(executor, NAMED["zero"]).constant_bytes == sum(array.nbytes for array in case.owned.values())


def test_what_is_constant_when_legalized_is_needed(executor: Executor) -> None:
    """`isfinite` of integers is true everywhere."""
    case = case_of({"x0": "uint8[2,3,16]"}, [("v0", "isfinite", "x0")], "v0")
    observed = facts_of(executor.run(case, (NAMED["zero"],)).outcomes[NAMED["zero"]])
    assert observed.constant_bytes == 2 * 3 * 16 <= (observed.needed_bytes or 0)


def test_an_output_that_is_an_input(executor: Executor) -> None:
    case = case_of({"x0": "float32[2,3]"}, [("v0", "neg", "x0")], "v0 x0")
    outcomes = executor.run(case, (TORCH, LLVM)).outcomes
    assert facts_of(outcomes[LLVM]).aliases == ((1, "x0"),)
    assert facts_of(outcomes[LLVM]).modified == ()


def test_the_peak_is_that_of_the_lane(executor: Executor) -> None:
    """Pages of libraries do not count: they are 90 MB in the first lane of a child."""
    assert facts(executor, LLVM).peak_bytes < 60 << 20
