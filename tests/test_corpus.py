"""The founding cases stay readable, run, and stay fixed in the TVM that we test with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fuzzer.isolate.executor import Executor
from fuzzer.lanes import LANES
from fuzzer.lanes.validity import OK, verdict
from generators import case_file
from generators.check import check
from generators.graph import Form, Profile
from generators.ops import TABLE
from oracles import judge_all

CORPUS = sorted(path.parent for path in (Path(__file__).parent.parent / "corpus").glob("*/case.json"))

EACH = pytest.mark.parametrize("folder", CORPUS, ids=lambda folder: folder.name)


def test_these_are_the_founding_cases() -> None:
    ops = {folder.name: case_file.read(folder).graph.ops for folder in CORPUS}
    assert ops == {
        "conv-relu-batch": ("conv2d", "relu"),
        "linear-4d": ("linear",),
        "reflect-pad-negative-squeeze": ("pad_reflect", "squeeze"),
    }


@EACH
def test_case_reads_and_is_written_the_same(folder: Path) -> None:
    case = case_file.read(folder)
    text, tensors = case_file.encode(case)
    assert (folder / "case.json").read_bytes() == text
    assert (folder / "tensors.safetensors").read_bytes() == tensors


@EACH
def test_case_is_of_todays_format(folder: Path) -> None:
    assert json.loads((folder / "case.json").read_bytes())["format"] == case_file.FORMAT
    case = case_file.read(folder)
    assert case.origin.startswith("founding bug: ")
    assert case.profile is Profile.NORMAL
    for node in case.graph.nodes:
        assert node.attrs.keys() == TABLE[node.op].schema.keys()
        assert node.form is Form.PLAIN


@EACH
def test_case_runs_in_eager_pytorch_with_finite_results(folder: Path) -> None:
    case = case_file.read(folder)
    check(case)
    assert verdict(case) == (OK, "")


@pytest.mark.tvm
def test_no_oracle_objects_to_the_founding_cases(tmp_path: Path) -> None:
    """TVM 0.27 has them all right, on these lanes."""
    with Executor(tmp_path / "scratch") as executor:
        for folder in CORPUS:
            case = case_file.read(folder)
            findings = list(judge_all(case, executor.run(case, LANES).outcomes))
            assert not [f for f in findings if f.component == "tvm"], f"{folder.name}: {findings}"
