"""`difftvm.check` on real models, right and wrong, and the example of docs/library.md."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper

import difftvm
from fuzzer.api.checked import NothingRan
from fuzzer.api.exported_module import ExportedModule
from generators.graph import Invalid

pytestmark = pytest.mark.tvm

ROOT = Path(__file__).parents[3]
REFUSES_A_NAME = """
from tvm.relax.frontend.onnx.onnx_frontend import ONNXGraphImporter

from_onnx = ONNXGraphImporter.from_onnx

def changed(self, graph, opset):
    if ("Relu", "r") in [(node.op_type, node.output[0]) for node in graph.node]:
        raise ValueError("a Relu with the result r")
    return from_onnx(self, graph, opset)

ONNXGraphImporter.from_onnx = changed
"""
CHANGED = ROOT / "docs" / "examples" / "changed_relu.py"
NO_RELU = """
from tvm.relax.frontend.onnx import onnx_frontend

onnx_frontend.Relu._impl_v13 = classmethod(lambda cls, bb, inputs, attr, params: inputs[0])
"""


@pytest.fixture(scope="module", autouse=True)
def _closed() -> Iterator[None]:
    with difftvm.session():
        yield


@pytest.mark.long
def test_a_right_model_says_what_ran(tmp_path: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.GELU())
    checked = difftvm.check(model, torch.randn(2, 3), lanes="relax-export-llvm,relax-fx-llvm", folder=tmp_path)
    why = "the model is given as an exported program, which nothing traces again"
    assert (checked.ran, checked.not_run) == (("relax-export-llvm",), (("relax-fx-llvm", why),))
    assert (checked.cases, checked.not_covered, checked.not_confirmed) == (1, (), ())
    assert list(tmp_path.iterdir()) == []


def test_passes_come_after_those_that_they_require() -> None:
    checked = difftvm.check(torch.nn.ReLU(), torch.randn(2), lanes="relax-export-llvm", passes=["FuseTIR"])
    assert checked.ran == ("relax-export-llvm-passes",)


def test_a_pass_that_the_preloaded_file_registers_is_run(tmp_path: Path) -> None:
    """It leaves out every relu."""
    preload = tmp_path / "my_passes.py"
    preload.write_text("""
import difftvm, tvm
from tvm import relax

@relax.expr_functor.mutator
class Drop(relax.PyExprMutator):
    def visit_call_(self, call):
        call = super().visit_call_(call)
        return call.args[0] if call.op == tvm.ir.Op.get("relax.nn.relu") else call

@tvm.transform.module_pass(opt_level=0, name="drop")
def drop(mod, ctx):
    for var, function in mod.functions_items():
        if isinstance(function, relax.Function):
            mod[var] = Drop(mod).visit_expr(function)
    return mod

difftvm.register_pass("drop", drop)
""")
    options: dict[str, Any] = {"lanes": "relax-export-llvm", "preload": preload, "folder": tmp_path, "reduce": False}
    with pytest.raises(
        difftvm.FindingError, match=r"^`torch\.relu` after `own:drop` gives wrong values: -1 instead of 0"
    ):
        difftvm.check(torch.nn.ReLU(), torch.tensor([-1.0, 2.0]), passes=["own:drop"], **options)
    with pytest.raises(Invalid, match="no pass is registered as 'other' in this process"):
        difftvm.check(torch.nn.ReLU(), torch.tensor([-1.0, 2.0]), passes=["own:other"], **options)


@pytest.mark.parametrize(
    ("passes", "says"),
    [
        (["DynamicToStatic"], "there is no pass 'DynamicToStatic'"),
        (["VMShapeLower", "ConvertLayout-NHWC"], "the pass ConvertLayout-NHWC cannot follow VMShapeLower"),
    ],
)
def test_passes_that_no_compilation_can_run_so_are_refused(passes: list[str], says: str) -> None:
    """The first is one of Relay."""
    with pytest.raises(Invalid, match=says):
        difftvm.check(torch.nn.ReLU(), torch.randn(2), lanes="relax-export-llvm", passes=passes)


@pytest.mark.long
def test_a_wrong_model_raises_with_a_script_that_shows_it(tmp_path: Path) -> None:
    model = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Softmax(-1))
    with pytest.raises(difftvm.FindingError, match=r"`torch\.relu` gives wrong values") as error:
        difftvm.check(model, torch.randn(2, 3, 4), lanes="relax-export-llvm", preload=CHANGED, folder=tmp_path)
    found = next(each for each in error.value.findings if each.kind == "wrong-value")
    assert (found.operators, found.slug) == (("relu",), "wrong-value-relu-f42a3714d19c")
    assert found.folder == tmp_path / "crashes" / found.slug
    assert found.replay == f"fuzz --replay {found.folder} --preload {CHANGED}"
    shown = subprocess.run([sys.executable, found.repro, CHANGED], capture_output=True)
    assert shown.returncode == 1


class Fn(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x)


LANE = "relax-export-llvm"


@pytest.mark.long
def test_a_failure_for_the_persons_target_that_is_known_from_another_model(tmp_path: Path) -> None:
    """TVM writes infinities as `inff` in C. Nothing fails for llvm, which runs by default."""
    attention = Fn(lambda x: torch.nn.functional.scaled_dot_product_attention(x, x, x))
    x = torch.ones(1, 1, 2, 4)
    assert difftvm.check(attention, x, lanes=LANE, folder=tmp_path).ran == (LANE,)
    with pytest.raises(difftvm.FindingError) as error:
        difftvm.check(attention, x, lanes=LANE, target="c", folder=tmp_path)
    (first,) = error.value.findings
    assert (first.operators, first.nodes, first.known_as) == (("scaled_dot_product_attention",), (0,), "")
    assert error.value.checked is not None
    assert error.value.checked.ran == (LANE,)
    with pytest.raises(difftvm.FindingError) as error:
        difftvm.check(Fn(lambda x: x.sin().clamp(min=0.1).exp()), x, lanes=LANE, target="c", folder=tmp_path)
    (second,) = error.value.findings
    assert (second.operators, second.nodes, second.known_as) == (("clamp",), (1,), first.slug)
    assert (second.folder, second.repro) == (first.folder, first.repro)
    title = (
        f"the same failure as {first.slug}, here at `clamp` (node 1): the C compiler refuses the code of `torch.clamp`"
    )
    assert str(error.value).startswith(title)


def test_code_that_no_device_here_runs_is_only_compiled(tmp_path: Path) -> None:
    checked = difftvm.check(torch.nn.ReLU(), torch.ones(2), lanes=LANE, target="metal", folder=tmp_path)
    assert checked.ran == (LANE, "relax-export-metal")
    why = "nothing here runs its code, and no program that difftvm knows checks it"
    assert checked.not_judged == (f"relax-export-metal: it is only compiled: {why}",)


def of_opset_28(path: Path, op: str, element: int = TensorProto.FLOAT) -> Path:
    values = [helper.make_tensor_value_info(name, element, [3]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"])], "g", values[:1], values[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 28)]), path)
    return path


def test_a_file_that_is_newer_than_onnxruntime_is_judged_by_the_evaluator_alone(tmp_path: Path) -> None:
    path = of_opset_28(tmp_path / "m.onnx", "Tanh")
    checked = difftvm.check(path, {"x": np.ones(3, np.float32)}, folder=tmp_path / "f", strict=True)
    assert (checked.ran, checked.not_judged) == (("relax-onnx-model-llvm",), ())
    ((lane, why),) = checked.not_run
    assert lane == "onnx"
    assert why.startswith("load: Unsupported model IR version: ")


def test_a_branch_of_a_model_is_compiled(tmp_path: Path) -> None:
    model = Fn(lambda x: torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos() + 1, (x,)).exp())
    checked = difftvm.check(model, torch.ones(3), lanes=LANE, folder=tmp_path, strict=True)
    assert (checked.ran, checked.whole, checked.cases, checked.not_judged) == ((LANE,), True, 1, ())


def test_a_number_that_data_gives_is_computed(tmp_path: Path) -> None:
    checked = difftvm.check(Fn(lambda x: x * x.sum().item()), torch.ones(3), lanes=LANE, folder=tmp_path, strict=True)
    assert checked.ran == (LANE,)


def test_what_tvm_refuses_is_named_in_its_words_and_the_rest_is_checked(tmp_path: Path) -> None:
    model = Fn(lambda x: torch.digamma(torch.fft.rfft(x).abs().log1p() + 1).exp())
    checked = difftvm.check(model, torch.ones(2, 4), lanes=LANE, folder=tmp_path)
    assert (checked.whole, checked.ran, checked.cases) == (False, (LANE,), 2)
    assert checked.not_covered == (
        "aten.fft_rfft+aten.abs (1 time): import: Unsupported function types ['_fft_r2c.default']",
        "digamma (1 time): import: Unsupported function types ['digamma.default']",
    )
    ((lane, why),) = checked.not_run
    assert (lane, why.partition("; ")[2]) == (LANE, "it ran the rest, without `aten.fft_rfft+aten.abs`, `digamma`")
    assert checked.judged > 0


def test_the_rest_of_a_program_that_changes_values_in_place_is_a_part_of_it(tmp_path: Path) -> None:
    model = Fn(lambda x: torch.digamma(x.exp().add_(1)).relu_())
    with pytest.raises(difftvm.FindingError) as error:
        difftvm.check(model, -2 * torch.ones(1, 1, 2), lanes=LANE, preload=CHANGED, folder=tmp_path, reduce=False)
    checked = error.value.checked
    assert checked is not None
    assert (checked.in_form, checked.not_given) == ((), "")
    assert checked.not_covered == ("digamma (1 time): import: Unsupported function types ['digamma.default']",)
    (found,) = error.value.findings
    assert (found.operators, found.nodes) == (("exp", "add_scalar", "relu"), (0, 1, 3))
    shown = subprocess.run([sys.executable, found.repro, CHANGED], capture_output=True, text=True)
    assert shown.returncode == 1, shown.stderr
    assert "torch.ops.aten.relu_.default(digamma__copy)" in found.repro.read_text()


def test_the_rest_of_a_program_that_is_read_without_its_changes_is_checked_in_our_form(tmp_path: Path) -> None:
    def changed_part(x: torch.Tensor) -> torch.Tensor:
        y = torch.digamma(x)
        y[0] += 1
        return y.relu()

    checked = difftvm.check(
        Fn(changed_part), 0.1 * torch.ones(1, 1, 2), lanes=LANE, preload=CHANGED, folder=tmp_path, reduce=False
    )
    assert [each.kind for each in checked.in_form] == ["wrong-value"]
    assert checked.not_given == "a part of it is no program of its own"


def with_det(path: Path) -> Path:
    """A file with an operator that TVM does not import."""
    x, y = (helper.make_tensor_value_info(*each) for each in (("x", 1, [3, 2, 2]), ("y", 1, [3])))
    nodes = [helper.make_node(op, [x], [y]) for op, x, y in (("Relu", "x", "r"), ("Det", "r", "d"), ("Selu", "d", "y"))]
    onnx.save(
        helper.make_model(
            helper.make_graph(nodes, "g", [x], [y]), opset_imports=[helper.make_opsetid("", 17)], ir_version=8
        ),
        path,
    )
    return path


def test_the_rest_of_a_file_is_checked_where_tvm_refuses_an_operator(tmp_path: Path) -> None:
    path, changed = with_det(tmp_path / "det.onnx"), tmp_path / "changed.py"
    words = "import: The following operators are not supported for frontend ONNX: Det"
    checked = difftvm.check(path, folder=tmp_path)
    assert (checked.ran, checked.not_covered) == (("relax-onnx-model-llvm",), (f"Det (1 time): {words}",))
    changed.write_text(NO_RELU)
    with pytest.raises(difftvm.FindingError, match="Relu") as error:
        difftvm.check(path, {"x": -np.ones((3, 2, 2), np.float32)}, preload=changed, folder=tmp_path)
    (found,) = error.value.findings
    assert (found.kind, found.operators, found.nodes) == ("wrong-value", ("Relu",), (0,))


def in_file(path: Path, nodes: Sequence[onnx.NodeProto], *results: str, functions: Sequence[Any] = ()) -> Path:
    """A file with the input x and these results, all float32[2,2]."""
    x, *outputs = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 2]) for name in ("x", *results))
    opsets = [helper.make_opsetid("", 17), *([helper.make_opsetid("own", 1)] if functions else ())]
    graph = helper.make_graph(nodes, "g", [x], outputs)
    onnx.save(helper.make_model(graph, functions=functions, opset_imports=opsets, ir_version=8), path)
    return path


def test_a_failure_hides_no_other_failure_of_a_file(tmp_path: Path) -> None:
    """Neg is not imported, which ends the run of the file, and each Relu is left out."""
    changed = tmp_path / "changed.py"
    changed.write_text(f"""{NO_RELU}
def fails(cls, bb, inputs, attr, params):
    raise ValueError("no Neg of mine")

onnx_frontend.Neg._impl_v13 = classmethod(fails)
""")
    steps = [("Neg", "x", "n"), ("Exp", "n", "e"), ("Neg", "e", "y"), ("Relu", "x", "r"), ("Tanh", "r", "z")]
    path = in_file(tmp_path / "two.onnx", [helper.make_node(op, [x], [y]) for op, x, y in steps], "y", "z")
    with pytest.raises(difftvm.FindingError) as error:
        difftvm.check(path, {"x": -np.ones((2, 2), np.float32)}, preload=changed, folder=tmp_path / "found")
    assert [(each.kind, each.operators) for each in error.value.findings] == [
        ("internal-error", ("Neg",)),
        ("wrong-value", ("Relu",)),
    ]
    checked = error.value.checked
    assert checked is not None
    assert checked.not_covered == ("Neg (2 times): TVM fails on it, or on one like it",), "TVM compiles Relu"
    assert checked.not_run == (
        ("relax-onnx-model-llvm", "import: ValueError: no Neg of mine; it ran the rest, without `Neg`"),
    )
    assert (checked.ran, checked.judged) == (("relax-onnx-model-llvm",), 8)


def test_a_function_that_tvm_refuses_is_named_and_not_what_it_calls(tmp_path: Path) -> None:
    inside = [helper.make_node("Abs", ["a"], ["i"]), helper.make_node("Exp", ["i"], ["b"])]
    function = helper.make_function("own", "Grow", ["a"], ["b"], inside, [helper.make_opsetid("", 17)])
    nodes = [helper.make_node("Grow", ["x"], ["y"], domain="own"), helper.make_node("Tanh", ["x"], ["z"])]
    path = in_file(tmp_path / "grow.onnx", nodes, "y", "z", functions=[function])
    checked = difftvm.check(path, folder=tmp_path)
    words = "import: The following operators are not supported for frontend ONNX: Grow"
    assert checked.not_covered == (f"Grow (1 time): {words}",)
    assert checked.not_run == (("relax-onnx-model-llvm", f"{words}; it ran the rest, without `Grow`"),)


def test_a_model_of_one_operator_that_tvm_refuses_has_nothing_to_check(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"^no lane ran: .*Unsupported function types \['digamma\.default'\]$"):
        difftvm.check(Fn(torch.digamma), torch.ones(2), lanes=LANE, folder=tmp_path)


def test_what_neither_tvm_nor_a_reference_supports_is_named_in_both_words(tmp_path: Path) -> None:
    x, y = (helper.make_tensor_value_info(*each) for each in (("x", 2, [3]), ("y", 2, [2, 2, 3])))
    graph = helper.make_graph([helper.make_node("ImageDecoder", ["x"], ["y"])], "g", [x], [y])
    path = tmp_path / "decoder.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    with pytest.raises(NothingRan) as error:
        difftvm.check(path, {"x": np.ones(3, np.uint8)}, folder=tmp_path)
    assert [name for name, _ in error.value.checked.not_run] == ["relax-onnx-model-llvm"]
    of_tvm, _, of_reference = str(error.value).partition("; ")
    words = "import: The following operators are not supported for frontend ONNX: ImageDecoder"
    assert of_tvm == f"no lane ran: relax-onnx-model-llvm: {words}"
    assert of_reference.startswith(
        "onnxruntime refuses the model decoder: load: [ONNXRuntimeError] : 9 : NOT_IMPLEMENTED"
    )


def test_what_no_lane_compiled_is_named_and_fails_a_strict_check(tmp_path: Path) -> None:
    """Random numbers cut the model. TVM compiles the part after them, and refuses the one before."""
    model = Fn(lambda x: torch.nn.functional.dropout(torch.fft.rfft(x).abs(), 0.5, training=True).relu())
    x = torch.ones(2, 4)
    checked = difftvm.check(model, x, lanes=LANE, folder=tmp_path)
    assert (checked.whole, checked.cases, checked.ran) == (False, 2, (LANE,))
    random, spectrum = checked.not_covered
    assert random == "dropout (1 time): it draws random numbers, so that no two results can be compared"
    assert spectrum == "aten.fft_rfft+aten.abs (1 time): import: Unsupported function types ['_fft_r2c.default']"
    ((lane, why),) = checked.not_run
    assert lane == LANE
    assert why.startswith("import: Unsupported function")
    with pytest.raises(difftvm.NotWhole, match=r"^not all of the model was compiled") as error:
        difftvm.check(model, x, lanes=LANE, folder=tmp_path, strict=True)
    assert error.value.checked.not_covered == (random, spectrum)


@pytest.mark.long
def test_a_call_without_a_row_that_fails_has_a_script_that_shows_it(tmp_path: Path) -> None:
    model = Fn(lambda x: torch.relu(torch.exp(x)[x > 0]) + 1)
    with pytest.raises(difftvm.FindingError) as error:
        difftvm.check(model, torch.tensor([[1.0, -1.0], [2.0, 0.5]]), lanes=LANE, folder=tmp_path)
    (found,) = error.value.findings
    assert (found.kind, found.operators) == ("internal-error", ("aten.index",))
    assert subprocess.run([sys.executable, found.repro], capture_output=True).returncode == 1


def test_an_onnx_file_is_checked_and_a_wrong_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    torch.onnx.export(torch.nn.ReLU(), (torch.randn(2, 3),), path, dynamo=False, input_names=["x"])
    checked = difftvm.check(path, {"x": np.ones((2, 3), np.float32)}, folder=tmp_path)
    assert checked.ran == ("relax-onnx-model-llvm",), "the file's own nodes, and no lane of PyTorch"
    with pytest.raises(ValueError, match=r"no lane of cases of onnx matches 'relax-onnx-llvm'; `fuzz lanes` lists"):
        difftvm.check(path, lanes="relax-onnx-llvm", folder=tmp_path)
    with pytest.raises(Invalid, match="it has no input 'y'; its inputs are x"):
        difftvm.check(path, {"y": torch.ones(2, 3).numpy()})


def test_a_size_that_depends_on_data_is_compiled(tmp_path: Path) -> None:
    """There is no row of NonZero: TVM imports the node of the file."""
    path = tmp_path / "places.onnx"
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("NonZero", ["a"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
        [helper.make_tensor_value_info("y", TensorProto.INT64, [2, "count"])],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    checked = difftvm.check(path, {"x": np.array([[1, -1, 2], [0, 3, -4]], np.float32)}, folder=tmp_path / "found")
    assert (checked.ran, checked.not_run) == (("relax-onnx-model-llvm",), ())
    assert (checked.not_covered, checked.not_confirmed) == ((), ())


@pytest.mark.long
def test_a_wrong_onnx_file_raises_with_the_node_of_the_file(tmp_path: Path) -> None:
    changed = tmp_path / "changed.py"
    changed.write_text(NO_RELU)
    model = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Softmax(-1))
    torch.onnx.export(model, (torch.randn(2, 3),), tmp_path / "net.onnx", dynamo=False, opset_version=13)
    with pytest.raises(difftvm.FindingError) as error:
        difftvm.check(tmp_path / "net.onnx", lanes="relax-onnx-model-llvm", preload=changed, folder=tmp_path)
    (found,) = error.value.findings
    assert (found.kind, found.operators) == ("wrong-value", ("Relu",))
    shown = subprocess.run([sys.executable, found.repro, changed], capture_output=True)
    assert shown.returncode == 1


@pytest.mark.long
def test_what_only_the_given_file_shows_is_reduced_to_a_part_of_it(tmp_path: Path) -> None:
    changed, path = tmp_path / "changed.py", tmp_path / "net.onnx"
    changed.write_text(REFUSES_A_NAME)
    nodes = [helper.make_node(op, [x], [y]) for op, x, y in (("Abs", "x", "a"), ("Relu", "a", "r"), ("Exp", "r", "y"))]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 2]) for name in "xy")
    graph = helper.make_graph(nodes, "net", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    with pytest.raises(difftvm.FindingError, match="a Relu with the result r") as error:
        difftvm.check(path, preload=changed, folder=tmp_path)
    (found,) = error.value.findings
    assert (found.operators, found.nodes) == (("Relu",), (1,))
    shown = subprocess.run([sys.executable, found.repro, changed], capture_output=True)
    assert shown.returncode == 1


@pytest.mark.long
def test_a_failure_of_a_form_of_the_model_alone_raises_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(self: object) -> bytes:
        raise Invalid("PyTorch cannot write the program: no")

    monkeypatch.setattr(ExportedModule, "document", refused)
    x = -torch.ones(2, 3, 4)
    checked = difftvm.check(torch.nn.ReLU(), x, lanes=LANE, preload=CHANGED, folder=tmp_path, reduce=False)
    (found,) = checked.in_form
    assert (found.kind, found.operators, checked.not_given) == (
        "wrong-value",
        ("relu",),
        "PyTorch cannot write the program: no",
    )
    assert f"seen in difftvm's form of the model, not in yours ({checked.not_given}): " in capsys.readouterr().err


def clip_file(folder: Path) -> Path:
    """A file with a Clip without bounds, for which TVM returns its input."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Clip", ["x"], ["y"])], "clip", [x], [y])
    path = folder / "clip.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return path


def test_an_output_in_the_memory_of_an_input_is_a_failure_only_with_aliasing(tmp_path: Path) -> None:
    lane = "relax-onnx-model-llvm"
    checked = difftvm.check(clip_file(tmp_path), lanes=lane, folder=tmp_path)
    assert (checked.ran, checked.aliased) == ((lane,), (lane,))
    with pytest.raises(difftvm.FindingError, match="returns a tensor that shares memory with its input"):
        difftvm.check(clip_file(tmp_path), lanes=lane, folder=tmp_path, aliasing=True)


def test_the_example_of_the_page_prints_what_the_page_says() -> None:
    page = (ROOT / "docs" / "library.md").read_text()
    command = [sys.executable, "docs/examples/check_model.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=_path())
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in page
    call = next(line.strip() for line in (ROOT / command[1]).read_text().splitlines() if "difftvm.check(" in line)
    assert call in page


def _path() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def test_every_public_name_is_on_the_page() -> None:
    page = (ROOT / "docs" / "library.md").read_text()
    assert [name for name in difftvm.__all__ if name != "Case" and name not in page] == ["PassReport"]


def test_the_import_loads_no_compiler() -> None:
    code = "import difftvm, sys; print([name for name in ('torch', 'tvm', 'onnxruntime') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=_path())
    assert done.stdout.strip() == "[]"


def norm_of_halves(path: Path, *more: onnx.NodeProto) -> Path:
    """y is x / sqrt(x * x) in float16: an implementation that rounds squares that are too large gives 0, another one
    does not. `more` has one node, which makes the result z."""
    nodes = [
        helper.make_node("Mul", ["x", "x"], ["square"]),
        helper.make_node("Sqrt", ["square"], ["size"]),
        helper.make_node("Div", ["x", "size"], ["y"]),
        *more,
    ]
    types = [helper.make_tensor_value_info(name, TensorProto.FLOAT16, [4]) for name in ("xyz" if more else "xy")]
    graph = helper.make_graph(nodes, "g", types[:1], types[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def test_an_output_of_which_no_value_is_judged_is_named(tmp_path: Path) -> None:
    path = norm_of_halves(tmp_path / "norm.onnx", helper.make_node("Relu", ["x"], ["z"]))
    checked = difftvm.check(path, {"x": np.array([1000, -2000, 3000, 4000], np.float16)}, folder=tmp_path / "found")
    assert (checked.judged, checked.none_judged) == (4, False)
    (why,) = checked.not_judged
    assert why.startswith("no value of the output `y` of Div is judged: ")
    assert why.endswith("(float16 overflows at Mul, node 0)")


def test_the_rest_of_a_file_that_onnxruntime_lacks_is_judged_by_the_evaluator(tmp_path: Path) -> None:
    """onnxruntime has no kernel of Swish, and TVM does not import it. Tanh reads its result."""
    types = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    nodes = [helper.make_node("Swish", ["x"], ["s"]), helper.make_node("Tanh", ["s"], ["y"])]
    graph = helper.make_graph(nodes, "g", types[:1], types[1:])
    path = tmp_path / "swish.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=12), path)
    checked = difftvm.check(path, {"x": np.array([1.0, -2.0], np.float32)}, folder=tmp_path / "found")
    assert (checked.ran, checked.judged) == (("relax-onnx-model-llvm",), 2)
    (why,) = checked.not_covered
    assert why.startswith("Swish (1 time): import: ")


def test_a_model_of_which_no_value_is_judged_is_not_right(tmp_path: Path) -> None:
    path = norm_of_halves(tmp_path / "norm.onnx")
    x = np.array([1000, -2000, 3000, 4000], np.float16)
    checked = difftvm.check(path, {"x": x}, folder=tmp_path / "found")
    assert (checked.judged, checked.none_judged) == (0, True)
    (why,) = checked.not_judged
    assert why.startswith("no value of Mul, Sqrt, Div is judged: ")
    assert why.endswith("(float16 overflows at Mul, node 0)")
    with pytest.raises(difftvm.NothingJudged, match="float16 overflows at Mul"):
        difftvm.check(path, {"x": x}, folder=tmp_path / "found", strict=True)
    right = difftvm.check(path, {"x": x / 100}, folder=tmp_path / "found", strict=True)
    assert (right.judged, right.unjudged) == (4, ())


def typed(path: Path, op: str, takes: Any, gives: Any, **attributes: Any) -> Path:
    """A file of one node. `takes` and `gives` are the types of its operand `x` and of its result `y`."""
    ends = [helper.make_value_info(name, type) for name, type in (("x", takes), ("y", gives))]
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"], "own", **attributes)], "g", ends[:1], ends[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)
    return path


def tensor_of(element: int, *sizes: int) -> Any:
    return helper.make_tensor_type_proto(element, sizes)


def test_numbers_of_float8_are_judged(tmp_path: Path) -> None:
    float8 = TensorProto.FLOAT8E4M3FN
    path = typed(tmp_path / "m.onnx", "Transpose", tensor_of(float8, 2, 3), tensor_of(float8, 3, 2))
    checked = difftvm.check(path, folder=tmp_path / "found", strict=True)
    assert (checked.ran, checked.judged, checked.unjudged) == (("relax-onnx-model-llvm",), 6, ())


def test_a_model_that_takes_numbers_smaller_than_a_byte_is_only_compiled(tmp_path: Path) -> None:
    path = typed(tmp_path / "m.onnx", "Cast", tensor_of(TensorProto.INT4, 2), tensor_of(TensorProto.FLOAT, 2), to=1)
    checked = difftvm.check(path, folder=tmp_path / "found")
    why = "relax-onnx-model-llvm: it is only compiled: TVM takes no array of numpy for its input 'x' of int4"
    assert (checked.ran, checked.judged, checked.not_judged) == (("relax-onnx-model-llvm",), 0, (why,))


def test_a_file_that_no_case_holds_is_answered_in_the_words_of_the_importer(tmp_path: Path) -> None:
    sequence = helper.make_sequence_type_proto(tensor_of(TensorProto.FLOAT, 2))
    path = typed(tmp_path / "m.onnx", "SequenceLength", sequence, tensor_of(TensorProto.INT64))
    with pytest.raises(NothingRan) as raised:
        difftvm.check(path, [{"x": [np.ones(2, np.float32), np.ones(3, np.float32)]}])
    ((lane, says),) = raised.value.checked.not_run
    assert lane == "relax-onnx-model-llvm"
    assert says == "import: TypeError: object of type 'Var' has no len()"
    assert raised.value.checked.not_judged == (
        f"{path}: no case holds a sequence: SequenceLength (node `own`) reads the value 'x' of this type",
    )
