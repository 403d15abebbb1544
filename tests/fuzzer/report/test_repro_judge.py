"""What each script says of results once its failure is gone: number, shapes, dtypes and values must be right."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from graphs_by_hand import case_of
from records import record

from fuzzer.lanes import MODULE_LANES, TVM_LANES
from fuzzer.report import repro
from generators.graph import Array
from oracles.finding import Evidence, Kind, Mismatch, SideEffect, WorstElement
from oracles.lane import LaneSpec
from oracles.memory_access import Access, MemoryAccess, Side
from oracles.outcome import Cause, Died, IllFormed, Raised, Stage, TimedOut

LLVM, ONNX, C = TVM_LANES
CASE = case_of({"x0": "float32[2]", "x1": "int64[2]"}, [("v0", "neg", "x0"), ("v1", "neg", "x1")], "v0 v1")
MODULE = case_of({"x0": "float32[2]"}, [("v0", "relax.negative", "x0")], "v0")
RIGHT = [np.array([1.0, 2.0], np.float32), np.array([100_000, 2])]
WORST = WorstElement((1,), 2.0, 3.0, 1e-6, 1e-7, 2.0)

RAISED = Raised(Stage.IMPORT, "tvm.error.InternalError", "it fails")
KINDS: list[tuple[Kind, Evidence]] = [
    (Kind.INTERNAL_ERROR, RAISED),
    (Kind.INTERNAL_ERROR, replace(RAISED, stage=Stage.RUN)),
    (Kind.DIED, Died(Stage.TRANSFORM, Cause.SIGNAL, 8, "")),
    (Kind.TIMED_OUT, TimedOut(Stage.COMPILE, 60.0)),
    (Kind.ILL_FORMED, IllFormed("import", "InternalError", "it is ill-formed")),
    (Kind.ILL_FORMED, IllFormed("FuseOps", "InternalError", "it is ill-formed", follows="wrong-value")),
    (Kind.WRONG_ARITY, Mismatch(0, "1 outputs", "2 outputs")),
    (Kind.WRONG_SHAPE, Mismatch(0, "[2]", "[1]")),
    (Kind.WRONG_DTYPE, Mismatch(1, "int64", "float32")),
    (Kind.WRONG_VALUE, Mismatch(0, "2.0", "3.0", WORST, 2, 1)),
    (Kind.SECOND_RUN_DIFFERS, Mismatch(0, "the first", "1 of 2 elements differ")),
    (Kind.MODIFIED_INPUT, SideEffect(modified=("x0",))),
    (Kind.ALIASED_OUTPUT, SideEffect(aliases=((0, "x0"),))),
    (Kind.OUT_OF_BOUNDS_READ, MemoryAccess(Access.READ, "input x0", Side.BEFORE, 1, "float32")),
]
WRONG = {
    "2 results instead of 1": RIGHT[:1],
    "result 0 is float64 instead of float32": [RIGHT[0].astype(np.float64), RIGHT[1]],
    "result 1 has the shape (1,) instead of (2,)": [RIGHT[0], RIGHT[1][:1]],
    "result 0 has wrong values": [RIGHT[0] + np.float32(0.01), RIGHT[1]],
    "result 1 has wrong values": [RIGHT[0], RIGHT[1] + 1],
}


def returned(kind: Kind, evidence: Evidence, results: list[Array]) -> object:
    """What `run_tvm()` of the script returns where all but the results is right."""
    match evidence:
        case SideEffect():
            return [], [], results
        case MemoryAccess():
            return results, results
        case _:
            return [results] * 3 if kind is Kind.SECOND_RUN_DIFFERS else results


def end_of(script: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, **names: Any) -> Any:
    """The exit code and the last lines of the script, from its judge on."""
    monkeypatch.setattr(sys, "argv", ["repro.py", "run"])
    with pytest.raises(SystemExit) as end:
        exec(script[script.index("def wrong_in") :], {"np": np, "sys": sys, "broken": [], **names})
    return end.value.code, capsys.readouterr().out


@pytest.mark.parametrize(("kind", "evidence"), KINDS, ids=[kind for kind, _ in KINDS])
def test_what_is_gone_is_right_in_number_shape_dtype_and_value(
    kind: Kind, evidence: Evidence, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = repro.script(record(CASE, kind, LLVM, evidence))
    right = returned(kind, evidence, RIGHT)
    code, printed = end_of(script, capsys, monkeypatch, expected=RIGHT, run_tvm=lambda: right)
    assert code == 0, printed
    assert "the bug is gone: number, shapes, dtypes and values of the results are those of PyTorch\n" in printed
    for words, results in WRONG.items():
        wrong = returned(kind, evidence, results)
        code, printed = end_of(script, capsys, monkeypatch, expected=RIGHT, run_tvm=lambda wrong=wrong: wrong)
        assert (code, words if len(results) > 1 else "1 results instead of 2") == (1, printed.splitlines()[-1]), printed


def test_a_measured_tolerance_replaces_that_of_the_tests_where_it_is_wider(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Correct results may stray as far as perturbed evaluations do. The finding's element has its own tolerance."""
    wide = Mismatch(0, "2.0", "3.0", replace(WORST, tolerance=0.1), 2, 1)
    narrow = Mismatch(0, "2.0", "3.0", WORST, 2, 1)
    near = [RIGHT[0] + np.float32(5e-6), RIGHT[1]]
    far = [RIGHT[0] + np.float32(0.05), RIGHT[1]]
    for mismatch, results, code in ((wide, far, 0), (narrow, far, 1), (narrow, near, 1), (wide, near, 0)):
        script = repro.script(record(CASE, Kind.WRONG_VALUE, LLVM, mismatch))
        ended, printed = end_of(script, capsys, monkeypatch, expected=RIGHT, run_tvm=lambda results=results: results)
        assert ended == code, printed


def test_of_an_ill_conditioned_output_one_element_is_compared(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = repro.script(
        record(CASE, Kind.WRONG_VALUE, LLVM, Mismatch(0, "2.0", "3.0", WORST, 2, 1, ill_conditioned=1))
    )
    other, same = (
        [RIGHT[0] + np.array([9, 0], np.float32), RIGHT[1]],
        [RIGHT[0] + np.array([0, 9], np.float32), RIGHT[1]],
    )
    assert end_of(script, capsys, monkeypatch, expected=RIGHT, run_tvm=lambda: other)[0] == 0
    code, printed = end_of(script, capsys, monkeypatch, expected=RIGHT, run_tvm=lambda: same)
    assert (code, printed.splitlines()[-1]) == (1, "result 0 is wrong at [1]")


@pytest.mark.parametrize(
    ("evidence", "says"),
    [
        (RAISED, "number, shapes and dtypes of the results are right; their values are not compared"),
        (
            Mismatch(0, "2.0", "3.0", WORST, 2, 1),
            "number, shapes and dtypes of the results are right, and the value that this script knows",
        ),
    ],
)
def test_the_script_of_a_module_says_what_it_compares(
    evidence: Evidence, says: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = Kind.WRONG_VALUE if isinstance(evidence, Mismatch) else Kind.INTERNAL_ERROR
    script = repro.script(record(MODULE, kind, MODULE_LANES[0], evidence))
    right = [np.array([1.0, 2.0], np.float32)]
    assert end_of(script, capsys, monkeypatch, run_tvm=lambda: right)[1].endswith(f"the bug is gone: {says}\n")
    for wrong in ([], [right[0].astype(np.float64)], [right[0][:1]]):
        code, printed = end_of(script, capsys, monkeypatch, run_tvm=lambda wrong=wrong: wrong)
        assert (code, "instead of [('float32', (2,))]" in printed) == (1, True)
    other = [np.array([1.0, 3.0], np.float32)]
    code = end_of(script, capsys, monkeypatch, run_tvm=lambda: other)[0]
    assert code == (1 if isinstance(evidence, Mismatch) else 0)


def test_a_script_that_cannot_go_on_says_that_it_compares_nothing() -> None:
    lane = replace(LLVM, target="opencl")
    script = repro.script(record(CASE, Kind.INTERNAL_ERROR, lane, RAISED))
    says = "the bug is gone: there is no error; this script has no results to compare"
    assert script.endswith(f'print("{says}")\nsys.exit(0)\n')
    assert "wrong_in" not in script


@pytest.mark.parametrize("lane", [LLVM, ONNX, C], ids=str)
def test_the_script_of_a_failed_import_goes_on_to_the_results(lane: LaneSpec) -> None:
    script = repro.script(record(CASE, Kind.INTERNAL_ERROR, lane, RAISED))
    assert "    vm = relax.VirtualMachine(executable, tvm.cpu())\n" in script
    assert "\nwrong = wrong_in(got, expected)\n" in script
