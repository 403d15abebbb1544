from __future__ import annotations

import signal
from dataclasses import replace

import fakes
import pytest
from fakes import CASE, ONNXRUNTIME, TORCH, TORCH_ENVELOPE, TORCH_F64, TVM, TVM_ONNX

from generators.undefined import INTEGER_QUOTIENT
from oracles.crash import crash
from oracles.finding import Component, Finding, Kind
from oracles.lane import LaneSpec
from oracles.outcome import Cause, Died, Facts, Frame, Outcome, Outcomes, Ran, Stage

RAN = fakes.correct(fakes.TWO_OUTPUTS)
REFERENCES = fakes.references(*fakes.TWO_OUTPUTS)
EACH_FAILURE = pytest.mark.parametrize("failure", fakes.FAILURES)
RAISES = ("rejected", "internal error")
PROCESS_FAILURES = [name for name in fakes.FAILURES if name not in RAISES]


def judged(lanes: Outcomes) -> list[Finding]:
    return list(crash(CASE, {**REFERENCES, **lanes}))


def verdicts(lanes: Outcomes) -> list[tuple[Kind, Component, LaneSpec]]:
    return [(finding.kind, finding.component, finding.lane) for finding in judged(lanes)]


# --- failures of one lane


@EACH_FAILURE
def test_a_failure_is_found_with_its_stage_and_evidence(failure: str) -> None:
    make, kind = fakes.FAILURES[failure]
    outcome = make(Stage.IMPORT)
    assert judged({TVM: outcome}) == [Finding(kind, Component.TVM, TVM, Stage.IMPORT, outcome)]  # type: ignore[arg-type]


AT_IMPORT = {
    "a frontend's own raise": ((fakes.REFUSAL,), Kind.REJECTED),
    "an accident in the frontend": ((fakes.FRONTEND_BUG,), Kind.INTERNAL_ERROR),
    "an accident deep in the frontend": ((fakes.REFUSAL, fakes.FRONTEND_BUG), Kind.INTERNAL_ERROR),
    "C++ below the frontend": ((fakes.FRONTEND_BUG, fakes.IN_CPP), Kind.INTERNAL_ERROR),
    "a raise of TVM's own library": ((Frame("tvm/relax/expr.py", 1, "const", raises=True),), Kind.INTERNAL_ERROR),
    "no traceback": ((), Kind.INTERNAL_ERROR),
}


@pytest.mark.parametrize("where", AT_IMPORT)
@pytest.mark.parametrize("type", ["ValueError", "tvm.error.InternalError", "AssertionError", "NotImplementedError"])
def test_the_place_of_a_raise_decides_its_kind_and_not_the_class_of_the_exception(where: str, type: str) -> None:
    frames, kind = AT_IMPORT[where]
    assert verdicts({TVM: fakes.raised(Stage.IMPORT, type, "no", *frames)}) == [(kind, Component.TVM, TVM)]


@pytest.mark.parametrize("stage", [Stage.TRANSFORM, Stage.COMPILE, Stage.LOAD, Stage.RUN])
def test_a_refusal_after_the_import_is_an_internal_error(stage: Stage) -> None:
    assert verdicts({TVM: fakes.rejected(stage)}) == [(Kind.INTERNAL_ERROR, Component.TVM, TVM)]


def test_an_exporters_own_raise_is_a_rejection_and_any_other_error_is_internal() -> None:
    refusal = Frame("torch/onnx/symbolic_opset9.py", 1, "gather", raises=True)
    accident = Frame("torch/onnx/symbolic_opset9.py", 2, "gather")
    assert verdicts({TVM: fakes.raised(Stage.EXPORT, "E", "no", refusal)})[0][0] is Kind.REJECTED
    assert verdicts({TVM: fakes.raised(Stage.EXPORT, "E", "no", accident)})[0][0] is Kind.INTERNAL_ERROR


@pytest.mark.parametrize("outcome", [RAN, *fakes.NO_VERDICT.values()], ids=["ran", *fakes.NO_VERDICT])
@pytest.mark.parametrize("lane", [TVM, TVM_ONNX, ONNXRUNTIME])
def test_a_lane_that_ran_or_was_not_run_gives_no_finding(lane: LaneSpec, outcome: Outcome) -> None:
    assert judged({lane: outcome}) == []


@pytest.mark.parametrize("mistake", fakes.WRONG_RESULTS)
def test_a_wrong_result_is_not_a_crash(mistake: str) -> None:
    assert judged({TVM: fakes.WRONG_RESULTS[mistake][0](fakes.TWO_OUTPUTS)}) == []


def test_every_lane_has_its_own_finding() -> None:
    lanes: Outcomes = {TVM: fakes.segfault(Stage.RUN), TVM_ONNX: fakes.hung(Stage.COMPILE), ONNXRUNTIME: RAN}
    assert verdicts(lanes) == [(Kind.DIED, Component.TVM, TVM), (Kind.TIMED_OUT, Component.TVM, TVM_ONNX)]


def test_a_kill_for_memory_is_distinguished_from_any_other_kill() -> None:
    assert verdicts({TVM: Died(Stage.RUN, Cause.SIGNAL, 9)})[0][0] is Kind.DIED
    assert verdicts({TVM: Died(Stage.RUN, Cause.MEMORY, 9)})[0][0] is Kind.OUT_OF_MEMORY


# --- the component at fault


@EACH_FAILURE
@pytest.mark.parametrize("stage", [Stage.EXPORT, Stage.VERIFY])
@pytest.mark.parametrize("lane", [TVM, TVM_ONNX, ONNXRUNTIME])
def test_the_exporter_is_at_fault_for_failures_of_the_export(lane: LaneSpec, stage: Stage, failure: str) -> None:
    make, kind = fakes.FAILURES[failure]
    assert verdicts({lane: make(stage)}) == [(kind, Component.EXPORTER, lane)]


def test_failures_of_the_onnx_packages_interpreter_are_not_reported() -> None:
    for make, _ in fakes.FAILURES.values():
        assert verdicts({fakes.ONNX_REFERENCE: make(Stage.RUN)}) == []


@EACH_FAILURE
@pytest.mark.parametrize("stage", [Stage.IMPORT, Stage.TRANSFORM, Stage.COMPILE, Stage.LOAD, Stage.RUN])
def test_tvm_is_at_fault_for_failures_from_the_import_on(stage: Stage, failure: str) -> None:
    make, kind = fakes.FAILURES[failure]
    late = kind is Kind.REJECTED and stage is not Stage.IMPORT
    assert verdicts({TVM: make(stage)}) == [(Kind.INTERNAL_ERROR if late else kind, Component.TVM, TVM)]


@EACH_FAILURE
def test_onnxruntime_is_at_fault_for_failures_of_its_run(failure: str) -> None:
    make, kind = fakes.FAILURES[failure]
    kind = Kind.INTERNAL_ERROR if kind is Kind.REJECTED else kind
    assert verdicts({ONNXRUNTIME: make(Stage.RUN)}) == [(kind, Component.ONNXRUNTIME, ONNXRUNTIME)]


def test_the_exporter_is_at_fault_for_a_file_that_onnxruntime_does_not_load() -> None:
    assert verdicts({ONNXRUNTIME: fakes.raised(Stage.LOAD)}) == [(Kind.REJECTED, Component.EXPORTER, ONNXRUNTIME)]


def test_onnxruntime_is_at_fault_where_a_file_kills_it() -> None:
    assert verdicts({ONNXRUNTIME: fakes.segfault(Stage.LOAD)}) == [(Kind.DIED, Component.ONNXRUNTIME, ONNXRUNTIME)]


@pytest.mark.parametrize("failure", PROCESS_FAILURES)
@pytest.mark.parametrize("lane", [TORCH, TORCH_F64, TORCH_ENVELOPE])
def test_a_crash_of_pytorch_is_a_finding_and_a_refusal_is_not(lane: LaneSpec, failure: str) -> None:
    make, kind = fakes.FAILURES[failure]
    assert verdicts({lane: make(Stage.RUN)}) == [(kind, Component.PYTORCH, lane)]
    assert verdicts({lane: fakes.raised(Stage.RUN)}) == []


@pytest.mark.parametrize("stage", [Stage.START, Stage.RENDER])
def test_a_model_that_cannot_be_built_gives_no_finding(stage: Stage) -> None:
    assert judged({TVM: fakes.raised(stage)}) == []


# --- invalid cases


@pytest.mark.parametrize("failure", RAISES)
def test_a_lane_may_raise_on_an_invalid_case(failure: str) -> None:
    make, _ = fakes.FAILURES[failure]
    torch = fakes.raised(Stage.RUN)
    lanes = {TORCH: torch, TORCH_F64: torch, TORCH_ENVELOPE: torch, ONNXRUNTIME: make(Stage.EXPORT)}
    assert verdicts({**lanes, TVM: make(Stage.IMPORT), TVM_ONNX: make(Stage.IMPORT)}) == []


@pytest.mark.parametrize("failure", PROCESS_FAILURES)
def test_a_lane_must_not_die_of_an_invalid_case(failure: str) -> None:
    make, kind = fakes.FAILURES[failure]
    torch = fakes.raised(Stage.RUN)
    lanes = {TORCH: torch, TORCH_F64: torch, TORCH_ENVELOPE: torch}
    assert verdicts({**lanes, TVM: make(Stage.IMPORT)}) == [(kind, Component.TVM, TVM)]


def test_a_case_that_eager_pytorch_refuses_is_invalid_even_where_float64_runs() -> None:
    assert verdicts({TORCH: fakes.raised(Stage.RUN), TVM: fakes.raised(Stage.IMPORT)}) == []


def test_without_pytorchs_result_an_exception_gives_no_finding() -> None:
    assert list(crash(CASE, {TVM: fakes.raised(Stage.IMPORT)})) == []


# --- quotients of integers that are not defined

DIVIDED = Died(Stage.RUN, Cause.SIGNAL, signal.SIGFPE)
MEETS: Outcomes = {TORCH_ENVELOPE: Ran((), facts=Facts(undefined=(INTEGER_QUOTIENT,)))}


def test_a_reference_that_divides_where_no_quotient_is_defined_is_no_finding() -> None:
    assert judged({TORCH: DIVIDED}) == []


def test_a_lane_may_die_of_a_quotient_only_where_the_case_has_an_undefined_one() -> None:
    assert judged({TVM: DIVIDED, **MEETS}) == []
    assert verdicts({TVM: DIVIDED}) == [(Kind.DIED, Component.TVM, TVM)]
    assert verdicts({TVM: replace(DIVIDED, code=signal.SIGSEGV), **MEETS}) == [(Kind.DIED, Component.TVM, TVM)]
