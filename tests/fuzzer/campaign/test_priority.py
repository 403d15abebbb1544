"""The order of triage: severity, and the distance to what was investigated."""

from __future__ import annotations

from dataclasses import replace

import pytest
from graphs_by_hand import case_of

from fuzzer.campaign.triage.priority import (
    SEVERITY,
    Traits,
    distance,
    expected_seconds,
    severity,
    traits_of,
    traits_of_saved,
)
from fuzzer.lanes import EVERY_TVM_LANE, ONNXRUNTIME, TVM_LANES
from fuzzer.signature import Signature
from oracles.finding import Component, Finding, Kind, Mismatch
from oracles.outcome import Stage

LANE = TVM_LANES[0]
LAYOUT = Signature(Kind.INTERNAL_ERROR, Component.TVM, Stage.IMPORT, "ValueError", "no layout", "conv.py:_conv")
ZERO_PIPELINE = next(lane for lane in EVERY_TVM_LANE if lane.name == "relax-export-zero")


def finding(kind: Kind = Kind.WRONG_VALUE, component: Component = Component.TVM) -> Finding:
    return Finding(kind, component, LANE, Stage.RUN, Mismatch(0, "1.0", "2.0"))


def traits(*words: str) -> Traits:
    """Equal but for the operators, which are `words`."""
    same = ("x",)
    return Traits(tuple(sorted(words)), same, same, same, same)


def test_every_kind_has_a_severity() -> None:
    assert set(SEVERITY) == set(Kind)


def test_accesses_out_of_bounds_come_first_then_wrong_results_and_deaths_and_refusals_last() -> None:
    ordered = sorted(Kind, key=lambda kind: -SEVERITY[kind])
    assert set(ordered[:3]) == {Kind.OUT_OF_BOUNDS_WRITE, Kind.OUT_OF_BOUNDS_READ, Kind.UNINITIALISED_READ}
    assert set(ordered[3:11]) >= {Kind.WRONG_VALUE, Kind.DIED, Kind.SECOND_RUN_DIFFERS, Kind.WRONG_DTYPE}
    assert ordered[-2:] == [Kind.REJECTED, Kind.ALIASED_OUTPUT]


def test_the_default_pipeline_comes_before_other_lanes_and_tvm_before_other_components() -> None:
    plain, other = finding(), replace(finding(), lane=ZERO_PIPELINE)
    of_onnxruntime = replace(finding(component=Component.ONNXRUNTIME), lane=ONNXRUNTIME)
    assert severity(plain) > severity(other) > severity(of_onnxruntime)


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        (traits("conv2d"), traits("conv2d"), 0.0),
        (traits("conv2d"), traits("gru"), 0.2),
        (traits("conv2d", "gru"), traits("gru"), 0.1),
        (traits("conv2d"), traits("gru")._replace(dtypes=()), 0.25),
        (traits(), traits("gru"), 0.0),
        (Traits((), (), (), (), ()), traits("gru"), 0.0),
    ],
)
def test_the_distance_is_the_mean_over_the_traits_that_both_have(one: Traits, other: Traits, apart: float) -> None:
    assert distance(one, other) == distance(other, one) == pytest.approx(apart)


def test_the_traits_of_a_sighting() -> None:
    case = case_of({"x0": "float16[2]"}, [("v0", "neg", "x0")], "v0")
    found = traits_of(case.graph, LAYOUT, (LANE, ZERO_PIPELINE))
    assert found.operators == ("neg",)
    assert found.dtypes == ("float16",)
    assert found.message == ("ValueError", "import", "internal-error", "layout", "no")
    assert found.frame == ("conv.py:_conv",)
    assert found.lanes == ("export", "llvm", "pipeline zero")


def test_a_saved_finding_has_no_dtypes_and_equals_its_sighting_otherwise() -> None:
    case = case_of({"x0": "float16[2]"}, [("v0", "neg", "x0")], "v0")
    saved = traits_of_saved(["neg"], LAYOUT, LANE)
    assert saved.dtypes == ()
    assert distance(saved, traits_of(case.graph, LAYOUT, (LANE,))) == 0


def test_what_compiles_nothing_and_has_a_message_costs_least() -> None:
    by_name = {lane.name: lane for lane in EVERY_TVM_LANE}
    fx, export = by_name["relax-fx-llvm"], by_name["relax-export-llvm"]
    error, wrong = Kind.INTERNAL_ERROR, Kind.WRONG_VALUE
    failures = [(Kind.REJECTED, Stage.IMPORT, fx), (error, Stage.IMPORT, fx), (error, Stage.COMPILE, fx)]
    failures += [(Kind.WRONG_DTYPE, Stage.RUN, fx), (error, Stage.COMPILE, export)]
    failures += [(wrong, Stage.RUN, fx), (wrong, Stage.RUN, export), (Kind.DIED, Stage.RUN, fx)]
    failures += [(Kind.TIMED_OUT, Stage.RUN, fx)]
    costs = [expected_seconds(*each) for each in failures]
    assert costs == sorted(set(costs))
