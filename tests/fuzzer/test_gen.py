"""`fuzz gen`: the files are the cases, the figures are counted, and no compiler is started."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fuzzer.gen import Order, run
from fuzzer.validity import Validity, Verdict
from generators import case_file
from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import Case, Graph, Input, Invalid, Node, Profile, TensorType, Value
from generators.random_graph import generate
from generators.statistics import value_class

KEYS = {
    "graphs",
    "seconds",
    "operators",
    "operator_dtype_pairs",
    "attribute_classes",
    "valid_rate",
    "finite_rate",
    "nodes_median",
}


def test_the_files_are_the_cases(tmp_path: Path) -> None:
    run(Order(5, 3, tmp_path), ask_pytorch=False)
    folders = sorted(tmp_path.iterdir())
    assert [folder.name for folder in folders] == [f"seed3-{index:06d}" for index in range(5)]
    for index, folder in enumerate(folders):
        expected = generate(NumpySource(3, index), Limits())
        assert case_file.digest(case_file.read(folder)) == case_file.digest(expected)


def test_again_into_the_same_folder_is_no_harm(tmp_path: Path) -> None:
    for _ in range(2):
        run(Order(3, 3, tmp_path), ask_pytorch=False)


def test_another_case_in_the_way_is_kept(tmp_path: Path) -> None:
    run(Order(1, 3, tmp_path), ask_pytorch=False)
    path = tmp_path / "seed3-000000" / case_file.JSON_NAME
    path.write_text("{}")
    with pytest.raises(Invalid, match="holds another case"):
        run(Order(1, 3, tmp_path), ask_pytorch=False)
    assert path.read_text() == "{}"


def test_the_last_line_is_json_with_the_figures() -> None:
    command = [sys.executable, "-m", "fuzzer.cli", "gen", "--count", "30", "--seed", "2", "--stats", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    summary = json.loads(done.stdout.splitlines()[-1])
    assert set(summary) >= KEYS
    assert summary["graphs"] == 30
    assert summary["valid_rate"] == 1.0
    assert 0 < summary["seconds"] < 10


def test_profile_and_nodes_are_kept_to() -> None:
    report = run(Order(20, 1, limits=Limits(2), profile=Profile.EDGE), ask_pytorch=False)
    assert report.coverage.profiles == {"edge": 20}
    assert report.valid_rate is None


def value(name: str, type: str) -> Value:
    return Value(name, TensorType.parse(type))


def one_node(op: str, operand: str, result: str, **attrs: object) -> Case:
    node = Node(op, ("x0",), attrs, (value("v0", result),))  # type: ignore[arg-type]
    graph = Graph((Input(value("x0", operand)),), (node,), ("v0",))
    type = graph.inputs[0].value.type
    return Case(graph, {"x0": np.ones(type.sizes, type.dtype.numpy)})


def test_verdicts() -> None:
    with Validity() as judge:
        assert judge(one_node("neg", "float32[2]", "float32[2]")).verdict is Verdict.OK
        assert judge(one_node("neg", "float32[2]", "float32[3]")).verdict is Verdict.INVALID
        lying = {"call": "torch.neg(a0)", "types": ("float32[7]",)}
        assert judge(one_node("torch_call", "float32[1]", "float32[7]", **lying)).verdict is Verdict.WRONG_TYPE


@pytest.mark.parametrize(
    ("attr", "name"),
    [
        (None, "None"),
        (True, "True"),
        ("sum", "sum"),
        (-3, "int negative"),
        (0, "int zero"),
        (1, "int one"),
        (2.5, "float positive"),
        ((), "0 of "),
        ((1, -2), "2 of int negative|int one"),
        ((5,) * 9, "4 of int positive"),
    ],
)
def test_value_classes(attr: object, name: str) -> None:
    assert value_class(attr) == name  # type: ignore[arg-type]
