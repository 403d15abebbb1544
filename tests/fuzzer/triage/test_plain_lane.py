"""The lane is reduced with the graph, to the plainest that still shows the failure: exact minima."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from small_graphs import LANE, subject_of

from fuzzer.lanes import ONNXRUNTIME, SAMPLED_LANES, TVM_LANES
from fuzzer.triage.reduce import reduce
from fuzzer.triage.reducers import Subject
from fuzzer.triage.reducers.plain_lane import plain_lane
from fuzzer.triage.reproduce import Reproduction
from generators.graph import Case
from oracles.lane import Execution, Importer, LaneSpec, Params, Pipeline
from oracles.siblings import additions
from oracles.transforms import not_disabled_alone, transform_named

SUBJECT = subject_of({"x0": "float32[2,3]"}, [("v0", "neg", "x0")], "v0")
RICH = replace(
    TVM_LANES[0],
    name="relax-export-drawn",
    passes=("FoldConstant", "LegalizeOps", "AnnotateTIROpPattern", "FuseOps", "FuseTIR"),
    pipeline=Pipeline.CPU,
    disabled=("StaticPlanBlockMemory",),
    options=("tirx.noalias",),
    opt_level=0,
    executor=Execution.COMPILED,
    target="llvm-O0",
    params=Params.LIFTED,
    as_library=True,
)
NAMED = {lane.name: lane for lane in SAMPLED_LANES}


def reduced(interesting: Callable[[LaneSpec], bool], lane: LaneSpec = RICH) -> LaneSpec:
    return reduce(
        Subject(SUBJECT.case, lane, {}), lambda case, spec: Reproduction(interesting(spec)), lambda case: {}
    ).lane


@pytest.mark.parametrize(
    ("needs", "left"),
    [
        (lambda lane: True, LANE),
        (lambda lane: lane.pipeline is Pipeline.CPU, replace(NAMED["relax-export-cpu"], asserts=True)),
        (lambda lane: not lane.asserts, TVM_LANES[0]),
        (lambda lane: lane.as_library and not lane.asserts, NAMED["relax-export-library"]),
        (lambda lane: lane.executor is Execution.COMPILED and not lane.asserts, NAMED["relax-export-compiled"]),
    ],
)
def test_what_is_not_needed_goes_and_a_lane_with_a_name_has_it_back(
    needs: Callable[[LaneSpec], bool], left: LaneSpec
) -> None:
    found = reduced(needs)
    assert replace(found, name="", checked=False) == replace(left, name="", checked=False)
    if left in NAMED.values() or left in TVM_LANES:
        assert found.name == left.name


@pytest.mark.parametrize("name", RICH.passes)
def test_a_single_pass_is_left(name: str) -> None:
    assert reduced(lambda lane: name in lane.passes).passes == (name,)


def test_two_passes_that_need_each_other_are_left_in_their_order() -> None:
    found = reduced(lambda lane: {"FoldConstant", "FuseTIR"} <= set(lane.passes))
    assert found.passes == ("FoldConstant", "FuseTIR")


def test_a_pass_of_lowered_modules_keeps_those_that_it_requires() -> None:
    """VMShapeLower alone leaves a module behind that the checker refuses."""
    required = transform_named("VMShapeLower").after
    lane = replace(RICH, passes=("FoldConstant", *required, "VMShapeLower"))
    assert reduced(lambda each: "VMShapeLower" in each.passes, lane).passes == (*required, "VMShapeLower")
    assert reduced(lambda each: "CallTIRRewrite" in each.passes, lane).passes == (
        *transform_named("CallTIRRewrite").after,
        "CallTIRRewrite",
    )
    alone = replace(RICH, passes=("FoldConstant", "VMShapeLower"))
    assert reduced(lambda each: "VMShapeLower" in each.passes, alone).passes == ("VMShapeLower",)


FLAGS = replace(
    RICH,
    disabled=("StaticPlanBlockMemory", "FoldConstant", "FuseOps", "FuseTIR", "RewriteDataflowReshape"),
    options=("tirx.noalias", "tirx.disable_vectorize", "tirx.disable_cse_tir"),
)


@pytest.mark.parametrize("name", [*FLAGS.disabled[:3], FLAGS.disabled[4]])
def test_a_single_disabled_pass_is_left(name: str) -> None:
    found = reduced(lambda lane: name in lane.disabled, FLAGS)
    assert additions(found) == (f"without {name}",)


@pytest.mark.parametrize("name", FLAGS.options)
def test_a_single_option_is_left(name: str) -> None:
    assert additions(reduced(lambda lane: name in lane.options, FLAGS)) == (name,)


@pytest.mark.parametrize(
    ("needs", "left"),
    [
        (lambda lane: {"tirx.noalias", "tirx.disable_cse_tir"} <= set(lane.options), FLAGS.options[::2]),
        (lambda lane: "FoldConstant" in lane.disabled and lane.opt_level == 0, ("without FoldConstant", "opt_level 0")),
        (
            lambda lane: "FuseOps" in lane.passes and "tirx.disable_vectorize" in lane.options,
            ("FuseOps", "tirx.disable_vectorize"),
        ),
        (
            lambda lane: lane.pipeline is Pipeline.CPU and lane.target == "llvm-O0",
            ("pipeline cpu_generic", "target llvm-O0"),
        ),
    ],
)
def test_exactly_the_two_flags_that_need_each_other_are_left(
    needs: Callable[[LaneSpec], bool], left: tuple[str, ...]
) -> None:
    assert additions(reduced(needs, FLAGS)) == left


def test_a_pass_is_never_disabled_without_the_one_that_it_needs_to_be_disabled_too() -> None:
    tried: list[LaneSpec] = []

    def interesting(lane: LaneSpec) -> bool:
        tried.append(lane)
        return "FuseTIR" in lane.disabled

    assert additions(reduced(interesting, FLAGS)) == ("without FuseOps", "without FuseTIR")
    assert not any(not_disabled_alone(lane.disabled) for lane in tried)


def test_the_graph_is_smaller_before_the_lane_is() -> None:
    """Operators come first in the order: a smaller graph is worth a richer lane, never the other way round."""
    big = subject_of({"x0": "float32[2,3]"}, [("v0", "neg", "x0"), ("v1", "relu", "v0")], "v1")

    def interesting(case: Case, lane: LaneSpec) -> Reproduction:
        relu = "relu" in case.graph.ops
        return Reproduction(relu and (len(case.graph.nodes) == 2 or lane.pipeline is Pipeline.CPU))

    found = reduce(Subject(big.case, RICH, {}), interesting, lambda case: {"v0": -case.tensors["x0"]})
    assert (found.case.graph.ops, found.lane.pipeline) == (("relu",), Pipeline.CPU)


def test_what_a_pass_does_wrong_by_any_importer_is_shown_by_the_usual_one() -> None:
    lane = replace(RICH, name="relax-fx-drawn", importer=Importer.FX, params=Params.BOUND)
    assert reduced(lambda spec: "FuseTIR" in spec.passes, lane).importer is Importer.EXPORT
    assert reduced(lambda spec: spec.importer is Importer.FX and "FuseTIR" in spec.passes, lane).importer is Importer.FX
    assert reduced(lambda spec: spec.importer is Importer.FX, lane).importer is Importer.FX


@pytest.mark.parametrize("target", ["c", "cuda", "wasm32"])
def test_what_llvm_does_wrong_too_is_shown_for_llvm(target: str) -> None:
    """Then no reader of a report needs another compiler, and findings of one bug do not differ in their targets."""
    lane = replace(TVM_LANES[2], name=f"relax-export-{target}", target=target)
    found = reduced(lambda spec: True, lane)
    assert (found.name, found.target, found.asserts) == ("relax-export-asserts", "llvm", True)
    assert reduced(lambda spec: spec.target == target, lane) == lane


def test_names_and_the_checker_are_those_of_the_lanes_own_toolchain() -> None:
    lane = replace(NAMED["relax-export-zero"], toolchain="0.26.0")
    found = reduced(lambda spec: spec.checked and not spec.asserts, lane)
    assert (found.name, found.toolchain, found.checked) == ("relax-export-llvm", "0.26.0", True)
    compiled = reduced(
        lambda spec: spec.executor is Execution.COMPILED and spec.checked, replace(RICH, toolchain="0.26.0")
    )
    assert (compiled.executor, compiled.checked, compiled.toolchain) == (Execution.COMPILED, True, "0.26.0")


def test_lanes_of_others_stay() -> None:
    assert list(plain_lane(replace(SUBJECT, lane=ONNXRUNTIME))) == []
    assert list(plain_lane(SUBJECT)) == []
