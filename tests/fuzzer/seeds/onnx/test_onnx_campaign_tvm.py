"""`fuzz import --dialect onnx`, and a campaign in ONNX that runs the pieces of the model and mutates them."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from fuzzer.campaign.store.notable_tests import NotableTest

pytestmark = [pytest.mark.tvm, pytest.mark.long]


def save(path: Path) -> None:
    node = helper.make_node
    nodes = [
        node("Gemm", ["x", "w", "b"], ["a"], transB=1),
        node("HardSwish", ["a"], ["c"]),
        node("LogSoftmax", ["c"], ["y"], axis=-1),
    ]
    tensors = {"w": np.zeros((5, 4), np.float32), "b": np.zeros(5, np.float32)}
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 4])],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(array, name) for name, array in tensors.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def fuzz(*arguments: object) -> str:
    command = [sys.executable, "-m", "fuzzer.cli", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    return done.stdout


@dataclass(frozen=True)
class KeptCase:
    """A case that showed the compiler doing something new: where it comes from, and its two files."""

    origin: str
    dialect: str
    ops: list[str]
    files: tuple[str, bytes]


def kept_cases(campaign: Path) -> Iterator[KeptCase]:
    with sqlite3.connect(campaign / "index.sqlite") as index:
        rows = index.execute("SELECT document FROM notable_tests ORDER BY test").fetchall()
    for (document,) in rows:
        test = msgspec.json.decode(zlib.decompress(document), type=NotableTest)
        case = msgspec.json.decode(test.case)
        contents = test.case.replace(case["origin"], ""), test.tensors
        yield KeptCase(case["origin"], case["dialect"], [each["op"] for each in case["nodes"]], contents)


def test_a_campaign_around_an_onnx_file_has_cases_of_onnx(tmp_path: Path) -> None:
    save(tmp_path / "net.onnx")
    options = ("--dialect", "onnx", "--random", "--seed", 1, "--tests", 12, "--workers", 1, "--triage-share", 0)
    around = ("--around", tmp_path / "net.onnx", "--campaign", tmp_path / "hunt")
    printed = fuzz("run", *options, "--drain", 0, "--lanes", "relax-onnx-model-llvm", *around)
    assert printed.splitlines()[0] == "aim: 1 piece; 3 operators with a row; none without a row"
    assert "\n12 tests in " in printed
    cases = list(kept_cases(tmp_path / "hunt"))
    assert {case.dialect for case in cases} == {"onnx"}
    assert cases[0].origin == "imported from net"
    assert {op for case in cases for op in case.ops} - {"Clip-13"} == {"Gemm-13", "HardSwish-14", "LogSoftmax-13"}


def test_a_campaign_mutates_the_pieces_of_an_onnx_file(tmp_path: Path) -> None:
    save(tmp_path / "net.onnx")
    printed = fuzz("import", tmp_path / "net.onnx", "--dialect", "onnx", "--into", tmp_path / "hunt")
    assert "net as ONNX: 3 of 3 nodes have a row (100.0 %); 1 case, 1 of them new; 0 pieces like another" in printed
    options = ("--dialect", "onnx", "--random", "--seed", 1, "--tests", 24, "--workers", 1, "--triage-share", 0)
    fuzz("run", *options, "--drain", 0, "--lanes", "relax-onnx-model-llvm", "--campaign", tmp_path / "hunt")
    cases = list(kept_cases(tmp_path / "hunt"))
    assert {case.dialect for case in cases} == {"onnx"}
    assert cases[0].origin == "imported from net", "first, the piece itself runs"
    assert cases[0].ops == ["Gemm-13", "HardSwish-14", "LogSoftmax-13"]
    mutations = [case for case in cases if case.origin.endswith(" of imported from net")]
    assert mutations
    assert all(case.files != cases[0].files for case in mutations)
