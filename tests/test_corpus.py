"""The founding cases stay readable, and stay fixed in the TVM that we test with."""

from pathlib import Path

import pytest

from fuzzer.isolate.executor import Executor
from fuzzer.lanes import LANES
from generators import case_file
from oracles import judge_all

CORPUS = sorted(path.parent for path in (Path(__file__).parent.parent / "corpus").glob("*/case.json"))


@pytest.mark.parametrize("folder", CORPUS, ids=lambda folder: folder.name)
def test_case_reads_and_is_written_the_same(folder: Path) -> None:
    case = case_file.read(folder)
    text, tensors = case_file.encode(case)
    assert (folder / "case.json").read_bytes() == text
    assert (folder / "tensors.safetensors").read_bytes() == tensors


@pytest.mark.tvm
def test_no_oracle_objects_to_the_founding_cases(tmp_path: Path) -> None:
    """TVM 0.27 has them all right, on these lanes."""
    with Executor(tmp_path / "scratch") as executor:
        for folder in CORPUS:
            case = case_file.read(folder)
            findings = list(judge_all(case, executor.run(case, LANES).outcomes))
            assert not [f for f in findings if f.component == "tvm"], f"{folder.name}: {findings}"
