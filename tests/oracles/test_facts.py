"""Equations on what lanes note on their way: the checker's word, side effects, sizes, times, broken modules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import fakes
import pytest
import violations
from fakes import CASE, ONNXRUNTIME, TORCH, TVM, TVM_C, TVM_ONNX
from violations import MUTANTS, ZERO, facts

from generators.graph import Case, Graph, Input, Layout, Node, Role, TensorType, Value
from oracles import judge_all
from oracles.aliased_outputs import aliased_outputs
from oracles.bloat import CODE_BYTES, CODE_BYTES_PER_OPERATOR, CONSTANT_BYTES, MEMORY_BYTES, bloat
from oracles.checker_gap import checker_gap
from oracles.finding import Component, Excess, Finding, Kind, Quantity, SideEffect
from oracles.lane import Importer, LaneSpec
from oracles.modified_inputs import modified_inputs
from oracles.outcome import (
    Cause,
    Died,
    Facts,
    IllFormed,
    Mutant,
    MutantFate,
    Outcome,
    Outcomes,
    Raised,
    Ran,
    Stage,
    TimedOut,
)
from oracles.slow import slow
from oracles.well_formed import well_formed

BROKEN = IllFormed("FuseOps", "ValueError", "a variable is not defined")


# --- well-formedness


@pytest.mark.parametrize(
    "outcome",
    [
        facts(ill_formed=BROKEN),
        Raised(Stage.COMPILE, "E", "no", facts=Facts(ill_formed=BROKEN)),
        Died(Stage.COMPILE, Cause.SIGNAL, 11, facts=Facts(ill_formed=BROKEN)),
        TimedOut(Stage.COMPILE, 30.0, Facts(ill_formed=BROKEN)),
    ],
    ids=lambda outcome: type(outcome).__name__,
)
def test_what_makes_a_module_ill_formed_is_found_whatever_comes_of_it(outcome: Outcome) -> None:
    assert list(well_formed(CASE, {ZERO: outcome})) == [
        Finding(Kind.ILL_FORMED, Component.TVM, ZERO, Stage.TRANSFORM, BROKEN)
    ]


def test_an_importer_that_makes_it_is_named_by_its_stage() -> None:
    (finding,) = well_formed(CASE, {TVM: facts(ill_formed=replace(BROKEN, after="import"))})
    assert finding.stage is Stage.IMPORT


def test_a_content_checker_says_nothing() -> None:
    lanes = {ZERO: facts(checked=("import", "FuseOps")), TVM: fakes.segfault(Stage.RUN), **fakes.NO_VERDICT}
    assert list(well_formed(CASE, {k: v for k, v in lanes.items() if not isinstance(k, str)})) == []


# --- side effects


def with_eager(eager: Ran | Raised, lanes: Outcomes) -> Outcomes:
    return {TORCH: eager, **lanes}


@pytest.mark.parametrize("lane", [TVM, TVM_ONNX, ONNXRUNTIME], ids=str)
def test_inputs_that_only_the_lane_changes_are_named(lane: LaneSpec) -> None:
    eager, ran = facts(modified=("x1",)), facts(modified=("x0", "x1", "x2"))
    component = Component.ONNXRUNTIME if lane is ONNXRUNTIME else Component.TVM
    assert list(modified_inputs(CASE, with_eager(eager, {lane: ran}))) == [
        Finding(Kind.MODIFIED_INPUT, component, lane, Stage.RUN, SideEffect(modified=("x0", "x2")))
    ]


def test_what_pytorch_does_a_lane_may_do() -> None:
    eager = facts(modified=("x0",), aliases=((0, "x0"),))
    assert list(modified_inputs(CASE, with_eager(eager, {TVM: eager, TVM_C: facts()}))) == []
    assert list(aliased_outputs(CASE, with_eager(eager, {TVM: eager, TVM_C: facts()}))) == []


def test_outputs_that_only_the_lane_aliases_are_named() -> None:
    eager, ran = facts(aliases=((0, "x0"),)), facts(aliases=((0, "x0"), (1, "x0")))
    assert list(aliased_outputs(CASE, with_eager(eager, {TVM: ran}))) == [
        Finding(Kind.ALIASED_OUTPUT, Component.TVM, TVM, Stage.RUN, SideEffect(aliases=((1, "x0"),)))
    ]


def test_of_an_input_with_odd_strides_pytorch_copies_what_is_a_view_elsewhere() -> None:
    (item,) = CASE.graph.inputs
    odd = replace(CASE, graph=replace(CASE.graph, inputs=(replace(item, layout=Layout.TRANSPOSED),)))
    lanes = with_eager(facts(), {TVM: facts(aliases=((0, "x0"),))})
    assert list(aliased_outputs(odd, lanes)) == []
    assert len(list(aliased_outputs(CASE, lanes))) == 1


@pytest.mark.parametrize("eager", [None, fakes.raised(Stage.RUN)])
def test_without_pytorchs_word_side_effects_are_not_judged(eager: Outcome | None) -> None:
    lanes: dict[LaneSpec, Outcome] = {TVM: facts(modified=("x0",), aliases=((0, "x0"),))}
    if eager:
        lanes[TORCH] = eager
    assert list(modified_inputs(CASE, lanes)) == []
    assert list(aliased_outputs(CASE, lanes)) == []


# --- broken modules


@pytest.mark.parametrize(
    ("fate", "gap"),
    [
        (MutantFate.REFUSED, False),
        (MutantFate.HARMLESS, False),
        (MutantFate.RAISED, True),
        (MutantFate.DIED, True),
        (MutantFate.MISCOMPILED, True),
    ],
)
def test_what_the_checker_lets_through_and_the_build_does_not_is_a_gap(fate: MutantFate, gap: bool) -> None:
    mutant = Mutant("an argument fewer", fate)
    outcome = facts(mutants=(Mutant("a dtype", MutantFate.REFUSED), mutant))
    found = [Finding(Kind.CHECKER_GAP, Component.TVM, MUTANTS, Stage.COMPILE, mutant)] if gap else []
    assert list(checker_gap(CASE, {MUTANTS: outcome})) == found


def test_each_gap_is_a_finding_even_of_a_lane_that_died() -> None:
    gaps = tuple(Mutant(change, fate) for change, fate in (("a", MutantFate.RAISED), ("b", MutantFate.DIED)))
    died = Died(Stage.COMPILE, Cause.SIGNAL, 11, facts=Facts(mutants=gaps))
    assert [finding.evidence for finding in checker_gap(CASE, {MUTANTS: died})] == list(gaps)


@pytest.mark.parametrize("end", [Died(Stage.COMPILE, Cause.SIGNAL, 11), TimedOut(Stage.RUN, 30.0)])
def test_a_module_that_was_broken_on_purpose_may_end_the_process(end: Died | TimedOut) -> None:
    ended = replace(end, facts=Facts(mutants=(Mutant("a", MutantFate.REFUSED), Mutant("b", MutantFate.DIED))))
    assert [finding.kind for finding in judge_all(CASE, {MUTANTS: ended})] == [Kind.CHECKER_GAP]
    by_itself = replace(end, facts=Facts(mutants=(Mutant("a", MutantFate.REFUSED),)))
    assert [finding.evidence for finding in judge_all(CASE, {MUTANTS: by_itself})] == [by_itself]


# --- sizes

WEIGHTS = 100_000


def sized(**sizes: Any) -> Ran:
    return replace(violations.SAME, facts=Facts(parameter_bytes=WEIGHTS, **sizes))


@pytest.mark.parametrize(
    ("quantity", "name", "allowed"),
    [
        (Quantity.CONSTANTS, "constant_bytes", 2 * WEIGHTS + CONSTANT_BYTES),
        (Quantity.LIBRARY, "built_bytes", 2 * WEIGHTS + CODE_BYTES + CODE_BYTES_PER_OPERATOR),
    ],
)
def test_bytes_beyond_the_parameters_and_some_code_are_bloat(quantity: Quantity, name: str, allowed: int) -> None:
    assert list(bloat(CASE, {TVM: sized(**{name: allowed})})) == []
    (finding,) = bloat(CASE, {TVM: sized(**{name: allowed + 1})})
    assert (finding.kind, finding.lane) == (Kind.BLOAT, TVM)
    assert finding.evidence == Excess(quantity, allowed + 1, allowed, "the parameters")


@pytest.mark.parametrize(
    ("beside", "objects"),
    [
        (replace(TVM, name="o", importer=Importer.FX), True),  # of the same model, for the same machine
        (replace(TVM, name="o", toolchain="old"), False),
        (replace(TVM, name="o", target="c"), False),
    ],
)
def test_a_library_is_held_against_others_of_its_toolchain_and_target(beside: LaneSpec, objects: bool) -> None:
    """They prove that the model needs less than its parameters, some of which it does not use."""
    small, large = 10_000, 2 * 10_000 + CODE_BYTES
    assert list(bloat(CASE, {TVM: sized(built_bytes=large), beside: sized(built_bytes=small)})) == []
    found = list(bloat(CASE, {TVM: sized(built_bytes=large + 1), beside: sized(built_bytes=small)}))
    evidence = Excess(Quantity.LIBRARY, large + 1, large, "the other lanes")
    assert [(finding.lane, finding.evidence) for finding in found] == ([(TVM, evidence)] if objects else [])


def test_the_founding_case_is_caught() -> None:
    linear = Facts(parameter_bytes=(128 * 512 + 512) * 4, constant_bytes=0, built_bytes=14_700_000)
    assert [finding.kind for finding in bloat(CASE, {TVM: replace(violations.SAME, facts=linear)})] == [Kind.BLOAT]
    through_onnx = replace(linear, built_bytes=320_000)
    assert list(bloat(CASE, {TVM_ONNX: replace(violations.SAME, facts=through_onnx)})) == []


def test_what_depends_on_no_input_may_be_folded() -> None:
    big = TensorType.parse("float32[1000,1000]")
    nodes = (
        Node("relu", ("w0",), {}, (Value("v0", big),)),
        Node("relu", ("v0",), {}, (Value("v1", big),)),
        Node("add", ("v1", "x0"), {}, (Value("v2", big),)),
    )
    graph = Graph((Input(Value("x0", big)), Input(Value("w0", big), Role.PARAM)), nodes, ("v2",))
    folded = Facts(parameter_bytes=4_000_000, constant_bytes=2 * 4_000_000 + 8_000_000 + CONSTANT_BYTES)
    assert list(bloat(Case(graph, {}), {TVM: replace(violations.SAME, facts=folded)})) == []
    more = replace(folded, constant_bytes=folded.constant_bytes + 1)
    assert len(list(bloat(Case(graph, {}), {TVM: replace(violations.SAME, facts=more)}))) == 1


def test_memory_is_held_against_the_other_lanes() -> None:
    lanes = {TVM: sized(peak_bytes=10), TVM_ONNX: sized(peak_bytes=30), ZERO: sized()}
    assert list(bloat(CASE, {**lanes, TVM_C: sized(peak_bytes=80 + MEMORY_BYTES)})) == []
    (finding,) = bloat(CASE, {**lanes, TVM_C: sized(peak_bytes=81 + MEMORY_BYTES)})
    assert finding.evidence == Excess(Quantity.MEMORY, 81 + MEMORY_BYTES, 80 + MEMORY_BYTES, "the other lanes")
    assert list(bloat(CASE, {TVM_C: sized(peak_bytes=1 << 40)})) == []


# --- times


def timed(seconds: float) -> Ran:
    return replace(violations.SAME, facts=Facts(compile_seconds=seconds))


@pytest.mark.parametrize(
    ("others", "seconds", "caught"),
    [
        ((0.1, 0.2), 5.0, False),
        ((0.1, 0.2), 5.01, True),
        ((1.0, 3.0), 20.0, False),
        ((1.0, 3.0), 20.1, True),
        ((0.0, 0.0), 100.0, False),
        ((), 100.0, False),
    ],
)
def test_slow_is_ten_times_the_others_and_five_seconds(others: tuple[float, ...], seconds: float, caught: bool) -> None:
    lanes: dict[LaneSpec, Outcome] = {TVM_C: timed(seconds), ONNXRUNTIME: timed(0.001), TORCH: timed(0.001)}
    lanes.update(zip((TVM, TVM_ONNX), map(timed, others), strict=False))
    found = [finding.lane for finding in slow(CASE, lanes)]
    assert found == ([TVM_C] if caught else [])


def test_a_lane_that_hangs_in_the_build_is_not_slow_but_timed_out() -> None:
    lanes: Outcomes = {TVM: timed(0.1), TVM_ONNX: timed(0.1), TVM_C: fakes.hung(Stage.COMPILE)}
    assert list(slow(CASE, lanes)) == []
