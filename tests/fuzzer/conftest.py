"""What several of the fuzzer's tests share: findings made by hand, and a way to look at processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from fuzz_called import Fuzz
from in_process import completed

from fuzzer.campaign.store.store import Store
from fuzzer.findings import finding_file
from fuzzer.lanes import TVM_LANES
from fuzzer.signature import signature_of
from fuzzer.triage.investigate import Investigated, Sighting
from generators.graph import Case, DType, Graph, Input, Node, TensorType, Value
from oracles.finding import Component, Finding, Kind
from oracles.outcome import Frame, Raised, Stage

VERSIONS = {"python": "3.11.7", "torch": "2.13.0", "tvm": "0.27.0"}

Make = Callable[..., tuple[Investigated, Sighting]]


def small_case(op: str = "relu", size: int = 3) -> Case:
    x, v = (Value(name, TensorType(DType.FLOAT32, (2, size))) for name in ("x0", "v0"))
    graph = Graph((Input(x),), (Node(op, ("x0",), {}, (v,)),), ("v0",))
    return Case(graph, {"x0": np.linspace(-1, 1, 2 * size, dtype=np.float32).reshape(2, size)})


def raised(message: str = "no layout for it", op: str = "relu", size: int = 3) -> tuple[Investigated, Sighting]:
    """A refusal of TVM, confirmed; `message` tells one signature from another."""
    lane = TVM_LANES[0]
    frames = (Frame("/project/src/relax/transform/layout.cc", 7, "tvm::relax::LayoutOf(tvm::Call)"),)
    evidence = Raised(Stage.COMPILE, "tvm.error.InternalError", message, frames)
    finding = Finding(Kind.INTERNAL_ERROR, Component.TVM, lane, Stage.COMPILE, evidence)
    signature = signature_of(finding)
    found = Investigated(
        signature=signature,
        finding=finding,
        case=small_case(op, size),
        lanes=(lane.name,),
        again=3,
        runs=3,
        found_in=(op, "neg"),
        reduction=None,
    )
    return found, Sighting(signature, finding, (lane,))


def set_found(folder: Path, at: float) -> None:
    """Let a saved finding have been found then."""
    doc = finding_file.read(folder)
    doc.found = at
    (folder / finding_file.NAME).write_bytes(finding_file.encode(doc))


@pytest.fixture
def made_at() -> Callable[[Path, float], None]:
    return set_found


@pytest.fixture
def make() -> Make:
    return raised


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """The folder of a finding in a campaign at `tmp_path`."""
    with Store(tmp_path, 1) as store:
        doc = store.save(raised()[0], VERSIONS)
    assert doc is not None
    return tmp_path / "crashes" / doc.slug


@pytest.fixture
def readers_here() -> Iterator[None]:
    """The readers of ONNX files run in this process: a child takes a second for each of hundreds of files. Tests of
    `fuzzer/seeds/onnx/test_onnx_file.py` start the children."""
    from fuzzer.children.node_tests import READERS
    from fuzzer.seeds.bounded_child import in_this_process

    with in_this_process(READERS):
        yield


@pytest.fixture
def no_torch(tmp_path: Path) -> str:
    """A PYTHONPATH on which torch cannot be imported: commands that start the compilers exit with 69."""
    (tmp_path / "no-torch").mkdir()
    (tmp_path / "no-torch" / "torch.py").write_text("raise ModuleNotFoundError('no torch here')\n")
    return str(tmp_path / "no-torch")


@pytest.fixture
def fuzz(tmp_path: Path, no_torch: str, monkeypatch: pytest.MonkeyPatch) -> Fuzz:
    """`fuzz ...` in this process: there are a hundred calls."""
    monkeypatch.setenv("PYTHONPATH", no_torch)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return completed(monkeypatch, *arguments)

    return run


@pytest.fixture
def process(tmp_path: Path, no_torch: str) -> Fuzz:
    """`fuzz ...` in a process of its own, for commands whose children also write to the terminal."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "fuzzer.cli", *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": f"{no_torch}:{Path(__file__).parents[2]}"}
        return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, cwd=tmp_path)

    return run
