import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from fuzzer.lanes import ONNXRUNTIME, TVM_LANES
from fuzzer.report import repro
from fuzzer.triage.investigate import Confirmed
from fuzzer.triage.signature import Signature
from generators.builder import Builder
from generators.choice import NumpySource
from generators.graph import Array, Attrs, Case, DType, TensorType
from generators.ops import TABLE
from generators.random_graph import with_values
from oracles.finding import Component, Evidence, Finding, Kind, Mismatch, Worst
from oracles.lane import LaneSpec
from oracles.outcome import Cause, Died, Frame, Raised, Stage, TimedOut

LLVM, ONNX, C = TVM_LANES
OTHER = replace(LLVM, name="other", passes=("FoldConstant",), pipeline="zero", llvm_opt=0, opt_level=3, asserts=False)
WORST = Worst((0, 1), 1.0, 2.0, 1e-6, 1e-8)


def one_op(op: str, attrs: Attrs, *shape: int, dtype: DType = DType.FLOAT32) -> Case:
    builder = Builder(NumpySource(0))
    builder.emit(TABLE[op], (builder.fresh_input(TensorType(dtype, shape)),), attrs)
    return with_values(NumpySource(0), builder.graph(), "test")


def confirmed(case: Case, kind: Kind, lane: LaneSpec, evidence: Evidence) -> Confirmed:
    stage = Stage.RUN if isinstance(evidence, Mismatch) else evidence.stage
    finding = Finding(kind, Component.TVM, lane, stage, evidence)
    signature = Signature(kind, Component.TVM, stage)
    return Confirmed(signature, finding, case, (lane.name,), 3, 3, case.graph.ops, None)


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = folder / "repro.py"
    path.write_text(script)
    return subprocess.run([sys.executable, str(path)], cwd=folder, capture_output=True, text=True)


EVIDENCE = [
    (Kind.REJECTED, Raised(Stage.IMPORT, "tvm.error.InternalError", "no", (Frame("a.py", 1, "f"),))),
    (Kind.DIED, Died(Stage.RUN, Cause.SIGNAL, 11, "")),
    (Kind.OUT_OF_MEMORY, Died(Stage.RUN, Cause.MEMORY, 9, "")),
    (Kind.TIMED_OUT, TimedOut(Stage.COMPILE, 60.0)),
    (Kind.WRONG_ARITY, Mismatch(0, "1 outputs", "2 outputs")),
    (Kind.WRONG_SHAPE, Mismatch(0, "[1]", "[2]")),
    (Kind.WRONG_DTYPE, Mismatch(0, "int64", "float32")),
    (Kind.WRONG_VALUE, Mismatch(0, "1.0", "2.0", WORST)),
    (Kind.WRONG_VALUE, Mismatch(0, "1", "2", Worst((), 1.0, 2.0, 0.0, 0.0))),
    (Kind.UNSTABLE, Mismatch(0, "the first", "1 of 2 elements differ")),
]


@pytest.mark.parametrize("lane", [LLVM, ONNX, C, ONNXRUNTIME, OTHER], ids=str)
@pytest.mark.parametrize(("kind", "evidence"), EVIDENCE, ids=[kind for kind, _ in EVIDENCE])
def test_every_kind_of_finding_on_every_lane_gives_a_whole_script(
    kind: Kind, evidence: Evidence, lane: LaneSpec
) -> None:
    script = repro.script(confirmed(one_op("sin", {}, 2, 3), kind, lane, evidence), "slug")
    tree = ast.parse(script)
    imported = {a.asname or a.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    imported |= {a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert imported <= used, f"not used: {imported - used}"
    assert not {"fuzzer", "generators", "oracles"} & imported
    assert "\n\n\n\n" not in script
    assert len(script.splitlines()) <= 60


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 3), np.float32),
        np.ones((), np.float64),
        np.array([[True, False]]),
        np.array([1.5, -0.0, np.inf, -np.inf, np.nan], np.float32),
        np.array([2**63 - 1, -(2**63)], np.int64),
        np.float32(0.1) * np.arange(24, dtype=np.float32).reshape(2, 3, 4),
        np.random.default_rng(0).normal(size=(40, 50)),
        np.zeros((0, 3), np.float32),
    ],
    ids=lambda array: f"{array.dtype}{list(array.shape)}",
)
def test_literal_makes_exactly_this_array(array: Array) -> None:
    import base64
    import zlib

    made = eval(repro.literal(array), {"torch": torch, "base64": base64, "zlib": zlib}).numpy()
    assert made.dtype == array.dtype
    assert made.shape == array.shape
    np.testing.assert_array_equal(made, array)


@pytest.mark.tvm
def test_script_of_a_real_bug_exits_1(tmp_path: Path) -> None:
    """TVM 0.27: select with a negative index reads out of bounds."""
    case = one_op("select", {"dim": 0, "index": -1}, 4, 3)
    found = confirmed(case, Kind.UNSTABLE, LLVM, Mismatch(0, "the first run's result", "3 of 3 elements differ"))
    done = run(repro.script(found, "slug"), tmp_path)
    assert done.returncode == 1, done.stderr
    assert "expected:" in done.stdout
    assert "actual:" in done.stdout


@pytest.mark.tvm
def test_script_of_no_bug_exits_0(tmp_path: Path) -> None:
    raised = Raised(Stage.COMPILE, "tvm.error.InternalError", "Unresolved call")
    done = run(repro.script(confirmed(one_op("neg", {}, 4, 3), Kind.INTERNAL_ERROR, C, raised), "slug"), tmp_path)
    assert done.returncode == 0, done.stderr
    assert "gone" in done.stdout


@pytest.mark.tvm
def test_script_of_a_lane_with_passes_and_a_pipeline_of_its_own_runs(tmp_path: Path) -> None:
    raised = Raised(Stage.COMPILE, "tvm.error.InternalError", "x")
    found = confirmed(one_op("neg", {}, 4, 3), Kind.INTERNAL_ERROR, OTHER, raised)
    done = run(repro.script(found, "slug"), tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.tvm
def test_script_of_another_error_exits_2(tmp_path: Path) -> None:
    """TVM 0.27: the C code generator has no fabs, which is an InternalError, not the KeyError that we ask about."""
    raised = Raised(Stage.COMPILE, "KeyError", "x")
    done = run(repro.script(confirmed(one_op("abs", {}, 4), Kind.REJECTED, C, raised), "slug"), tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
