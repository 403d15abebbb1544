"""Scripts of findings whose lane ran the model as a person gave it. The graphs of the cases say another thing."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from given_by_hand import case_of, document
from onnx import TensorProto, helper, numpy_helper
from records import record
from torch.export import Dim
from warm_python import WarmPython

from fuzzer.findings.record import FindingRecord
from fuzzer.isolate.executor import Executor
from fuzzer.isolate.reports import ScriptRun
from fuzzer.lanes import EVERY_TVM_LANE
from fuzzer.lanes.onnx.description import described
from fuzzer.lanes.onnx.given import given_file, without_numbers
from fuzzer.report import issue, own_script, regression_test, repro
from fuzzer.report.given_calls import Names, NoScript
from fuzzer.report.given_program import program_source
from fuzzer.report.no_script import why_no_script
from fuzzer.triage import exported
from generators.graph import Case
from oracles.finding import Kind, Mismatch, WorstElement
from oracles.lane import Importer
from oracles.outcome import Frame, Raised, Stage

LANES = {lane.name: lane for lane in EVERY_TVM_LANE}
OPEN, PLAIN, OF_FILE = (LANES[name] for name in ("relax-export-symbolic", "relax-export-llvm", "relax-onnx-model-llvm"))
REFUSED = Raised(Stage.IMPORT, "TypeError", "Mismatched type on argument #0", (Frame("a.py", 1, "f"),))
WRONG = Mismatch(0, "1.0", "2.0", WorstElement((0, 0), 1.0, 2.0, 1e-6, 1e-8))
X = np.array([[-1, 2, 3], [4, -5, 6]], np.float32)
W = np.array([[1, 2], [3, 4], [5, 6]], np.float32)


class Flat(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = torch.nn.Parameter(torch.zeros(3, 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(x.shape[0], -1) @ self.w


def flat() -> Case:
    model = document(Flat(), (torch.zeros(5, 3),), dynamic_shapes=({0: Dim("rows", max=9)},))
    return case_of("torch", "neg", model, {"x0": "x", "w0": "p_w"}, {"w0": W, "x0": X}, open=True)


OF_A_PROGRAM = '''"""`from_exported_program` on `torch.neg` fails: Mismatched type on argument #0

Exits 1 while the bug is there, 0 when it is gone, 125 when it cannot tell. (difftvm SIGNATURE)
"""

import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # other failures: cannot tell

import numpy as np
import torch
import tvm
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


class Model(torch.nn.Module):
    def __init__(self, p_w):
        super().__init__()
        self.p_w = torch.nn.Parameter(p_w)

    def forward(self, x):
        sym_size_int_1 = x.shape[0]
        view = torch.ops.aten.view.default(x, [sym_size_int_1, -1])
        matmul = torch.ops.aten.matmul.default(view, self.p_w)
        return (matmul,)


torch.set_grad_enabled(False)
model = Model(p_w=torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).eval()
inputs = (torch.tensor([[-1.0, 2.0, 3.0], [4.0, -5.0, 6.0]]),)
expected = [output.numpy() for output in model(*inputs)]


def run_tvm():
    s77 = torch.export.Dim("s77", min=0, max=9)
    static, auto = torch.export.Dim.STATIC, torch.export.Dim.AUTO
    sample = (torch.zeros((5, 3), dtype=torch.float32),)  # other sizes than those it will run at
    try:
        program = torch.export.export(model, sample, dynamic_shapes=((s77, static),))
    except torch._dynamo.exc.UserError:
        program = torch.export.export(model, sample, dynamic_shapes=((auto, static),))
    mod = from_exported_program(program)
    with tvm.transform.PassContext(config={"tirx.disable_assert": True}):
        executable = tvm.compile(mod, "llvm")
    vm = relax.VirtualMachine(executable, tvm.cpu())
    out = vm["main"](*(tvm.runtime.tensor(x.numpy()) for x in inputs))
    return [x.numpy() for x in out]


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
    print("expected: no error; PyTorch gives", *expected)
    print(f"actual: {type(error).__name__}: {error}")
    same = type(error).__name__ == "TypeError"
    sys.exit(1 if same and "Mismatched type on argument #" in str(error) else 125)
wrong = wrong_in(got, expected)
if wrong:
    print("the bug is there:", *wrong, sep="\\n")
else:
    print("the bug is gone: number, shapes, dtypes and values of the results are those of PyTorch")
sys.exit(1 if wrong else 0)
'''


def script_of(found: FindingRecord) -> str:
    return repro.script(found).replace(found.doc.signature, "SIGNATURE")


def test_the_script_of_a_program_makes_its_calls_and_keeps_its_sizes_open() -> None:
    assert script_of(record(flat(), Kind.INTERNAL_ERROR, OPEN, REFUSED)) == OF_A_PROGRAM


def test_the_script_of_an_exported_file_keeps_its_sizes_open() -> None:
    """The file of the finding cannot be described here, so that the script exports it."""
    lane = replace(OPEN, importer=Importer.ONNX_DYNAMO)
    text = script_of(record(flat(), Kind.INTERNAL_ERROR, lane, REFUSED))
    assert "program = torch.export.export(model, sample, dynamic_shapes=((s77, static),))" in text
    assert "torch.onnx.export(program, (), file, dynamo=True, input_names=names)" in text
    fixed = script_of(record(flat(), Kind.INTERNAL_ERROR, replace(lane, symbolic=False), REFUSED))
    assert "torch.onnx.export(model, inputs, file, dynamo=True, input_names=names)" in fixed


def file_case() -> Case:
    weight = numpy_helper.from_array(np.zeros_like(W), "weight")
    nodes = [helper.make_node("MatMul", ["in", "weight"], ["m"]), helper.make_node("Relu", ["m"], ["out"])]
    inputs = [helper.make_tensor_value_info("in", TensorProto.FLOAT, ("n", 3))]
    outputs = [helper.make_tensor_value_info("out", TensorProto.FLOAT, ("n", 2))]
    graph = helper.make_graph(nodes, "g", inputs, outputs, [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    names = {"x0": "in", "w0": "weight"}
    return case_of("onnx", "Neg-13", without_numbers(model, {"weight"}), names, {"w0": W, "x0": X}, opset=13, open=True)


OF_A_FILE = '''"""`from_onnx` on `MatMul` + `Relu` fails: Mismatched type on argument #0

Exits 1 while the bug is there, 0 when it is gone, 125 when it cannot tell. (difftvm SIGNATURE)
"""

import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # other failures: cannot tell

import numpy as np
import onnx
import tvm
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

graph = helper.make_graph(
    nodes=[
        helper.make_node("MatMul", ["in", "weight"], ["m"]),
        helper.make_node("Relu", ["m"], ["out"]),
    ],
    name="main",
    inputs=[helper.make_tensor_value_info("in", TensorProto.FLOAT, DIMS)],
    outputs=[helper.make_tensor_value_info("out", TensorProto.FLOAT, ["n", 2])],
    initializer=[numpy_helper.from_array(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype="float32"), "weight")],
)
model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])
onnx.checker.check_model(model, full_check=True)
inputs = {"in": np.array([[-1.0, 2.0, 3.0], [4.0, -5.0, 6.0]], dtype="float32")}


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
    same = type(error).__name__ == "TypeError"
    sys.exit(1 if same and "Mismatched type on argument #" in str(error) else 125)
expected = ReferenceEvaluator(model).run(None, inputs)
wrong = wrong_in(got, expected)
if wrong:
    print("the bug is there:", *wrong, sep="\\n")
else:
    print("the bug is gone: number, shapes, dtypes and values of the results are those of onnx.reference")
sys.exit(1 if wrong else 0)
'''


@pytest.mark.parametrize(("symbolic", "dims"), [(True, '["n", 3]'), (False, "[2, 3]")])
def test_the_script_of_a_file_builds_it(symbolic: bool, dims: str) -> None:
    case, lane = file_case(), replace(OF_FILE, symbolic=symbolic)
    model = described(given_file(case, open_sizes=symbolic))
    made = script_of(record(case, Kind.INTERNAL_ERROR, lane, REFUSED, onnx=model))
    assert made == OF_A_FILE.replace("DIMS", dims)


def test_the_inputs_of_a_file_have_its_names() -> None:
    case = file_case()
    model = described(given_file(case, open_sizes=False))
    made = script_of(record(case, Kind.WRONG_VALUE, OF_FILE, WRONG, onnx=model))
    assert 'inputs = {"in": np.array([[-1.0, 2.0, 3.0], [4.0, -5.0, 6.0]], dtype="float32")}' in made


# --- programs as source


class Sizes(torch.nn.Module):
    def forward(self, time: torch.Tensor) -> torch.Tensor:
        rows = time.shape[0]
        return time.view(rows * 2 // 2, -1) + time.numel() + rows / 2 + torch.arange(rows * 3).view(rows, -1)


class Branches(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = lambda x: torch.cond(x.sum() > 1, lambda x: x.sin() + x.shape[0], lambda x: x.cos(), (x,))
        y: torch.Tensor = torch.cond(x.shape[0] > 3, inner, lambda x: -x, (x,))
        return y


class Data(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x[x > 0] * 2, x.split([1, 1])[1].clamp(min=float("-inf"))


class Changes(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("b", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        assert isinstance(self.b, torch.Tensor)
        self.b.add_(1)
        return x.mul_(2) + self.b


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "dims", "changes"),
    [
        (Sizes(), {0: Dim.AUTO}, False),
        (Branches(), {0: Dim.AUTO}, False),
        (Data(), {}, False),
        (Changes(), {}, True),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_source_of_a_program_computes_what_it_does(
    model: torch.nn.Module, dims: dict[int, Any], changes: bool
) -> None:
    program = document(copy.deepcopy(model), (torch.zeros(2, 3),), dynamic_shapes=(dims,))
    buffers = {f"b_{name}": buffer.numpy() for name, buffer in model.named_buffers()}
    names = {"x0": "time" if isinstance(model, Sizes) else "x", **{f"w{at}": name for at, name in enumerate(buffers)}}
    arrays = {**{f"w{at}": array for at, array in enumerate(buffers.values())}, "x0": X}
    made = program_source(case_of("torch", "neg", program, names, arrays))
    namespace: dict[str, Any] = {"torch": torch}
    exec(made.source, namespace)
    own = namespace["Model"](*map(torch.tensor, buffers.values()))
    found = own(torch.tensor(X))
    right = model(torch.tensor(X))
    expected = right if isinstance(right, tuple) else (right,)
    assert [each.tolist() for each in found] == [each.tolist() for each in expected]
    assert made.changes is changes


def test_a_model_that_changes_its_inputs_gets_copies() -> None:
    model = document(Changes(), (torch.zeros(2, 3),))
    arrays = {"w0": np.zeros(3, np.float32), "x0": X}
    case = case_of("torch", "neg", model, {"x0": "x", "w0": "b_b"}, arrays)
    made = repro.script(record(case, Kind.WRONG_VALUE, PLAIN, WRONG))
    assert "for output in copy.deepcopy(model)(*copy.deepcopy(inputs))]" in made
    assert '        self.register_buffer("b_b", b_b)\n' in made


def test_names_of_the_script_are_not_those_of_the_program() -> None:
    names = Names()
    assert [names.new(text) for text in ("x", "time", "time_", "torch", "class", "x")] == [
        *("x", "time_", "time__", "torch_", "class_", "x_"),
    ]
    for text in ("a b", "é", "", "a.b", "x\n", "x" * 300):
        with pytest.raises(NoScript, match="no name of Python"):
            names.new(text)


# --- what has no script

GIVEN = "`fuzz --replay` with the folder of the finding runs the given model."


def without(case: Case, change: Any) -> Case:
    """The case whose program is changed by `change`, in place."""
    assert case.given is not None
    program = msgspec.json.decode(case.given.model)
    change(program["graph_module"])
    return replace(case, given=replace(case.given, model=msgspec.json.encode(program)))


def of_a_table(module: Any) -> None:
    module["graph"]["nodes"][1]["inputs"][1]["arg"] = {"as_device": {"type": "cuda", "index": 0}}


def of_a_parameter(module: Any) -> None:
    module["graph"]["nodes"][1]["inputs"][0]["arg"] = {"as_tensor": {"name": "p_other"}}


def with_a_mutation(module: Any) -> None:
    module["signature"]["output_specs"][0] = {"buffer_mutation": {"arg": {"name": "view"}, "buffer_name": "b"}}


def with_a_number(module: Any) -> None:
    module["signature"]["input_specs"].append({"constant_input": {"name": "scale", "value": {"as_float": 0.5}}})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (with_a_number, "takes a number or another value of Python beside its tensors"),
        (of_a_table, "has an argument that a script cannot write"),
        (of_a_parameter, "reads 'p_other', for which there are no numbers"),
        (with_a_mutation, "gives new numbers of its buffers or inputs as results"),
    ],
)
def test_a_program_that_cannot_be_written_says_so(change: Any, why: str) -> None:
    found = record(without(flat(), change), Kind.WRONG_VALUE, OPEN, WRONG)
    sentence = f"No script shows this failure: the given program {why}. {GIVEN}"
    assert why_no_script(found) == sentence
    made = repro.script(found)
    assert "sys.exit(125)" in made
    assert "class Model" not in made
    assert "the bug is gone" not in made
    steps = issue.body(found).partition("### Steps to reproduce")[2].partition("### Triage")[0]
    assert "```" not in steps
    assert "No script shows this failure" in steps
    assert own_script.run(lambda *_: pytest.fail("it is run"), found) == ScriptRun(None, sentence)
    assert regression_test.test_to_show(lambda *_: pytest.fail("it is run"), found) is None


@pytest.mark.parametrize(
    ("ended", "why"),
    [
        (ScriptRun(1), ""),
        (ScriptRun(None, "it needs a device"), ""),
        (ScriptRun(0), "that of the given model says that the bug is gone (exit code 0)"),
        (ScriptRun(125), "that of the given model cannot tell whether the bug is there (exit code 125)"),
    ],
)
def test_a_script_that_did_not_show_the_failure_is_not_shown(ended: ScriptRun, why: str) -> None:
    found = record(flat(), Kind.INTERNAL_ERROR, OPEN, REFUSED)
    found = replace(found, doc=msgspec.structs.replace(found.doc, script=ended))
    assert why_no_script(found) == (f"No script shows this failure: {why}. {GIVEN}" if why else "")
    assert ("class Model" in repro.script(found)) is not bool(why)


def test_a_file_without_description_says_so() -> None:
    found = record(file_case(), Kind.INTERNAL_ERROR, OF_FILE, REFUSED)
    assert why_no_script(found).startswith("No script shows this failure: the given file cannot be described as data.")


# --- with TVM


class Resized(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.interpolate(x, size=y.shape[-2:], mode="nearest") + y


@pytest.mark.tvm
def test_the_script_of_a_failure_with_open_sizes_shows_it(warm: WarmPython, tmp_path: Path) -> None:
    """The importer of TVM 0.27 does not take a size that is computed."""
    shapes = ({}, {2: Dim.AUTO, 3: Dim.AUTO})
    model = document(Resized(), (torch.zeros(1, 2, 3, 3), torch.zeros(1, 2, 7, 6)), dynamic_shapes=shapes)
    arrays = {"x0": np.ones((1, 2, 3, 3), np.float32), "x1": np.ones((1, 2, 4, 4), np.float32)}
    case = case_of("torch", "neg", model, {"x0": "x", "x1": "y"}, arrays, open=True)
    done = warm.run(repro.script(record(case, Kind.INTERNAL_ERROR, OPEN, REFUSED)), tmp_path)
    assert done.returncode == 1, done.output


@pytest.mark.tvm
@pytest.mark.parametrize("symbolic", [True, False])
def test_the_child_describes_the_given_file(
    executor: Executor, warm: WarmPython, symbolic: bool, tmp_path: Path
) -> None:
    case, lane = file_case(), replace(OF_FILE, symbolic=symbolic)
    model = exported.given_file(executor.run, case, lane)
    assert model == described(given_file(case, open_sizes=symbolic))
    done = warm.run(repro.script(record(case, Kind.WRONG_VALUE, OF_FILE, WRONG, onnx=model)), tmp_path)
    assert done.returncode == 0, done.output
    assert "expected:\n[[20. 24.]" in done.output


@pytest.mark.tvm
def test_the_script_of_an_exported_file_with_open_sizes_runs(warm: WarmPython, tmp_path: Path) -> None:
    lane = replace(OPEN, importer=Importer.ONNX_DYNAMO)
    text = repro.script(record(flat(), Kind.WRONG_VALUE, lane, WRONG))
    shows = text.replace("    mod = from_onnx(", "    print(onnx_model.graph.input[0].type)\n    mod = from_onnx(")
    done = warm.run(shows, tmp_path)
    assert done.returncode == 0, done.output
    assert "dim_param" in done.output
