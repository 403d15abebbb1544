"""`git bisect run` takes a finding's script as it is, and finds the commit that broke TVM past some that do not run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fakes import TVM_ONNX
from graphs_by_hand import case_of
from records import record

from fuzzer.report import repro
from generators.onnx.model import Node, OnnxModel, Value
from oracles.finding import Kind
from oracles.outcome import Raised, Stage

CASE = case_of({"x0": "float32[2,3]"}, [("v0", "relu", "x0")], "v0")
FILE = OnnxModel(
    9, {"": 20}, (Value("x0", "FLOAT", (2, 3)),), (Value("y", "FLOAT", (2, 3)),), (Node("Relu", ("x0",), ("y",)),), {}
)
REFUSES = Raised(Stage.IMPORT, "tvm.error.OpNotImplemented", "The following operators are not supported: Relu")

RUNS = """
import numpy


def compile(mod, target):
    return mod


def cpu():
    return 0


class runtime:
    tensor = staticmethod(lambda array: array)


class Output:
    def __init__(self, array):
        self.numpy = lambda: array
"""
MACHINE = """
import numpy
import tvm


def VirtualMachine(executable, device):
    return {"main": lambda x: tvm.Output(numpy.maximum(x, 0))}
"""
"""What a TVM that works has besides its frontend."""
WORKS = "def from_onnx(model):\n    return model\n"
DOES_NOT_LOAD = 'raise ImportError("libtvm.so: undefined symbol")\n'
FAILS_OTHERWISE = 'def from_onnx(model):\n    raise KeyError("half of a change")\n'
BROKEN = """
class OpNotImplemented(Exception):
    pass


def from_onnx(model):
    raise OpNotImplemented("The following operators are not supported: Relu")
"""


def git(folder: Path, *arguments: str) -> str:
    names = {f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**os.environ, **names, **alone, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.programs("git")
def test_git_bisect_skips_what_cannot_tell_and_names_the_commit_that_broke_it(tmp_path: Path) -> None:
    script = tmp_path / "repro.py"
    script.write_text(repro.script(record(CASE, Kind.REJECTED, TVM_ONNX, REFUSES, onnx=FILE)))
    repository = tmp_path / "tvm"
    frontend = repository / "tvm" / "relax" / "frontend"
    frontend.mkdir(parents=True)
    for folder in (frontend, frontend.parent, frontend.parents[1]):
        (folder / "__init__.py").touch()
    (repository / "tvm" / "__init__.py").write_text(RUNS)
    (repository / "tvm" / "relax" / "__init__.py").write_text(MACHINE)
    git(repository, "init", "-q")
    history = (WORKS, WORKS, DOES_NOT_LOAD, FAILS_OTHERWISE, DOES_NOT_LOAD, WORKS, BROKEN, BROKEN)
    for number, module in enumerate(history):
        (frontend / "onnx.py").write_text(f"{module}\n# {number}\n")
        git(repository, "add", "-A")
        git(repository, "commit", "-qm", f"number {number}")
    git(repository, "bisect", "start", "HEAD", "HEAD~7")
    output = git(repository, "bisect", "run", sys.executable, str(script))
    assert "is the first bad commit" in output
    assert git(repository, "log", "-1", "--format=%s", "refs/bisect/bad").strip() == "number 6"
    assert "number 3" in git(repository, "bisect", "log").partition("skip: [")[2]
