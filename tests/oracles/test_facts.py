"""Oracles that judge what lanes recorded: ill-formed modules, side effects, sizes, times, broken modules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import fakes
import pytest
import violations
from fakes import CASE, ONNXRUNTIME, TORCH, TVM, TVM_C, TVM_ONNX
from graphs_by_hand import case_of
from violations import FOLDED, MUTANTS, ZERO, ran_with

from generators.graph import Case, Graph, Input, Layout, Node, Role, TensorType, Value
from oracles.aliased_outputs import aliased_outputs
from oracles.bloat import (
    CODE_BYTES,
    CODE_BYTES_OF_RELAY,
    CODE_BYTES_PER_KERNEL,
    CODE_BYTES_PER_OPERATOR,
    CONSTANT_BYTES,
    CONSTANT_BYTES_OF_MODULE,
    EMPTY_LIBRARY,
    MEMORY_BYTES,
    TIMES_CODE,
    bloat,
    index_bytes,
)
from oracles.checker_gap import checker_gap
from oracles.finding import Component, Excess, Finding, Kind, Quantity, SideEffect
from oracles.judge import judge_all
from oracles.lane import Importer, LaneSpec, Pipeline
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
from oracles.slow import slow, work
from oracles.well_formed import well_formed

BROKEN = IllFormed("FuseOps", "ValueError", "a variable is not defined")


# --- well-formedness


@pytest.mark.parametrize(
    "outcome",
    [
        ran_with(ill_formed=BROKEN),
        Raised(Stage.COMPILE, "E", "no", facts=Facts(ill_formed=BROKEN)),
        Died(Stage.COMPILE, Cause.SIGNAL, 11, facts=Facts(ill_formed=BROKEN)),
        TimedOut(Stage.COMPILE, 30.0, Facts(ill_formed=BROKEN)),
    ],
    ids=lambda outcome: type(outcome).__name__,
)
def test_an_ill_formed_module_is_found_however_the_lane_ends(outcome: Outcome) -> None:
    assert list(well_formed(CASE, {ZERO: outcome})) == [
        Finding(Kind.ILL_FORMED, Component.TVM, ZERO, Stage.TRANSFORM, BROKEN)
    ]


@pytest.mark.parametrize(
    ("outcome", "follows"),
    [
        (ran_with(ill_formed=BROKEN), ""),
        (ran_with(ill_formed=BROKEN, modified=("x0",)), Kind.MODIFIED_INPUT),
        (Raised(Stage.COMPILE, "tvm.error.InternalError", "no", facts=Facts(ill_formed=BROKEN)), Kind.INTERNAL_ERROR),
        (Died(Stage.COMPILE, Cause.SIGNAL, 11, facts=Facts(ill_formed=BROKEN)), Kind.DIED),
    ],
)
def test_an_ill_formed_module_does_not_hide_what_its_lane_shows_then(outcome: Outcome, follows: str) -> None:
    (finding,) = judge_all(CASE, {TORCH: ran_with(), TVM: outcome})
    assert finding.kind is Kind.ILL_FORMED
    assert finding.evidence == replace(BROKEN, follows=follows)


def test_an_ill_formed_module_of_the_importer_has_the_stage_import() -> None:
    (finding,) = well_formed(CASE, {TVM: ran_with(ill_formed=replace(BROKEN, after="import"))})
    assert finding.stage is Stage.IMPORT


def test_modules_that_the_checker_accepts_give_no_finding() -> None:
    lanes = {ZERO: ran_with(checked=("import", "FuseOps")), TVM: fakes.segfault(Stage.RUN), **fakes.NO_VERDICT}
    assert list(well_formed(CASE, {k: v for k, v in lanes.items() if not isinstance(k, str)})) == []


# --- side effects


def with_eager(eager: Ran | Raised, lanes: Outcomes) -> Outcomes:
    return {TORCH: eager, **lanes}


@pytest.mark.parametrize("lane", [TVM, TVM_ONNX, ONNXRUNTIME], ids=str)
def test_inputs_that_the_lane_changes_and_pytorch_does_not_are_found(lane: LaneSpec) -> None:
    eager, ran = ran_with(modified=("x1",)), ran_with(modified=("x0", "x1", "x2"))
    component = Component.ONNXRUNTIME if lane is ONNXRUNTIME else Component.TVM
    assert list(modified_inputs(CASE, with_eager(eager, {lane: ran}))) == [
        Finding(Kind.MODIFIED_INPUT, component, lane, Stage.RUN, SideEffect(modified=("x0", "x2")))
    ]


def test_a_side_effect_that_pytorch_has_too_gives_no_finding() -> None:
    eager = ran_with(modified=("x0",), aliases=((0, "x0"),))
    assert list(modified_inputs(CASE, with_eager(eager, {TVM: eager, TVM_C: ran_with()}))) == []
    assert list(aliased_outputs(CASE, with_eager(eager, {TVM: eager, TVM_C: ran_with()}))) == []


def test_outputs_that_the_lane_aliases_and_pytorch_does_not_are_found() -> None:
    eager, ran = ran_with(aliases=((0, "x0"),)), ran_with(aliases=((0, "x0"), (1, "x0")))
    assert list(aliased_outputs(CASE, with_eager(eager, {TVM: ran}))) == [
        Finding(Kind.ALIASED_OUTPUT, Component.TVM, TVM, Stage.RUN, SideEffect(aliases=((1, "x0"),)))
    ]


def test_an_alias_of_an_input_with_unusual_strides_gives_no_finding() -> None:
    (item,) = CASE.graph.inputs
    odd = replace(CASE, graph=replace(CASE.graph, inputs=(replace(item, layout=Layout.TRANSPOSED),)))
    lanes = with_eager(ran_with(), {TVM: ran_with(aliases=((0, "x0"),))})
    assert list(aliased_outputs(odd, lanes)) == []
    assert len(list(aliased_outputs(CASE, lanes))) == 1


@pytest.mark.parametrize("eager", [None, fakes.raised(Stage.RUN)])
def test_without_pytorchs_result_side_effects_are_not_judged(eager: Outcome | None) -> None:
    lanes: dict[LaneSpec, Outcome] = {TVM: ran_with(modified=("x0",), aliases=((0, "x0"),))}
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
def test_a_broken_module_that_only_the_checker_accepts_is_a_gap(fate: MutantFate, gap: bool) -> None:
    mutant = Mutant("an argument fewer", fate)
    outcome = ran_with(mutants=(Mutant("a dtype", MutantFate.REFUSED), mutant))
    found = [Finding(Kind.CHECKER_GAP, Component.TVM, MUTANTS, Stage.COMPILE, mutant)] if gap else []
    assert list(checker_gap(CASE, {MUTANTS: outcome})) == found


def test_each_gap_is_a_finding_even_where_the_lane_died() -> None:
    gaps = tuple(Mutant(change, fate) for change, fate in (("a", MutantFate.RAISED), ("b", MutantFate.DIED)))
    died = Died(Stage.COMPILE, Cause.SIGNAL, 11, facts=Facts(mutants=gaps))
    assert [finding.evidence for finding in checker_gap(CASE, {MUTANTS: died})] == list(gaps)


@pytest.mark.parametrize("end", [Died(Stage.COMPILE, Cause.SIGNAL, 11), TimedOut(Stage.RUN, 30.0)])
def test_the_end_of_a_process_on_a_broken_module_is_a_gap_and_no_crash(end: Died | TimedOut) -> None:
    ended = replace(end, facts=Facts(mutants=(Mutant("a", MutantFate.REFUSED), Mutant("b", MutantFate.DIED))))
    assert [finding.kind for finding in judge_all(CASE, {MUTANTS: ended})] == [Kind.CHECKER_GAP]
    by_itself = replace(end, facts=Facts(mutants=(Mutant("a", MutantFate.REFUSED),)))
    assert [finding.evidence for finding in judge_all(CASE, {MUTANTS: by_itself})] == [by_itself]


# --- sizes

WEIGHTS = 100_000
INDICES = 2 * 8
"""An index for each element of `CASE`."""


def sized(**sizes: Any) -> Ran:
    return replace(violations.CORRECT_RUN, facts=Facts(parameter_bytes=WEIGHTS, **sizes))


@pytest.mark.parametrize(
    ("quantity", "name", "allowed"),
    [
        (Quantity.CONSTANTS, "constant_bytes", 2 * WEIGHTS + INDICES + CONSTANT_BYTES),
        (Quantity.LIBRARY, "built_bytes", 2 * WEIGHTS + INDICES + CODE_BYTES_OF_RELAY + CODE_BYTES_PER_OPERATOR),
    ],
)
def test_more_bytes_than_the_parameters_and_some_code_are_bloat(quantity: Quantity, name: str, allowed: int) -> None:
    assert list(bloat(CASE, {TVM: sized(**{name: allowed})})) == []
    (finding,) = bloat(CASE, {TVM: sized(**{name: allowed + 1})})
    assert (finding.kind, finding.lane) == (Kind.BLOAT, TVM)
    assert finding.evidence == Excess(quantity, allowed + 1, allowed, "the parameters")


@pytest.mark.parametrize(("kernels", "most"), [(1, 1), (3, 3), (0, 1)])
def test_a_library_may_have_so_much_code_for_each_kernel(kernels: int, most: int) -> None:
    allowed = 2 * WEIGHTS + INDICES + EMPTY_LIBRARY + most * CODE_BYTES_PER_KERNEL
    assert list(bloat(CASE, {TVM: sized(passes=80, kernels=kernels, built_bytes=allowed)})) == []
    (finding,) = bloat(CASE, {TVM: sized(passes=80, kernels=kernels, built_bytes=allowed + 1)})
    assert finding.evidence == Excess(Quantity.LIBRARY, allowed + 1, allowed, "the parameters")


@pytest.mark.parametrize("needed", [0, 40, 10_000])
def test_the_constants_are_those_of_the_imported_module_once(needed: int) -> None:
    """A factor of four shows from 32 bytes on."""
    allowed = 2 * needed + CONSTANT_BYTES_OF_MODULE
    assert list(bloat(CASE, {TVM: sized(needed_bytes=needed, constant_bytes=allowed)})) == []
    (finding,) = bloat(CASE, {TVM: sized(needed_bytes=needed, constant_bytes=allowed + 1)})
    assert finding.evidence == Excess(Quantity.CONSTANTS, allowed + 1, allowed, "the imported module")


@pytest.mark.parametrize(
    ("other", "compared"),
    [
        (replace(TVM, name="o", pipeline=Pipeline.ZERO), True),
        (replace(TVM, name="o", importer=Importer.FX), False),
        (replace(TVM, name="o", toolchain="old"), False),
        (replace(TVM, name="o", target="c"), False),
        (replace(TVM, name="o", opt_level=0), False),
    ],
)
def test_code_is_compared_with_that_of_other_libraries_of_the_same_import_and_code_generator(
    other: LaneSpec, compared: bool
) -> None:
    code, constants = 10_000, 500
    allowed = EMPTY_LIBRARY + constants + TIMES_CODE * code + CODE_BYTES
    small = sized(built_bytes=EMPTY_LIBRARY + 300 + code, constant_bytes=300)
    assert list(bloat(CASE, {TVM: sized(built_bytes=int(allowed), constant_bytes=constants), other: small})) == []
    large = sized(built_bytes=int(allowed) + 1, constant_bytes=constants)
    found = list(bloat(CASE, {TVM: large, other: small}))
    evidence = Excess(Quantity.LIBRARY, int(allowed) + 1, allowed, "the other lanes")
    assert [(finding.lane, finding.evidence) for finding in found] == ([(TVM, evidence)] if compared else [])


def test_the_case_for_which_the_oracle_was_written_is_found() -> None:
    linear = Facts(parameter_bytes=(128 * 512 + 512) * 4, constant_bytes=0, built_bytes=14_700_000)
    assert [finding.kind for finding in bloat(CASE, {TVM: replace(violations.CORRECT_RUN, facts=linear)})] == [
        Kind.BLOAT
    ]
    through_onnx = replace(linear, built_bytes=320_000)
    assert list(bloat(CASE, {TVM_ONNX: replace(violations.CORRECT_RUN, facts=through_onnx)})) == []


def test_values_that_depend_on_no_input_may_be_constants() -> None:
    big = TensorType.parse("float32[1000,1000]")
    nodes = (
        Node("relu", ("w0",), {}, (Value("v0", big),)),
        Node("relu", ("v0",), {}, (Value("v1", big),)),
        Node("add", ("v1", "x0"), {}, (Value("v2", big),)),
    )
    graph = Graph((Input(Value("x0", big)), Input(Value("w0", big), Role.PARAM)), nodes, ("v2",))
    folded = Facts(parameter_bytes=4_000_000, constant_bytes=2 * 4_000_000 + 8_000_000 + CONSTANT_BYTES)
    assert list(bloat(Case(graph, {}), {TVM: replace(violations.CORRECT_RUN, facts=folded)})) == []
    more = replace(folded, constant_bytes=folded.constant_bytes + 1)
    assert len(list(bloat(Case(graph, {}), {TVM: replace(violations.CORRECT_RUN, facts=more)}))) == 1


def test_operators_of_no_weight_may_have_an_index_for_each_dimension_and_element() -> None:
    of_input = Node("relu", ("x0",), {}, (Value("v0", TensorType.parse("float32[100,3]")),))
    of_weight = Node("add", ("x0", "w0"), {}, (Value("v1", TensorType.parse("float32[100,3]")),))
    after = Node("relu", ("v1",), {}, (Value("v2", TensorType.parse("float32[100,3]")),))
    inputs = tuple(
        Input(Value(name, TensorType.parse("float32[100,3]")), role)
        for name, role in (("x0", Role.INPUT), ("w0", Role.PARAM))
    )
    assert index_bytes(Case(Graph(inputs, (of_input, of_weight, after), ("v2",)), {})) == 300 * 2 * 8
    written = Node("index_put", ("v1",), {}, (Value("v2", TensorType.parse("float32[100,3]")),))
    assert index_bytes(Case(Graph(inputs, (of_input, of_weight, written), ("v2",)), {})) == 2 * 300 * 2 * 8


@pytest.mark.parametrize(("op", "indices"), [("Scatter-9", True), ("ScatterND-18", True), ("Where-16", False)])
def test_operators_of_onnx_write_through_an_index_too(op: str, indices: bool) -> None:
    big = TensorType.parse("float32[100,3]")
    node = Node(op, ("x0", "w0", "x1"), {}, (Value("v0", big),))
    inputs = (Input(Value("x0", big)), Input(Value("w0", big), Role.PARAM), Input(Value("x1", big)))
    assert index_bytes(Case(Graph(inputs, (node,), ("v0",), "onnx", opset=18), {})) == indices * 300 * 2 * 8


@pytest.mark.parametrize(
    ("type", "index", "times"),
    [("int64[4]", (":", "{1}"), 4), ("int64[0]", (":", "{1}"), 1), ("bool[300]", ("{1}",), 1)],
)
def test_a_write_through_indices_may_write_an_element_several_times(
    type: str, index: tuple[str, ...], times: int
) -> None:
    inputs = {"x0": "float32[300,1]", "x1": type}
    case = case_of(inputs, [("v0", "setitem_scalar", "x0 x1", {"index": index, "value": 4})], "v0")
    assert index_bytes(case) == 300 * 2 * 8 * times


def test_a_library_that_a_c_compiler_makes_may_have_so_much_code_for_each_kernel() -> None:
    """A GRU is one operator, and a hundred kernels."""
    lane = replace(TVM, name="c", target="c")
    allowed = 2 * WEIGHTS + INDICES + CODE_BYTES_OF_RELAY + 100 * CODE_BYTES_PER_OPERATOR
    assert list(bloat(CASE, {lane: sized(passes=80, kernels=100, built_bytes=allowed)})) == []
    assert len(list(bloat(CASE, {lane: sized(passes=80, kernels=100, built_bytes=allowed + 1)}))) == 1


def test_memory_is_compared_with_that_of_the_other_lanes() -> None:
    lanes = {TVM: sized(peak_bytes=10), TVM_ONNX: sized(peak_bytes=30), ZERO: sized()}
    assert list(bloat(CASE, {**lanes, TVM_C: sized(peak_bytes=80 + MEMORY_BYTES)})) == []
    (finding,) = bloat(CASE, {**lanes, TVM_C: sized(peak_bytes=81 + MEMORY_BYTES)})
    assert finding.evidence == Excess(Quantity.MEMORY, 81 + MEMORY_BYTES, 80 + MEMORY_BYTES, "the other lanes")
    assert list(bloat(CASE, {TVM_C: sized(peak_bytes=1 << 40)})) == []


def test_the_bounds_are_those_that_were_chosen() -> None:
    """The tests above name them, and hold for any."""
    assert (CONSTANT_BYTES, CONSTANT_BYTES_OF_MODULE, EMPTY_LIBRARY) == (8 << 10, 64, 20 << 10)
    assert (CODE_BYTES_PER_KERNEL, CODE_BYTES_PER_OPERATOR, CODE_BYTES_OF_RELAY) == (64 << 10, 64 << 10, 256 << 10)
    assert (TIMES_CODE, CODE_BYTES, MEMORY_BYTES) == (3.2, 8 << 10, 512 << 20)


# --- times


def timed(seconds: float, kernels: int = 0, passes: int = 0) -> Ran:
    facts = Facts(compile_seconds=seconds, kernels=kernels, passes=passes)
    return replace(violations.CORRECT_RUN, facts=facts)


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
def test_without_counts_slow_means_ten_times_the_others_and_five_seconds(
    others: tuple[float, ...], seconds: float, caught: bool
) -> None:
    lanes: dict[LaneSpec, Outcome] = {TVM_C: timed(seconds), ONNXRUNTIME: timed(0.001), TORCH: timed(0.001)}
    lanes.update(zip((TVM, TVM_ONNX), map(timed, others), strict=False))
    found = [finding.lane for finding in slow(CASE, lanes)]
    assert found == ([TVM_C] if caught else [])


@pytest.mark.parametrize("machine", [0.5, 1.0, 20.0])
@pytest.mark.parametrize(("times", "caught"), [(1.0, False), (2.5, False), (4.0, True), (10.0, True)])
@pytest.mark.parametrize(("kernels", "passes"), [(10, 80), (1, 600), (136, 7656)])
def test_a_factor_of_four_shows_on_a_machine_of_any_speed(
    kernels: int, passes: int, times: float, caught: bool, machine: float
) -> None:
    of_zero = machine * work(Facts(kernels=kernels, passes=passes))
    of_others = machine * work(Facts(kernels=8, passes=80))
    lanes: dict[LaneSpec, Outcome] = {
        ZERO: timed(times * of_zero + (0.05 if caught else 0.0), kernels, passes),
        TVM: timed(of_others, 8, 80),
        FOLDED: timed(of_others, 8, 80),
    }
    assert [finding.lane for finding in slow(CASE, lanes)] == ([ZERO] if caught else [])


@pytest.mark.parametrize(("times", "caught"), [(3.0, False), (4.0, True)])
def test_a_lane_that_fuses_kernels_may_take_as_long_as_those_that_do_not(times: float, caught: bool) -> None:
    """Two selu are one fused kernel, which has the loops of the twelve that other lanes compile."""
    of_others = work(Facts(kernels=12, passes=100))
    lanes: dict[LaneSpec, Outcome] = {
        ZERO: timed(times * of_others + 0.05, 1, 120),
        TVM: timed(of_others, 12, 100),
        FOLDED: timed(of_others, 12, 100),
    }
    assert [finding.lane for finding in slow(CASE, lanes)] == ([ZERO] if caught else [])


def test_the_evidence_of_a_slow_lane_is_in_hundredths_of_a_second() -> None:
    lanes: dict[LaneSpec, Outcome] = {TVM: timed(1.0034), TVM_ONNX: timed(1.0034), TVM_C: timed(12.3456)}
    evidence = Excess(Quantity.TIME, 12.35, 10.03, "the other lanes")
    assert list(slow(CASE, lanes)) == [Finding(Kind.SLOW, Component.TVM, TVM_C, Stage.COMPILE, evidence)]


def test_work_is_a_compilation_its_kernels_and_its_passes() -> None:
    assert work(Facts(kernels=4, passes=100)) == pytest.approx(0.015 + 4 * 0.0075 + 100 * 0.0003, rel=1e-12)


@pytest.mark.parametrize("other", [{"target": "c"}, {"toolchain": "old"}, {"asserts": not TVM.asserts}], ids=str)
def test_the_time_of_another_code_generator_says_nothing(other: dict[str, Any]) -> None:
    lanes: dict[LaneSpec, Outcome] = {TVM: timed(9.0, 8, 80), replace(TVM, **other): timed(0.1, 8, 80)}
    assert list(slow(CASE, lanes)) == []
    assert len(list(slow(CASE, {**lanes, replace(TVM, name="o"): timed(0.1, 8, 80)}))) == 1


@pytest.mark.parametrize(
    ("name", "judged"),
    [("DlightCPU", False), ("MetaSchedule-2", False), ("ScriptRoundTrip", False), ("CombineParallelMatmul", True)],
)
def test_the_work_of_schedules_and_round_trips_is_not_known(name: str, judged: bool) -> None:
    lanes: dict[LaneSpec, Outcome] = {replace(TVM, passes=(name,)): timed(9.0, 8, 80), TVM: timed(0.1, 8, 80)}
    assert len(list(slow(CASE, lanes))) == judged


def test_a_case_with_empty_tensors_is_not_judged() -> None:
    lanes: Outcomes = {TVM: timed(0.1), TVM_ONNX: timed(0.1), TVM_C: timed(9.0)}
    slow_with = {size: case_of({"x0": f"float32[{size}]"}, [("v0", "relu", "x0")], "v0") for size in (1, 0)}
    assert [[finding.lane for finding in slow(case, lanes)] for case in slow_with.values()] == [[TVM_C], []]


def test_a_lane_that_fails_in_the_build_is_not_compared_with() -> None:
    """It has run a few passes and compiled nothing."""
    begun = replace(fakes.raised(Stage.COMPILE), facts=Facts(compile_seconds=0.002, passes=4))
    lanes: Outcomes = {TVM: timed(0.4, 26, 80), TVM_ONNX: begun}
    assert list(slow(CASE, lanes)) == []
    compiled = timed(0.002, 0, 4)
    assert [finding.lane for finding in slow(CASE, {**lanes, TVM_ONNX: compiled})] == [TVM]


def test_a_lane_that_times_out_in_the_build_is_not_called_slow() -> None:
    lanes: Outcomes = {TVM: timed(0.1), TVM_ONNX: timed(0.1), TVM_C: fakes.hung(Stage.COMPILE)}
    assert list(slow(CASE, lanes)) == []
