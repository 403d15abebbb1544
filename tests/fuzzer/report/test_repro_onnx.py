"""Scripts that build an ONNX file: that it is the very file, and that they tell whether the bug is there."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from fakes import TVM, TVM_ONNX
from graphs_by_hand import case_of
from onnx import TensorProto, helper, numpy_helper
from records import record
from warm_python import WarmPython

from fuzzer.findings.record import FindingRecord
from fuzzer.isolate.executor import Executor
from fuzzer.lanes.onnx.description import NoDescription, described
from fuzzer.report import issue, repro
from fuzzer.triage import exported
from generators.graph import Case, Invalid
from generators.onnx.model import OnnxModel, decode, encode
from oracles.finding import Component, Evidence, Finding, Kind, Mismatch, WorstElement
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Outcome, Raised, Ran, Result, Stage

CASE = case_of({"x0": "float32[2,3]", "x1": "float32[3]"}, [("v0", "add", "x0 x1")], "v0")
FLOAT = TensorProto.FLOAT


def file(*nodes: onnx.NodeProto, **initializers: Any) -> onnx.ModelProto:
    """`nodes` take x0 and x1, and give y."""
    graph = helper.make_graph(
        list(nodes),
        "main",
        [helper.make_tensor_value_info("x0", FLOAT, [2, 3]), helper.make_tensor_value_info("x1", FLOAT, [3])],
        [helper.make_tensor_value_info("y", FLOAT, [2, 3])],
        initializer=[numpy_helper.from_array(array, name) for name, array in initializers.items()],
    )
    return helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 20)])


EVERYTHING = file(
    helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(np.array([1.5, np.nan], np.float32))),
    helper.make_node("Constant", [], ["n"], value_ints=[1, -2]),
    helper.make_node("Constant", [], ["s"], value_string='quoted " and \\ and @'),
    helper.make_node("LeakyRelu", ["x0"], ["l"], alpha=0.01),
    helper.make_node("Custom", ["l", ""], ["d"], domain="some.where", names=["a", "b"], numbers=[0.5, 1e-7]),
    helper.make_node("Add", ["d", "w"], ["y"]),
    w=np.arange(6, dtype=np.float32).reshape(2, 3),
    h=np.array([1.0, -0.5], np.float16),
    b=np.array([True, False]),
    e=np.zeros((0, 3), np.int64),
)
ADD = file(helper.make_node("Add", ["x0", "x1"], ["y"]))
UNKNOWN = file(
    helper.make_node("LpNormalization", ["x0"], ["n"], p=2, axis=1), helper.make_node("Add", ["n", "x1"], ["y"])
)


def built(script: str) -> onnx.ModelProto:
    """Return the script's `model`. The part of the script that runs onnxruntime and TVM is not executed."""
    head = script.partition("\noptions = ")[0]
    scope: dict[str, Any] = {}
    lines = [
        line
        for line in head.splitlines()
        if not line.startswith(("import onnxruntime", "import tvm", "from tvm", "sys.exc"))
    ]
    exec("\n".join(lines), scope)
    model: onnx.ModelProto = scope["model"]
    return model


def onnx_record(model: onnx.ModelProto, kind: Kind, evidence: Evidence, lane: LaneSpec = TVM_ONNX) -> FindingRecord:
    return record(CASE, kind, lane, evidence, onnx=described(model))


WRONG = Mismatch(0, "1", "2", WorstElement((0, 1), 1.0, 2.0, 1e-6, 1e-8))
MISSING = Raised(
    Stage.IMPORT, "tvm.error.OpNotImplemented", "The following operators are not supported for frontend ONNX: Lp"
)


def test_the_file_comes_out_as_it_went_in() -> None:
    described_file = described(EVERYTHING)
    assert decode(encode(described_file), "it") == described_file
    made = built(repro.script(onnx_record(EVERYTHING, Kind.WRONG_VALUE, WRONG)))
    assert made.graph.node == EVERYTHING.graph.node
    assert made.graph.input == EVERYTHING.graph.input
    assert made.graph.output == EVERYTHING.graph.output
    assert made.graph.initializer == EVERYTHING.graph.initializer
    assert (made.ir_version, made.opset_import) == (EVERYTHING.ir_version, EVERYTHING.opset_import)


@pytest.mark.parametrize(("kind", "evidence"), [(Kind.WRONG_VALUE, WRONG), (Kind.REJECTED, MISSING)])
def test_it_needs_no_pytorch(kind: Kind, evidence: Evidence) -> None:
    script = repro.script(onnx_record(ADD, kind, evidence))
    ast.parse(script)
    assert "torch" not in script
    assert "onnxruntime runs this model" in issue.body(onnx_record(ADD, Kind.REJECTED, MISSING))
    assert len(script.splitlines()) <= 75


@pytest.mark.parametrize(
    ("node", "why"),
    [
        (helper.make_node("Custom", [], ["y"], low=-np.inf), "attribute 'low'"),
    ],
)
def test_what_has_no_description(node: onnx.NodeProto, why: str) -> None:
    with pytest.raises(NoDescription, match=why):
        described(file(node))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("[3]", "[-3]"), "12 bytes for FLOAT"),
        (('"FLOAT"', '"FLOAT12"'), "Invalid enum value 'FLOAT12'"),
        (('"op"', '"opt"'), "unknown field `opt`|missing required field"),
        (("{", "["), "malformed|Expected"),
    ],
)
def test_a_broken_description_is_refused(change: tuple[str, str], why: str) -> None:
    text = encode(described(file(helper.make_node("Add", ["x0", "w"], ["y"]), w=np.ones(3, np.float32)))).decode()
    with pytest.raises(Invalid, match=why):
        decode(text.replace(*change).encode(), "onnx.json")


def answered(file: Outcome, runtime: Outcome) -> OnnxModel | None:
    """What is fetched of lanes that answer so."""

    def run(case: Case, lanes: Any) -> Result:
        answers = {Engine.ONNX_FILE: file, Engine.ONNXRUNTIME: runtime}
        return Result({lane: answers[lane.engine] for lane in lanes})

    return exported.onnx_file(run, CASE, TVM_ONNX)


def test_only_what_onnxruntime_runs_is_shown_without_pytorch() -> None:
    sent = Ran((np.frombuffer(encode(described(ADD)), np.uint8),))
    refused = Raised(Stage.LOAD, "E", "no")
    assert answered(sent, Ran(())) == described(ADD)
    assert answered(sent, refused) is None
    assert answered(refused, Ran(())) is None
    assert answered(Ran((np.frombuffer(b"nonsense", np.uint8),)), Ran(())) is None


@pytest.mark.parametrize(
    ("lane", "component", "expected"),
    [(TVM_ONNX, Component.TVM, True), (TVM_ONNX, Component.EXPORTER, False), (TVM, Component.TVM, False)],
)
def test_read_by_tvm_holds_for_bugs_of_tvm_in_lanes_that_read_files(
    lane: LaneSpec, component: Component, expected: bool
) -> None:
    assert exported.read_by_tvm(Finding(Kind.WRONG_VALUE, component, lane, Stage.RUN, WRONG)) is expected


@pytest.mark.tvm
@pytest.mark.parametrize(
    ("model", "kind", "evidence", "code"),
    [
        (ADD, Kind.WRONG_VALUE, WRONG, 0),
        (ADD, Kind.REJECTED, MISSING, 0),
        (UNKNOWN, Kind.REJECTED, MISSING, 1),
        (UNKNOWN, Kind.INTERNAL_ERROR, Raised(Stage.IMPORT, "tvm.error.InternalError", "no"), 125),
    ],
)
def test_it_tells_whether_the_bug_is_there(
    warm: WarmPython, model: onnx.ModelProto, kind: Kind, evidence: Evidence, code: int, tmp_path: Path
) -> None:
    done = warm.run(repro.script(onnx_record(model, kind, evidence)), tmp_path)
    assert done.returncode == code, done.output


@pytest.mark.tvm
def test_the_child_describes_the_file_that_the_lane_reads(executor: Executor) -> None:
    """From the process that exports it to the script that builds it."""
    case = case_of({"x0": "float32[2,3]"}, [("v0", "flip", "x0", {"dims": (-1,)})], "v0")
    model = exported.onnx_file(executor.run, case, TVM_ONNX)
    assert model is not None
    assert "Slice" in model.ops
    script = repro.script(record(case, Kind.WRONG_VALUE, TVM_ONNX, WRONG, onnx=model))
    assert "torch" not in script
