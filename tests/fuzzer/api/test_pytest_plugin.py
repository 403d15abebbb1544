"""The plugin of pytest, in projects of their own: options, seeds, what it stores, and a change that breaks TVM."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "docs" / "examples"

PASSES, FAILS, USAGE = 0, 1, 4


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run pytest as its user would: the entry point loads the plugin."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def project(folder: Path, text: str) -> None:
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    (folder / "test_project.py").write_text(text)


@pytest.mark.slow
def test_the_plugin_loads_no_compiler(tmp_path: Path) -> None:
    project(
        tmp_path,
        "import sys\n\ndef test_it():\n    assert not {'torch', 'tvm', 'fuzzer.api.check'} & set(sys.modules)\n",
    )
    done = run(tmp_path)
    assert done.returncode == PASSES, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("marker", "what"),
    [("(5)", "not 5"), ("(seconds=0)", "not seconds=0"), ("(tests=1.5)", "not tests=1.5"), ("(time=1)", "not time=1")],
)
def test_a_wrong_budget_is_an_error_of_usage(tmp_path: Path, marker: str, what: str) -> None:
    project(tmp_path, f"import pytest\n\n@pytest.mark.difftvm{marker}\ndef test_it(difftvm):\n    pass\n")
    done = run(tmp_path)
    assert done.returncode == USAGE
    assert f"test_project.py::test_it: the marker difftvm takes seconds=NUMBER and tests=INTEGER, {what}" in done.stderr


@pytest.mark.slow
def test_a_wrong_seed_is_an_error_of_usage(tmp_path: Path) -> None:
    done = run(tmp_path, "--difftvm-seed=x")
    assert done.returncode == USAGE
    assert "'x' is no number from 0 to" in done.stderr


DRAWING = """
import pytest

@pytest.mark.difftvm(tests=3)
@pytest.mark.parametrize("place", range(4))
def test_it(difftvm, place):
    with open(f"{place}.txt", "w") as file:
        for case in difftvm.cases("relu,add", max_ops=2):
            print(case.origin, len(case.graph.nodes), file=file)
"""


def drawn(folder: Path) -> list[str]:
    return [(folder / f"{place}.txt").read_text() for place in range(4)]


@pytest.mark.slow
@pytest.mark.long
def test_a_seed_gives_the_same_cases_in_each_distribution(tmp_path: Path) -> None:
    project(tmp_path, DRAWING)
    assert run(tmp_path, "--difftvm-seed=7").returncode == PASSES
    first = drawn(tmp_path)
    assert [len(text.splitlines()) for text in first] == [3] * 4
    assert len(set(first)) == 4, "each test has cases of its own"
    done = run(tmp_path, "--difftvm-seed=7", "-n", "2", "-p", "xdist")
    assert done.returncode == PASSES, done.stdout + done.stderr
    assert drawn(tmp_path) == first
    assert run(tmp_path, "--difftvm-seed=8").returncode == PASSES
    assert drawn(tmp_path) != first


STORING = """
from pathlib import Path
import pytest

@pytest.mark.difftvm(tests=4)
def test_it(difftvm):
    for case in difftvm.cases("relu,add", max_ops=2):
        with open("given.txt", "a") as file:
            print(case.graph.ops, file=file)
        assert "add" not in case.graph.ops or not Path("broken").exists()
"""


@pytest.mark.slow
@pytest.mark.long
def test_the_case_that_failed_comes_first_until_the_test_passes(tmp_path: Path) -> None:
    project(tmp_path, STORING)
    given, broken = tmp_path / "given.txt", tmp_path / "broken"
    broken.touch()
    done = run(tmp_path, "--difftvm-seed=1")
    assert done.returncode == FAILS, done.stdout
    assert "to draw the same cases again: --difftvm-seed=1" in done.stdout
    failing = given.read_text().splitlines()[-1]
    given.unlink()
    assert run(tmp_path, "--difftvm-seed=2").returncode == FAILS
    assert given.read_text().splitlines() == [failing]
    stored = list(tmp_path.glob(".difftvm/*/cases/*"))
    assert len(stored) == 1
    (stored[0].with_name("damaged")).mkdir()
    (stored[0].with_name("damaged") / "case.json").write_text("{")
    broken.unlink()
    given.unlink()
    done = run(tmp_path, "--difftvm-seed=2")
    assert done.returncode == PASSES, done.stdout
    assert "a stored case is left out" in done.stdout
    assert given.read_text().splitlines()[0] == failing
    assert [path.name for path in tmp_path.glob(".difftvm/*/cases/*")] == ["damaged"]


@pytest.mark.slow
@pytest.mark.long
def test_a_test_that_is_skipped_keeps_the_case_that_failed(tmp_path: Path) -> None:
    project(tmp_path, f"{STORING}        if Path('skipped').exists():\n            pytest.skip('not here')\n")
    given, broken, skipped = (tmp_path / name for name in ("given.txt", "broken", "skipped"))
    broken.touch()
    assert run(tmp_path, "--difftvm-seed=1").returncode == FAILS
    failing = given.read_text().splitlines()[-1]
    broken.unlink()
    skipped.touch()
    given.unlink()
    done = run(tmp_path, "--difftvm-seed=2")
    assert (done.returncode, "1 skipped" in done.stdout) == (PASSES, True), done.stdout
    assert given.read_text().splitlines() == [failing]
    assert len(list(tmp_path.glob(".difftvm/*/cases/*"))) == 1
    skipped.unlink()
    assert run(tmp_path, "--difftvm-seed=2").returncode == PASSES
    assert not list(tmp_path.glob(".difftvm/*/cases/*"))


COMPILING = """
from pathlib import Path
import numpy as np
import pytest

CHANGE = Path("changed_relu.py")

@pytest.mark.difftvm(tests=8)
def test_relu(difftvm):
    for case in difftvm.cases("relu", max_ops=1):
        if any(np.isnan(array.astype(float)).any() for array in case.tensors.values()):
            continue  # TVM 0.27.0.post1 itself is wrong there
        preload = CHANGE if CHANGE.exists() else None
        difftvm.check(case, lanes="relax-export-llvm", preload=preload, reduce=False)
"""


@pytest.mark.tvm
@pytest.mark.long
def test_a_change_that_breaks_tvm_fails_the_test_until_it_is_mended(tmp_path: Path) -> None:
    project(tmp_path, COMPILING)
    change = tmp_path / "changed_relu.py"
    change.write_text((EXAMPLES / "changed_relu.py").read_text())
    done = run(tmp_path, "--difftvm-seed=3")
    assert done.returncode == FAILS, done.stdout
    found = re.search(r"^E +(\S+/repro\.py)$", done.stdout, re.MULTILINE)
    assert found, done.stdout
    assert "fuzz --replay" in done.stdout
    assert subprocess.run([sys.executable, found[1], change], capture_output=True).returncode == 1
    change.unlink()
    done = run(tmp_path, "--difftvm-seed=3")
    assert done.returncode == PASSES, done.stdout
    assert not list(tmp_path.glob(".difftvm/*/cases/*"))


@pytest.mark.tvm
@pytest.mark.long
def test_the_example_of_the_documents(tmp_path: Path) -> None:
    project(tmp_path, (EXAMPLES / "test_my_model.py").read_text())
    done = run(tmp_path, "--difftvm-seed=1")
    assert (done.returncode, "2 passed" in done.stdout) == (PASSES, True), done.stdout + done.stderr


SHARING = """
import onnx
from onnx import TensorProto, helper


def test_clip(difftvm, tmp_path):
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Clip", ["x"], ["y"])], "clip", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), tmp_path / "a.onnx")
    difftvm.check(tmp_path / "a.onnx", lanes="relax-onnx-model-llvm")
"""


@pytest.mark.tvm
@pytest.mark.slow
def test_a_word_about_an_output_in_the_memory_of_an_input(tmp_path: Path) -> None:
    project(tmp_path, SHARING)
    done = run(tmp_path)
    assert done.returncode == PASSES, done.stdout
    note = "an output shares memory with an input in relax-onnx-model-llvm; aliasing=True makes that a failure"
    assert f"test_project.py::test_clip: {note}\n" in done.stdout


STRICT = """
import torch


class Noisy(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.dropout(x.exp(), 0.5, training=True)


def test_whole(difftvm):
    difftvm.check(Noisy(), torch.ones(2), lanes="relax-export-llvm")


def test_parts(difftvm):
    difftvm.check(Noisy(), torch.ones(2), lanes="relax-export-llvm", strict=False)
"""


@pytest.mark.tvm
@pytest.mark.slow
def test_a_model_that_is_not_compiled_whole_fails_its_test(tmp_path: Path) -> None:
    project(tmp_path, STRICT)
    done = run(tmp_path)
    assert done.returncode == FAILS, done.stdout
    assert "NotWhole: not all of the model was compiled; strict=False allows that:" in done.stdout
    assert "dropout (1 time): it draws random numbers" in done.stdout
    assert "1 failed, 1 passed" in done.stdout


FOUND = """
from pathlib import Path

import fuzzer.api.check
from fuzzer.api.finding_error import FindingError
from fuzzer.api.found_failure import FoundFailure


def finds(*arguments, **options):
    title, script = "`F.selu` gives wrong values", Path("f/repro.py")
    found = FoundFailure("s", title, "wrong-value", ("selu",), script.parent, script, "go")
    raise FindingError([found, found])


def test_it(difftvm, monkeypatch):
    monkeypatch.setattr(fuzzer.api.check, "cases_of", finds)
    difftvm.check("net.onnx")
"""


@pytest.mark.slow
def test_a_failure_shows_the_title_and_no_frame_of_this_package(tmp_path: Path) -> None:
    project(tmp_path, FOUND)
    done = run(tmp_path)
    assert done.returncode == FAILS
    assert f"{Path('fuzzer') / 'api'}" not in done.stdout
    assert 'difftvm.check("net.onnx")' in done.stdout
    assert "FindingError: `F.selu` gives wrong values; 1 more\nE         f/repro.py\nE         go" in done.stdout
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("FAILED "))
    assert line.startswith("FAILED test_project.py::test_it - difftvm.FindingError: `F.selu` ")
