"""Reports of cases of ONNX: exact texts, that the script builds the very file, and that it tells whether the bug is
there."""

from __future__ import annotations

import ast
import base64
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from graphs_by_hand import Call, case_of
from onnx import TensorProto, helper, numpy_helper
from records import record
from warm_python import WarmPython

from fuzzer.findings.headline import headline
from fuzzer.findings.record import FindingRecord
from fuzzer.findings.severity import severity_of
from fuzzer.lanes import EVERY_TVM_LANE, ONNX
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.onnx.description import described
from fuzzer.lanes.onnx.proto import to_proto
from fuzzer.lanes.runners import runner_of
from fuzzer.report import issue, page, regression_test, repro
from fuzzer.signature.blame import NO_BLAME, Blame, Place
from generators.choice import NumpySource
from generators.graph import Case
from generators.onnx.random_graph import generate
from generators.onnx.source import render
from oracles.finding import Evidence, Kind, Mismatch, SideEffect, WorstElement
from oracles.lane import LaneSpec, Pipeline
from oracles.memory_access import Access, MemoryAccess, Side
from oracles.outcome import Raised, Ran, Stage

LANES = {lane.name: lane for lane in EVERY_TVM_LANE}
LANE = LANES["relax-onnx-model-llvm"]

TILE = case_of({"x0": "float32[1]"}, [("v0", "Tile-13:list", "x0", {"repeats": (1,)})], "v0", opset=17)
NO_VALUE = Raised(Stage.IMPORT, "builtins.ValueError", "no value in Constant")
IN_CONSTANT = Blame(Place.FRONTEND, "Tile", "Constant._impl_v13", "The importer stops at `Constant`")

DROPOUT = case_of({"x0": "float32[2]"}, [("v0 v1", "Dropout-13", "x0", {"outputs": (True, True)})], "v1", opset=17)
FLOATS = Mismatch(0, "bool", "float32")
OF_DROPOUT = Blame(Place.FRONTEND, "Dropout", "Dropout._impl_v12", "")

NEG = case_of({"x0": "float32[2]"}, [("v0", "Neg-13", "x0")], "v0", opset=17)
ADD = case_of({"x0": "float32[2]", "w0": "float32[2]"}, [("v0", "Add-14", "x0 w0")], "v0", opset=17)
WRONG = Mismatch(0, "1", "2", WorstElement((1,), 2.0, 3.0, 1e-6, 1e-8, truth=2.0))


def found(case: Case, kind: Kind, evidence: Evidence, blame: Blame = NO_BLAME, lane: LaneSpec = LANE) -> FindingRecord:
    return record(case, kind, lane, evidence, blame=blame)


REFUSED = found(TILE, Kind.REJECTED, NO_VALUE, IN_CONSTANT)
WRONG_DTYPE = found(DROPOUT, Kind.WRONG_DTYPE, FLOATS, OF_DROPOUT)
CONVERTED = found(ADD, Kind.WRONG_VALUE, WRONG, lane=LANES["relax-onnx-model-llvm-opset18"])

HEAD = """
import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # other failures: cannot tell

"""


def body(of: FindingRecord) -> str:
    return repro.script(of).split(HEAD)[1]


def test_the_script_of_a_failed_import_needs_onnx_and_tvm() -> None:
    assert (
        body(REFUSED)
        == '''\
import numpy as np
import onnx
import tvm
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

graph = helper.make_graph(
    nodes=[
        helper.make_node("Constant", [], ["v0_repeats"], value_ints=[1]),
        helper.make_node("Tile", ["x0", "v0_repeats"], ["v0"]),
    ],
    name="main",
    inputs=[helper.make_tensor_value_info("x0", TensorProto.FLOAT, [1])],
    outputs=[helper.make_tensor_value_info("v0", TensorProto.FLOAT, [1])],
)
model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
onnx.checker.check_model(model, full_check=True)
inputs = {"x0": np.zeros(1, dtype="float32")}


def run_tvm():
    mod = from_onnx(model)
    with tvm.transform.PassContext(config={"tirx.disable_assert": True}):
        executable = tvm.compile(mod, "llvm")
    vm = relax.VirtualMachine(executable, tvm.cpu())
    out = vm["main"](*(tvm.runtime.tensor(x) for x in inputs.values()))
    return [out.numpy()]


def wrong_in(results, expected):
    """How results differ from what is expected: in their number, shapes, dtypes, and values."""
    if len(results) != len(expected):
        return [f"{len(results)} results instead of {len(expected)}"]
    wrong = []
    for place, (got, want) in enumerate(zip(results, expected)):
        if got.dtype != want.dtype:
            wrong.append(f"result {place} is {got.dtype} instead of {want.dtype}")
        if got.shape != want.shape:
            wrong.append(f"result {place} has the shape {got.shape} instead of {want.shape}")
        elif not np.allclose(got.astype("float64"), want.astype("float64"), 1e-05, 1e-05, equal_nan=True):
            wrong.append(f"result {place} has wrong values")
    return wrong


try:
    got = run_tvm()
except Exception as error:
    print("expected: no error")
    print(f"actual: {type(error).__name__}: {error}")
    same = type(error).__name__ == "ValueError"
    sys.exit(1 if same and "no value in Constant" in str(error) else 125)
expected = ReferenceEvaluator(model).run(None, inputs)
wrong = wrong_in(got, expected)
if wrong:
    print("the bug is there:", *wrong, sep="\\n")
else:
    print("the bug is gone: number, shapes, dtypes and values of the results are those of onnx.reference")
sys.exit(1 if wrong else 0)
'''
    )


def test_the_script_of_a_wrong_dtype_compares_with_onnxruntime() -> None:
    assert (
        body(WRONG_DTYPE)
        == '''\
import numpy as np
import onnxruntime
import tvm
from onnx import TensorProto, helper
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

graph = helper.make_graph(
    nodes=[helper.make_node("Dropout", ["x0"], ["v0", "v1"])],
    name="main",
    inputs=[helper.make_tensor_value_info("x0", TensorProto.FLOAT, [2])],
    outputs=[helper.make_tensor_value_info("v1", TensorProto.BOOL, [2])],
)
model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
inputs = {"x0": np.array([0.0, 1.0], dtype="float32")}

options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
expected = session.run(None, inputs)


def run_tvm():
    mod = from_onnx(model)
    with tvm.transform.PassContext(config={"tirx.disable_assert": True}):
        executable = tvm.compile(mod, "llvm")
    vm = relax.VirtualMachine(executable, tvm.cpu())
    out = vm["main"](*(tvm.runtime.tensor(x) for x in inputs.values()))
    return [out.numpy()]


def wrong_in(results, expected):
    """How results differ from what is expected: in their number, shapes, dtypes, and values."""
    if len(results) != len(expected):
        return [f"{len(results)} results instead of {len(expected)}"]
    wrong = []
    for place, (got, want) in enumerate(zip(results, expected)):
        if got.dtype != want.dtype:
            wrong.append(f"result {place} is {got.dtype} instead of {want.dtype}")
        if got.shape != want.shape:
            wrong.append(f"result {place} has the shape {got.shape} instead of {want.shape}")
        elif not np.array_equal(got, want):
            wrong.append(f"result {place} has wrong values")
    return wrong


got = run_tvm()
wrong = wrong_in(got, expected)
print("expected:", *expected, sep="\\n")
print("actual:", *got, sep="\\n")
if wrong:
    print("the bug is there:", *wrong, sep="\\n")
else:
    print("the bug is gone: number, shapes, dtypes and values of the results are those of onnxruntime")
sys.exit(1 if wrong else 0)
'''
    )


def test_the_script_and_the_report_of_a_newer_file_name_the_evaluator() -> None:
    """onnxruntime does not run opset 28."""
    newer = found(case_of({"x0": "float32[2]"}, [("v0", "Neg-13", "x0")], "v0", opset=28), Kind.WRONG_VALUE, WRONG)
    script = body(newer)
    assert "from onnx.reference import ReferenceEvaluator\n" in script
    assert "\nexpected = ReferenceEvaluator(model).run(None, inputs)\n" in script
    assert "onnxruntime" not in script
    report = issue.text(newer)
    assert "The result agrees with that of the reference evaluator of the onnx package." in report
    assert "| the reference evaluator | `2.0` |" in report


def test_the_script_converts_what_the_lane_converts() -> None:
    script = body(CONVERTED)
    assert "import onnx\n" in script
    assert "\nmodel = onnx.version_converter.convert_version(model, 18)\n" in script
    assert "initializer=[numpy_helper.from_array(" in script
    assert "not abs(float(results[0][1]) - float(expected[0][1])) <= 1e-06" in script


def built(script: str) -> onnx.ModelProto:
    """The script's `model`. What runs onnxruntime and TVM is not executed."""
    head = script.partition("\nmodel = ")
    line = head[2].partition("\n\n")[0].partition("\nonnx.checker")[0].partition("\ninputs = ")[0]
    graph = head[0][head[0].index("graph = helper") :]
    names = {"helper": helper, "TensorProto": TensorProto, "numpy_helper": numpy_helper, "onnx": onnx, "np": np}
    scope: dict[str, Any] = {**names, "ml_dtypes": ml_dtypes, "zlib": zlib, "base64": base64}
    exec(f"{graph}\nmodel = {line}", scope)
    model: onnx.ModelProto = scope["model"]
    return model


def is_the_file(case: Case) -> None:
    made = built(repro.script(found(case, Kind.REJECTED, NO_VALUE)))
    right = to_proto(render(case.bound, case.tensors).model)
    for each in (made, right):
        each.graph.name = ""
        for node in (*each.graph.node, *(node for function in each.functions for node in function.node)):
            node.attribute.sort(key=lambda attribute: attribute.name)
    assert list(made.graph.node) == list(right.graph.node)
    assert made == right


FORMS = ["plain", "constant", "as-input", "computed", "identity", "cast", "local", "branch"]


@pytest.mark.parametrize("form", FORMS)
def test_each_form_comes_out_as_it_went_in(form: str) -> None:
    calls: list[Call] = [("v0", f"Reshape-14:{form}", "x0", {"shape": (3, 2)})]
    is_the_file(case_of({"x0": "float32[2,3]"}, calls, "v0", opset=17))


def test_a_list_without_items_has_a_type() -> None:
    case = case_of({"x0": "float32[2]"}, [("v0", "Slice-1", "x0", {"starts": (), "ends": ()})], "v0", opset=9)
    assert 'helper.make_attribute("ends", [], attr_type=onnx.AttributeProto.INTS)' in body(
        found(case, Kind.REJECTED, NO_VALUE)
    )
    is_the_file(case)


@pytest.mark.parametrize("seed", range(25))
def test_any_case_comes_out_as_it_went_in(seed: int) -> None:
    is_the_file(generate(NumpySource(seed, 9), symbolic=False))


@pytest.mark.parametrize("form", ["branch", "local"])
def test_subgraphs_and_functions_have_a_description(form: str) -> None:
    """A file that was read is described as the file that was made of the case."""
    calls: list[Call] = [("v0", f"Reshape-14:{form}", "x0", {"shape": (3, 2)})]
    case = case_of({"x0": "float32[2,3]"}, calls, "v0", opset=17)
    file = render(case.bound, case.tensors).model
    assert described(to_proto(file)) == file


@pytest.mark.parametrize(("access", "compares"), [(Access.READ, True), (Access.WRITE, False)])
def test_what_a_model_writes_out_of_bounds_shows_before_results_are_compared(access: Access, compares: bool) -> None:
    of = found(ADD, Kind.OUT_OF_BOUNDS_WRITE, MemoryAccess(access, "input x0", Side.AFTER, 1, "float32"))
    assert ("expected = session.run(None, inputs)" in repro.script(of)) is compares


BFLOAT16 = case_of({"x0": "bfloat16[2]"}, [("v0", "Neg-13", "x0")], "v0", opset=17)
BFLOAT16_INSIDE = case_of(
    {"x0": "float32[2]"},
    [("v0", "Cast-13", "x0", {"to": "bfloat16"}), ("v1", "Cast-13:branch", "v0", {"to": "float32"})],
    "v1",
    opset=17,
)


@pytest.mark.slow
@pytest.mark.parametrize("case", [BFLOAT16, BFLOAT16_INSIDE])
def test_bfloat16_is_compared_with_what_onnxruntime_computes_in_float32(case: Case) -> None:
    """As the lane does: the results are those of the lane, bit by bit."""
    script = repro.script(found(case, Kind.WRONG_DTYPE, FLOATS))
    scope: dict[str, Any] = {}
    exec(script.partition("def run_tvm")[0], scope)
    outcome = runner_of(ONNX).run(PreparedCase(case, Quiet()), ONNX, Quiet())
    assert isinstance(outcome, Ran)
    (right,) = outcome.outputs
    assert [(each.dtype, each.tobytes()) for each in scope["expected"]] == [(right.dtype, right.tobytes())]


@pytest.mark.parametrize(
    ("case", "kind", "evidence"),
    [
        (TILE, Kind.REJECTED, NO_VALUE),
        (DROPOUT, Kind.WRONG_DTYPE, FLOATS),
        (ADD, Kind.WRONG_VALUE, WRONG),
        (ADD, Kind.ALIASED_OUTPUT, SideEffect(aliases=((0, "x0"),))),
    ],
)
def test_no_report_speaks_of_pytorch(case: Case, kind: Kind, evidence: Evidence) -> None:
    of = found(case, kind, evidence)
    ast.parse(repro.script(of))
    for text in (issue.text(of), repro.script(of), headline(of.finding), regression_test.source(of)):
        assert "torch" not in text.lower(), text


def test_the_issue_of_a_failed_import() -> None:
    text = issue.text(REFUSED)
    assert text.startswith(
        "# [Bug][Relax][Frontend][ONNX] `from_onnx` on `Constant` fails: no value in Constant\n\n"
        "- **What**: `from_onnx` on `Constant` fails with `ValueError`.\n"
        "- **Where**: the frontend: its converter `Constant._impl_v13`. The importer stops at `Constant`. "
        "Steps: `from_onnx`, target `llvm`, `tirx.disable_assert`, model of opset 17.\n"
        "- **Since**: Seen in TVM 0.27.0; no other release was run.\n\n"
        "### Expected behavior\n\n"
        "onnxruntime and the reference evaluator of the onnx package run this model; TVM should import, compile and "
        "run it, or say plainly that it does not support it.\n"
    )
    assert "* frontend:onnx\n" in text


def test_the_issue_of_a_wrong_dtype() -> None:
    text = issue.text(WRONG_DTYPE)
    assert text.startswith("# [Bug][Relax][Frontend][ONNX] `Dropout` gives float32 instead of bool (output `mask`)\n")
    assert "The result agrees with that of onnxruntime, and of the reference evaluator of the onnx package.\n" in text
    assert "| onnxruntime | `bool` |\n| TVM | `float32` |\n" in text


def test_the_headline_and_the_severity() -> None:
    assert headline(REFUSED.finding) == (
        "relax-onnx-model-llvm refuses a valid ONNX model in its import step: builtins.ValueError: no value in Constant"
    )
    assert severity_of(WRONG_DTYPE.doc, ["float32[2]"]).reasons == ("the result has a wrong dtype",)
    assert severity_of(CONVERTED.doc, ["float32[2]"]).reasons == (
        "the result is silently wrong",
        "only for the model converted to opset 18",
    )


def test_an_output_that_is_an_input_is_called_an_identity() -> None:
    case = case_of({"x0": "float32[2]", "x1": "float32[2]"}, [("v0", "Neg-13", "x1")], "v0 x0", opset=17)
    of = found(case, Kind.ALIASED_OUTPUT, SideEffect(aliases=((1, "x0"),)))
    assert issue.title(of) == "[Bug][Relax] Compiled `Identity` returns a tensor that shares memory with its input"


def test_the_page_leaves_out_what_the_node_leaves_out() -> None:
    text = page.html(REFUSED)
    assert "repeats=(1,), written as: list" in text
    assert "None" not in page.html(WRONG_DTYPE).partition("<pre")[0]


def test_the_regression_test_is_one_of_tvms_onnx_frontend() -> None:
    source = regression_test.source(WRONG_DTYPE)
    assert "For tests/python/relax/test_frontend_onnx.py of TVM." in source
    assert "def test_dropout_wrong_dtype():\n    graph = helper.make_graph(\n" in source
    assert "        assert got.dtype == want.dtype\n" in source


@pytest.mark.tvm
@pytest.mark.parametrize(
    ("of", "code"),
    [
        (REFUSED, 1),
        (WRONG_DTYPE, 1),
        (found(ADD, Kind.WRONG_VALUE, WRONG), 0),
        (CONVERTED, 0),
        (found(NEG, Kind.REJECTED, NO_VALUE, lane=LANES["relax-onnx-model-lifted"]), 0),  # main has no parameters
        (found(ADD, Kind.REJECTED, NO_VALUE), 0),
        (found(TILE, Kind.INTERNAL_ERROR, Raised(Stage.IMPORT, "tvm.error.InternalError", "no")), 125),
    ],
)
def test_it_tells_whether_the_bug_is_there(warm: WarmPython, of: FindingRecord, code: int, tmp_path: Path) -> None:
    done = warm.run(repro.script(of), tmp_path)
    assert done.returncode == code, done.output


@pytest.mark.tvm
@pytest.mark.parametrize("passes", [("DataflowUseInplaceCalls",), ()])
def test_a_read_that_only_the_second_call_makes_shows(
    warm: WarmPython, passes: tuple[str, ...], tmp_path: Path
) -> None:
    """TVM 0.27 adds the size in place into a folded constant: -3 becomes 0 in the first call, and stays -3 later."""
    of = case_of({"x0": "int64[]", "x1": "bool[3]"}, [("v0", "Gather-13", "x1 x0")], "v0", opset=17)
    case = replace(of, tensors={"x0": np.array(-3), "x1": np.zeros(3, bool)})
    access = MemoryAccess(Access.READ, "input x1", Side.BEFORE, 3, "bool")
    lane = replace(LANE, passes=passes, pipeline=Pipeline.CPU)
    done = warm.run(repro.script(found(case, Kind.OUT_OF_BOUNDS_READ, access, lane=lane)), tmp_path)
    assert done.returncode == bool(passes), done.output


@pytest.mark.tvm
@pytest.mark.parametrize("tensor", ["input x0", "a constant", "output 0"])
def test_tensors_of_bfloat16_stand_in_larger_buffers_too(warm: WarmPython, tensor: str, tmp_path: Path) -> None:
    case = case_of({"x0": "bfloat16[2]", "w0": "bfloat16[2]"}, [("v0", "Add-14", "x0 w0")], "v0", opset=17)
    access = MemoryAccess(Access.READ, tensor, Side.AFTER, 1, "bfloat16")
    done = warm.run(repro.script(found(case, Kind.OUT_OF_BOUNDS_READ, access)), tmp_path)
    assert done.returncode == 0, done.output
