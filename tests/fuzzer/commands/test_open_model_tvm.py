"""`fuzz minimize` and `fuzz import` of an ONNX file that leaves sizes open, with TVM itself."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from in_process import fuzz
from onnx import TensorProto, helper

from fuzzer.findings import finding_file
from fuzzer.seeds import corpus

pytestmark = [pytest.mark.tvm, pytest.mark.long]

OPEN = "the file leaves N and L open"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A MaxPool of rows of open length. TVM 0.27 asks for the length as a number."""
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("MaxPool", ["r"], ["y"], kernel_shape=[3], strides=[2], auto_pad="SAME_LOWER"),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, "L"])
    graph = helper.make_graph(nodes, "g", [x], [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "net.onnx")
    return tmp_path / "net.onnx"


def test_a_failure_that_needs_open_sizes_is_reduced(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lanes = "relax-onnx-model-symbolic,relax-onnx-model-sizes,relax-onnx-model-llvm"
    assert fuzz(monkeypatch, "minimize", path, "--lanes", lanes, "--out", tmp_path / "out", "--workers", 2) == 0
    printed = capsys.readouterr().err
    assert f"net: {OPEN}: each lane runs it with 2 in place of them, and lanes with open sizes compile" in printed
    (folder,) = (tmp_path / "out" / "crashes").iterdir()
    doc, case = finding_file.read_with_case(folder)
    assert (doc.ops, doc.lane.symbolic, doc.identity.error) == (["MaxPool"], True, "TypeError")
    assert len(case.graph.symbols) == 1


def test_imported_cases_keep_sizes_open(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fuzz(monkeypatch, "import", path, "--dialect", "onnx", "--into", tmp_path / "hunt") == 0
    says = f"  {OPEN}: 1 case leaves them open too, and the others have 2 in place of them\n"
    assert says in capsys.readouterr().out
    symbols = sorted(len(case.graph.symbols) for case in corpus.cases(tmp_path / "hunt").values())
    assert symbols == [0, 2]
