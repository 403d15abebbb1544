"""What a lane without checks of arguments shows, and what the same lane with checks says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from fakes import CASE, EXACT, correct, references
from graphs_by_hand import Call, case_of

from fuzzer.isolate.executor import Executor
from fuzzer.lanes import EVERY_TVM_LANE, TVM_LANES
from fuzzer.signature import signature_of
from fuzzer.triage.checked import UNDEFINED, with_checks
from fuzzer.triage.investigate import Sighting
from generators.graph import Case
from oracles.finding import Component, Evidence, Finding, Kind
from oracles.lane import LaneSpec
from oracles.memory_access import Access, MemoryAccess, Side
from oracles.outcome import Cause, Died, Outcome, Raised, Result, Stage

NAMED = {lane.name: lane for lane in EVERY_TVM_LANE}
UNCHECKED = TVM_LANES[0]
CHECKED = replace(NAMED["relax-export-asserts"], checked=UNCHECKED.checked)
RIGHT = EXACT[:1]
DIED = Died(Stage.RUN, Cause.SIGNAL, 11, "")
WRITE = MemoryAccess(Access.WRITE, "output 0", Side.AFTER, 1, "float32")
CHECK = Raised(Stage.RUN, "tvm.error.InternalError", "Mismatched lv3.ndim on argument #0 when calling")


@dataclass
class Runner:
    """Its lanes of TVM end with one outcome."""

    outcome: Outcome
    lanes: list[LaneSpec] = field(default_factory=list)

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        self.lanes += [lane for lane in lanes if lane.name in NAMED]
        right = references(*RIGHT)
        return Result({lane: self.outcome if lane.name in NAMED else right.get(lane, correct(RIGHT)) for lane in lanes})


def sighting(kind: Kind, evidence: Evidence, lane: LaneSpec = UNCHECKED) -> Sighting:
    finding = Finding(kind, Component.TVM, lane, Stage.RUN, evidence)
    return Sighting(signature_of(finding), finding, (lane,))


@pytest.mark.parametrize(("kind", "evidence"), [(Kind.DIED, DIED), (Kind.OUT_OF_BOUNDS_WRITE, WRITE)])
def test_a_failed_check_takes_the_place_of_what_followed(kind: Kind, evidence: Evidence) -> None:
    runner = Runner(CHECK)
    found = with_checks(runner.run_fresh, CASE, sighting(kind, evidence))
    assert (found.finding.kind, found.finding.evidence, found.lanes) == (Kind.INTERNAL_ERROR, CHECK, (CHECKED,))
    assert runner.lanes == [CHECKED]


@pytest.mark.parametrize(
    "outcome", [correct(RIGHT), DIED, replace(CHECK, stage=Stage.COMPILE), replace(CHECK, stage=Stage.IMPORT)]
)
def test_a_sighting_stays_where_no_check_fails(outcome: Outcome) -> None:
    died = sighting(Kind.DIED, DIED)
    assert with_checks(Runner(outcome).run_fresh, CASE, died) is died


def test_other_sightings_cost_no_run() -> None:
    runner = Runner(CHECK)
    checked, raised = sighting(Kind.DIED, DIED, CHECKED), sighting(Kind.INTERNAL_ERROR, CHECK)
    assert [with_checks(runner.run_fresh, CASE, each) for each in (checked, raised)] == [checked, raised]
    assert runner.lanes == []
    assert Kind.WRONG_VALUE not in UNDEFINED


@pytest.mark.tvm
@pytest.mark.smoke
def test_a_result_of_a_wrong_rank_is_a_failed_check(executor: Executor) -> None:
    """TVM 0.27: the places that Unique returns for a scalar have rank 0, and the kernel after it reads a size there."""
    outputs = (False, False, True, False)
    calls: list[Call] = [
        ("v0", "Unique-11", "x0", {"outputs": outputs}),
        ("v1", "Shrink-9", "v0", {"lambd": None, "bias": 1.0}),
    ]
    case = replace(case_of({"x0": "float32[]"}, calls, "v1", opset=17), tensors={"x0": np.array(1, "float32")})
    lane = NAMED["relax-onnx-model-llvm"]
    finding = Finding(Kind.DIED, Component.TVM, lane, Stage.RUN, DIED)
    found = with_checks(executor.run_fresh, case, Sighting(signature_of(finding), finding, (lane,))).finding
    assert isinstance(found.evidence, Raised)
    assert "ndim" in found.evidence.message
    assert found.lane.asserts
