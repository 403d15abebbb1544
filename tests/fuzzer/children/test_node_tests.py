"""How ONNX's node tests become cases."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from fuzzer.cases.expected_results import Expected
from fuzzer.children.node_tests import by_row, sample_of
from fuzzer.children.sample_files import Sample
from generators import case_file
from generators.graph import Case
from generators.onnx.source import tensor

pytestmark = pytest.mark.slow

FLOAT8 = helper.make_tensor("x", TensorProto.FLOAT8E5M2, [1], [1.0])
ONE = np.ones((2, 3), np.float32)


def named(name: str, op: str, opset: int = 14, domain: str = "", nodes: int = 1, **attributes: Any) -> Any:
    """A test of the suite, with one input and one result."""
    names = ["x", *(f"v{place}" for place in range(nodes - 1)), "y"]
    calls = [helper.make_node(op, [read], [made], domain=domain, **attributes) for read, made in pairwise(names)]
    values = (helper.make_tensor_value_info(each, TensorProto.FLOAT, [2, 3]) for each in ("x", "y"))
    graph = helper.make_graph(calls, "g", *([value] for value in values))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(domain, opset)], ir_version=8)
    return SimpleNamespace(name=name, model=model, data_sets=[([ONE], [ONE])], rtol=1e-3, atol=1e-7)


def test_tests_are_of_the_version_of_their_operator() -> None:
    tests = [
        named("test_relu", "Relu"),
        named("test_clip", "Clip", 13),
        named("test_clip_default", "Clip", 13),
        named("test_clip_expanded", "Min", 13, nodes=2),
        named("test_clip_default_expanded_ver11", "Min", 13, nodes=2),
        named("test_normalizer", "Normalizer", 1, "ai.onnx.ml", norm="MAX"),
    ]
    rows = {row: [test.name for test in group] for row, group in by_row(tests).items()}
    assert rows == {
        "Clip-13": ["test_clip", "test_clip_default"],
        "Clip-13-expanded": ["test_clip_expanded", "test_clip_default_expanded_ver11"],
        "Relu-14": ["test_relu"],
        "ai.onnx.ml.Normalizer-1": ["test_normalizer"],
    }
    assert list(rows) == sorted(rows)


def case_of(sample: Sample) -> Case:
    assert isinstance(sample.made, Case), sample.made
    return sample.made


def test_a_test_is_a_case_with_its_file_its_inputs_and_its_expected_results() -> None:
    test = named("test_relu", "Relu")
    sample = sample_of("Relu-14", test)
    case = case_of(sample)
    assert sample.key == "Relu-14/test_relu"
    assert case.graph.ops == ("Relu",)
    assert {name: array.tolist() for name, array in case.inputs.items()} == {"x0": ONE.tolist()}
    assert case.given is not None
    assert onnx.load_from_string(case.given.model) == test.model
    assert msgspec.msgpack.decode(sample.expected, type=Expected) == Expected((tensor(ONE),), 1e-3, 1e-7)


def test_a_scalar_stays_one() -> None:
    test = named("test_relu", "Relu")
    for value in (*test.model.graph.input, *test.model.graph.output):
        del value.type.tensor_type.shape.dim[:]
    test.data_sets = [([np.float32(2)], [np.float32(2)])]
    sample = sample_of("Relu-14", test)
    assert [array.shape for array in case_of(sample).inputs.values()] == [()]
    assert msgspec.msgpack.decode(sample.expected, type=Expected).outputs[0].shape == ()


def test_the_numbers_of_the_file_are_its_own() -> None:
    """Those of floats are drawn where a person's file becomes a case."""
    weight = np.array([[5, 6, 7]], np.float32)
    test = named("test_add", "Relu")
    test.model.graph.initializer.append(onnx.numpy_helper.from_array(weight, "w"))
    test.model.graph.node[0].CopyFrom(helper.make_node("Add", ["x", "w"], ["y"]))
    assert [array.tolist() for array in case_of(sample_of("Add-14", test)).owned.values()] == [weight.tolist()]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([ONE], "a value is a sequence, which no case can hold"),
        (None, "a value is an optional value, which no case can hold"),
        (np.array(["a"], object), "a value is of the type string, which no case can hold"),
        (FLOAT8, "a value is of the type float8e5m2, which no case can hold"),
    ],
)
def test_values_that_no_case_holds(value: Any, why: str) -> None:
    test = named("test_relu", "Relu")
    test.data_sets = [([value], [ONE])]
    assert sample_of("Relu-14", test) == Sample("Relu-14/test_relu", why)


def test_a_tensor_in_a_message_is_an_array() -> None:
    test = named("test_relu", "Relu")
    test.data_sets = [([onnx.numpy_helper.from_array(ONE)], [ONE])]
    assert next(iter(case_of(sample_of("Relu-14", test)).inputs.values())).tolist() == ONE.tolist()


NODE_TESTS = {
    "Adagrad": {"test_adagrad": "", "test_adagrad_multiple": ""},  # a preview
    "test_bitshift_right_uint8": {"test_bitshift_right_uint8": ""},  # opset 28
    "test_not_2d": {"test_not_2d": ""},  # opset 1
    "test_nonmaxsuppression_two_classes": {"test_nonmaxsuppression_two_classes": ""},
    "test_compress_0": {"test_compress_0": ""},
    "test_nonzero_example": {"test_nonzero_example": ""},
    "test_unique_length_1": {"test_unique_length_1": ""},
    "test_if": {"test_if": ""},
    "Constant": {"test_constant": ""},
}


@pytest.mark.long
def test_the_suite_of_the_installed_package(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fuzzer.children.node_tests", str(tmp_path / "s"), "--ops", ",".join(NODE_TESTS)]
    done = subprocess.run(command, capture_output=True, check=True)
    lines = [msgspec.json.decode(line) for line in done.stdout.splitlines()]
    found = {line["key"].rpartition("/")[2]: line.get("why", "") for line in lines if "key" in line}
    assert found == {name: why for group in NODE_TESTS.values() for name, why in group.items()}
    case = case_file.read(tmp_path / "s" / "If-11-test_if")
    assert case.given is not None
    assert list(case.tensors) == ["x0"], "the branches keep their numbers"
    opsets = {path.name: case_file.read(path).graph.opset for path in (tmp_path / "s").iterdir()}
    assert opsets["Not-1-test_not_2d"] == 1
    assert opsets["BitShift-28-test_bitshift_right_uint8"] == 28
