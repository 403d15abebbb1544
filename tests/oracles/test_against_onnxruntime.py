"""Decide whether an exported file is wrong, or one of its readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import fakes
import pytest
from fakes import CASE, ONNX_REFERENCE, ONNXRUNTIME, TVM, TVM_ONNX, with_lanes

from fuzzer.lanes import ONNX_READERS
from fuzzer.triage.reproduce import judged_run
from generators.graph import Case
from oracles.against_onnxruntime import against_onnxruntime, disputed_files
from oracles.against_torch import judge
from oracles.finding import Component, Finding, Kind
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Outcomes, Result, Stage

RIGHT = fakes.TWO_OUTPUTS
CORRECT = fakes.correct(RIGHT)
WRONG = fakes.wrong_value(RIGHT)
OPTIMISED = replace(ONNX_REFERENCE, name="onnxruntime-optimised", variant="optimised")
WRONG_RESULTS = {name: wrong for name, wrong in fakes.WRONG_RESULTS.items() if name != "unstable"}


def verdicts(lanes: Outcomes) -> list[tuple[Kind, Component, LaneSpec]]:
    return [(f.kind, f.component, f.lane) for f in against_onnxruntime(CASE, with_lanes(RIGHT, lanes))]


@pytest.mark.parametrize("mistake", WRONG_RESULTS)
def test_the_exporter_is_at_fault_where_no_reader_agrees_with_pytorch(mistake: str) -> None:
    wrong, kind = WRONG_RESULTS[mistake]
    expected_findings = [(kind, Component.EXPORTER, ONNXRUNTIME)]
    assert verdicts({ONNXRUNTIME: wrong(RIGHT)}) == expected_findings
    assert (
        verdicts({ONNXRUNTIME: wrong(RIGHT), ONNX_REFERENCE: wrong(RIGHT), OPTIMISED: wrong(RIGHT)})
        == expected_findings
    )
    assert verdicts({ONNXRUNTIME: wrong(RIGHT), ONNX_REFERENCE: fakes.raised(Stage.RUN)}) == expected_findings


@pytest.mark.parametrize("mistake", WRONG_RESULTS)
@pytest.mark.parametrize("reader", [ONNX_REFERENCE, OPTIMISED], ids=str)
def test_onnxruntime_is_at_fault_where_another_reader_agrees_with_pytorch(reader: LaneSpec, mistake: str) -> None:
    wrong, kind = WRONG_RESULTS[mistake]
    lanes = {ONNXRUNTIME: wrong(RIGHT), ONNX_REFERENCE: wrong(RIGHT), OPTIMISED: wrong(RIGHT), reader: CORRECT}
    assert verdicts(lanes) == [(kind, Component.ONNXRUNTIME, ONNXRUNTIME)]


def test_the_finding_is_that_of_a_run() -> None:
    (finding,) = against_onnxruntime(CASE, with_lanes(RIGHT, {ONNXRUNTIME: WRONG}))
    judged = judge(WRONG.outputs, RIGHT)
    assert judged is not None
    assert finding == Finding(Kind.WRONG_VALUE, Component.EXPORTER, ONNXRUNTIME, Stage.RUN, judged[1])


def test_other_readers_and_tvm_are_not_judged_by_this_oracle() -> None:
    assert verdicts({ONNXRUNTIME: CORRECT, ONNX_REFERENCE: WRONG, TVM_ONNX: WRONG, TVM: WRONG}) == []


@pytest.mark.parametrize(
    ("lanes", "needed"),
    [
        ({ONNXRUNTIME: WRONG}, True),
        ({ONNXRUNTIME: CORRECT}, False),
        ({ONNXRUNTIME: WRONG, ONNX_REFERENCE: WRONG}, False),
        ({ONNXRUNTIME: WRONG, ONNX_REFERENCE: fakes.raised(Stage.RUN)}, False),
        ({ONNXRUNTIME: fakes.raised(Stage.LOAD)}, False),
        ({TVM_ONNX: WRONG}, False),
    ],
)
def test_other_readers_run_once_and_only_where_onnxruntime_disagrees(lanes: Outcomes, needed: bool) -> None:
    assert disputed_files(with_lanes(RIGHT, lanes)) == ((ONNXRUNTIME,) if needed else ())


def test_the_other_readers_run_in_a_second_run() -> None:
    runs: list[tuple[LaneSpec, ...]] = []
    first = with_lanes(RIGHT, {ONNXRUNTIME: WRONG})

    def run(case: Case, lanes: Sequence[LaneSpec]) -> Result:
        runs.append(tuple(lanes))
        outcomes: dict[LaneSpec, Outcome] = dict.fromkeys(ONNX_READERS, CORRECT) if len(runs) == 2 else dict(first)
        return Result(outcomes, {Stage.RUN: 1.0}, 2.0)

    result = judged_run(run, CASE, tuple(first))
    assert runs == [tuple(first), ONNX_READERS]
    assert set(result.outcomes) == {*first, *ONNX_READERS}
    assert (result.stage_cpu, result.cpu_seconds) == ({Stage.RUN: 2.0}, 4.0)
    assert [f.component for f in against_onnxruntime(CASE, result.outcomes)] == [Component.ONNXRUNTIME]
