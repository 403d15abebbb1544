"""`difftvm.check` on real models, right and wrong, and the example of docs/library.md."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

import difftvm
from generators.graph import Invalid

pytestmark = pytest.mark.tvm

ROOT = Path(__file__).parents[3]
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
    assert (set(checked.ran), checked.not_run) == ({"relax-export-llvm", "relax-fx-llvm"}, ())
    assert (checked.cases, checked.not_covered, checked.not_confirmed) == (1, (), ())
    assert list(tmp_path.iterdir()) == []


def test_passes_come_after_those_that_they_require() -> None:
    checked = difftvm.check(torch.nn.ReLU(), torch.randn(2), lanes="relax-export-llvm", passes=["FuseTIR"])
    assert checked.ran == ("relax-export-llvm-passes",)


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


def test_an_onnx_file_is_checked_and_a_wrong_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    torch.onnx.export(torch.nn.ReLU(), (torch.randn(2, 3),), path, dynamo=False, input_names=["x"])
    checked = difftvm.check(path, {"x": np.ones((2, 3), np.float32)}, folder=tmp_path)
    assert checked.ran == ("relax-onnx-model-llvm", "relax-onnx-model-c"), (
        "the file's own nodes, and no lane of PyTorch"
    )
    with pytest.raises(ValueError, match=r"no lane of cases of onnx matches 'relax-onnx-llvm'; `fuzz lanes` lists"):
        difftvm.check(path, lanes="relax-onnx-llvm", folder=tmp_path)
    with pytest.raises(Invalid, match="it has no input 'y'; its inputs are x"):
        difftvm.check(path, {"y": torch.ones(2, 3).numpy()})


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
