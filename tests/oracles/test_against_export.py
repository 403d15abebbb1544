"""Decide whether an exported program differs from the model, or TVM translates it wrongly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import fakes
import pytest
from fakes import CASE, EXPORTED, ONNXRUNTIME, TVM, TVM_C, TVM_ONNX, with_lanes

from fuzzer.lanes import needed, readers_of
from fuzzer.triage.reproduce import judged_run
from generators.graph import Case
from oracles.against_export import against_export, disputed_programs
from oracles.finding import Component, Kind
from oracles.judge import judge_all
from oracles.lane import Importer, LaneSpec
from oracles.outcome import Outcome, Outcomes, Ran, Result, Stage

RIGHT = fakes.TWO_OUTPUTS
CORRECT = fakes.correct(RIGHT)
WRONG = fakes.wrong_value(RIGHT)
WRONG_RESULTS = {name: wrong for name, wrong in fakes.WRONG_RESULTS.items() if name != "unstable"}
RAW = replace(TVM, name="relax-export-raw-llvm", importer=Importer.EXPORT_RAW)
BY_TVM = replace(TVM, name="relax-export-tvm-llvm", importer=Importer.EXPORT_TVM)
(RAN_RAW,) = readers_of(RAW)


def verdicts(lanes: Outcomes) -> list[tuple[Kind, Component, LaneSpec]]:
    return [(f.kind, f.component, f.lane) for f in judge_all(CASE, with_lanes(RIGHT, lanes))]


@pytest.mark.parametrize("mistake", WRONG_RESULTS)
def test_the_exporter_is_at_fault_for_a_program_that_pytorch_runs_with_another_result(mistake: str) -> None:
    wrong, kind = WRONG_RESULTS[mistake]
    expected_findings = [(kind, Component.EXPORTER, EXPORTED)]
    assert (
        verdicts({TVM: wrong(RIGHT), TVM_C: CORRECT, BY_TVM: wrong(RIGHT), EXPORTED: wrong(RIGHT)}) == expected_findings
    )


def test_only_lanes_of_the_wrong_program_are_left_out() -> None:
    wrong: Outcomes = {TVM: WRONG, RAW: WRONG, TVM_ONNX: WRONG, ONNXRUNTIME: CORRECT}
    by_tvm = lambda *lanes: [(Kind.WRONG_VALUE, Component.TVM, lane) for lane in lanes]
    assert verdicts(wrong) == by_tvm(TVM, RAW, TVM_ONNX)
    assert verdicts({**wrong, EXPORTED: CORRECT, RAN_RAW: CORRECT}) == by_tvm(TVM, RAW, TVM_ONNX)
    assert verdicts({**wrong, EXPORTED: fakes.raised(Stage.RUN)}) == by_tvm(TVM, RAW, TVM_ONNX)
    expected_findings = [(Kind.WRONG_VALUE, Component.EXPORTER, RAN_RAW)]
    assert verdicts({**wrong, RAN_RAW: WRONG}) == expected_findings + by_tvm(TVM, TVM_ONNX)


def test_without_references_there_is_no_finding() -> None:
    assert list(against_export(CASE, {EXPORTED: WRONG})) == []


@pytest.mark.parametrize(
    ("lanes", "readers"),
    [
        ({TVM: CORRECT, RAW: CORRECT}, []),
        ({TVM_ONNX: WRONG, ONNXRUNTIME: CORRECT}, []),
        ({TVM: fakes.raised(Stage.RUN)}, []),
        ({TVM: WRONG}, [EXPORTED]),
        ({BY_TVM: WRONG, TVM: CORRECT}, [EXPORTED]),
        ({TVM: WRONG, TVM_C: WRONG, BY_TVM: WRONG}, [EXPORTED]),
        ({TVM: WRONG, RAW: WRONG}, [EXPORTED, RAN_RAW]),
        ({TVM: WRONG, EXPORTED: CORRECT}, []),
        ({TVM: WRONG, EXPORTED: WRONG}, []),
        ({TVM: WRONG, EXPORTED: fakes.raised(Stage.RUN)}, []),
    ],
)
def test_pytorch_runs_a_program_once_and_only_where_a_lane_disagrees(lanes: Outcomes, readers: list[LaneSpec]) -> None:
    found = disputed_programs(with_lanes(RIGHT, lanes))
    assert [reader for lane in found for reader in readers_of(lane)] == readers


def test_a_program_is_not_disputed_where_a_pass_may_round_so_much() -> None:
    half = replace(TVM, passes=("ToMixedPrecision",))
    rounded = Ran(
        tuple(right.eager + right.eager.dtype.type(0.05) * (right.eager.dtype.kind == "f") for right in RIGHT)
    )
    assert disputed_programs(with_lanes(RIGHT, {TVM: rounded})) == (TVM,)
    assert disputed_programs(with_lanes(RIGHT, {half: rounded})) == ()


def test_a_program_is_not_disputed_where_its_device_may_round_so_much() -> None:
    right = (fakes.expect([1.0, -4.0], envelope=1e-7),)
    cuda = replace(TVM, name="relax-export-cuda", target="cuda")
    off: Outcomes = {cuda: Ran((right[0].eager + right[0].eager.dtype.type(0.05),))}
    envelope = replace(fakes.TORCH_ENVELOPE, name="torch-envelope-cuda", target="cuda")
    wide: Outcomes = {envelope: Ran((right[0].envelope + 0.1, right[0].ill))}
    assert disputed_programs(with_lanes(right, off)) == (cuda,)
    assert disputed_programs(with_lanes(right, {**off, **wide})) == ()


def test_pytorch_runs_the_program_in_a_second_run() -> None:
    runs: list[tuple[LaneSpec, ...]] = []
    first = with_lanes(RIGHT, {TVM: WRONG})

    def run(case: Case, lanes: Sequence[LaneSpec]) -> Result:
        runs.append(tuple(lanes))
        outcomes: dict[LaneSpec, Outcome] = {EXPORTED: WRONG} if len(runs) == 2 else dict(first)
        return Result(outcomes)

    result = judged_run(run, CASE, tuple(first))
    assert runs == [tuple(first), (EXPORTED,)]
    assert verdicts(result.outcomes) == [(Kind.WRONG_VALUE, Component.EXPORTER, EXPORTED)]


def test_a_finding_is_confirmed_together_with_pytorchs_run_of_the_program() -> None:
    assert needed(TVM)[-1] == EXPORTED
    assert EXPORTED not in needed(TVM, values=False)
    assert EXPORTED not in needed(TVM_ONNX)
