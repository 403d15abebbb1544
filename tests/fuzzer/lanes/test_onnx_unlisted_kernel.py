"""Nodes without a row in float64, and how far correct implementations of them may differ."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from fuzzer.lanes.envelope.measure import envelope
from fuzzer.lanes.envelope.other_sizes import OtherSizes
from fuzzer.lanes.envelope.program import Program
from fuzzer.lanes.envelope.sample import PLAIN
from fuzzer.lanes.onnx.kernel import ONNX
from generators.graph import Array, Case, Graph, Input, Node, TensorType, Value
from generators.onnx import model, unlisted
from generators.onnx.model import Attribute


def program(node: model.Node, arrays: Mapping[str, Array], *types: str, version: int = 1) -> Program:
    """A case of this node, whose results have these types."""
    known = {
        name: TensorType.parse(f"{array.dtype}{list(array.shape)}".replace(" ", "")) for name, array in arrays.items()
    }
    known |= dict(zip(node.outputs, map(TensorType.parse, types), strict=True))
    call = unlisted.call_of(node, version, known)
    names = {name: f"x{place}" for place, name in enumerate(arrays)}
    results = tuple(Value(f"v{place}", value.type) for place, value in enumerate(call.results))
    renamed = Node(call.op, tuple(names[arg] for arg in call.args), call.attrs, results)
    inputs = tuple(Input(Value(names[name], known[name])) for name in arrays)
    graph = Graph(inputs, (renamed,), tuple(value.name for value in results), "onnx", opset=17)
    return Program(Case(graph, {names[name]: array for name, array in arrays.items()}), ONNX)


X = np.array([0.1, 0.0, -0.3, 0.1], np.float32)


def test_the_interpreter_computes_it_in_float64() -> None:
    (found,) = program(model.Node("Softmax", ("x",), ("y",)), {"x": X}, "float32[4]").run(PLAIN)
    exact = np.exp(X.astype(np.float64)) / np.exp(X.astype(np.float64)).sum()
    np.testing.assert_allclose(found, exact, rtol=1e-15)


def test_without_a_definition_onnxruntime_computes_it_in_its_own_dtype() -> None:
    """The result is as exact as float32 is, and the tolerance has its units."""
    node = model.Node("QuickGelu", ("x",), ("y",), (Attribute("alpha", 1.0),), "", "com.microsoft")
    prepared = program(node, {"x": X}, "float32[4]")
    (found,) = prepared.run(PLAIN)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, found.astype(np.float32))
    np.testing.assert_allclose(found, X / (1 + np.exp(-X)), rtol=1e-6)
    spread, ill = envelope(prepared)
    assert not ill.any()
    unit = np.finfo(np.float32).eps * np.abs(found)
    assert np.all(spread[X != 0] >= 4 * unit[X != 0])


def test_an_operator_that_rounds_nothing_is_exact() -> None:
    values, places = program(model.Node("Unique", ("x",), ("y", "at")), {"x": X}, "float32[3]", "int64[3]").run(PLAIN)
    np.testing.assert_array_equal(values, np.unique(X))
    np.testing.assert_array_equal(places, [2, 1, 0])
    spread, _, *ill = envelope(program(model.Node("Unique", ("x",), ("y", "at")), {"x": X}, "float32[3]", "int64[3]"))
    assert not spread.any()
    assert not any(mask.any() for mask in ill)


def test_where_a_perturbation_gives_other_sizes_no_value_is_compared() -> None:
    """The root of 4 minus 2 is 0, and is not where the root is perturbed."""
    pair = TensorType.parse("float32[2]")
    types = {"a": pair, "y": TensorType.parse("int64[1,1]")}
    found = unlisted.call_of(model.Node("NonZero", ("a",), ("y",)), 1, types)
    nodes = (
        Node("Sqrt-13", ("x0",), {}, (Value("v0", pair),)),
        Node("Sub-14", ("v0", "x1"), {}, (Value("v1", pair),)),
        Node(found.op, ("v1",), found.attrs, (Value("v2", types["y"]),)),
    )
    inputs = tuple(Input(Value(name, pair)) for name in ("x0", "x1"))
    arrays = {"x0": np.array([4, 9], np.float32), "x1": np.array([2, 1], np.float32)}
    prepared = Program(Case(Graph(inputs, nodes, ("v2",), "onnx", opset=17), arrays), ONNX)
    (truth,) = prepared.run(PLAIN)
    np.testing.assert_array_equal(truth, [[1]])
    _, ill = envelope(prepared)
    assert ill.all()


def test_a_type_that_is_not_declared_is_an_error() -> None:
    with pytest.raises(OtherSizes, match=r"int64\[1, 3\]"):
        program(model.Node("NonZero", ("x",), ("y",)), {"x": X}, "int64[1,4]").run(PLAIN)


def suppressed(scores: list[float], count: int) -> list[list[bool]]:
    """Which indices are not compared that NonMaxSuppression gives for three boxes, of which the first two overlap."""
    boxes = np.array([[[0, 0, 2, 2], [0, 0, 2, 1.9], [5, 5, 6, 6]]], np.float32)
    arrays: dict[str, Array] = {
        "b": boxes,
        "s": np.array([[scores]], np.float32),
        "m": np.array([3], np.int64),
        "o": np.array([0.5], np.float32),
        "t": np.array([0.25], np.float32),
    }
    _, ill = envelope(program(model.Node("NonMaxSuppression", tuple(arrays), ("y",)), arrays, f"int64[{count},3]"))
    found: list[list[bool]] = ill.tolist()
    return found


def test_which_of_two_boxes_with_equal_scores_is_selected_is_open() -> None:
    closed, box = [False, False, False], [False, False, True]
    assert suppressed([0.9, 0.8, 0.7], 2) == [closed, closed]
    assert suppressed([0.9, 0.9, 0.7], 2) == [box, closed]
    assert suppressed([0.9, 0.5, 0.9], 2) == [box, box]  # in either order
    assert suppressed([0.9, 0.5, 0.25], 1) == [closed]


def test_how_many_boxes_are_selected_may_depend_on_the_order_of_equal_scores() -> None:
    """The second box overlaps both others, which do not overlap each other: it is selected alone, or they are."""
    boxes = np.array([[[0, 0, 2, 2], [0, 0, 2, 3], [0, 1.8, 2, 3]]], np.float32)
    arrays: dict[str, Array] = {
        "b": boxes,
        "s": np.array([[[0.5, 0.5, 0.1]]], np.float32),
        "m": np.array([3], np.int64),
        "o": np.array([0.3], np.float32),
    }
    node = model.Node("NonMaxSuppression", tuple(arrays), ("y",))
    _, ill = envelope(program(node, arrays, "int64[2,3]"))
    assert ill.all()


def test_of_equal_indices_the_element_is_open_that_they_name() -> None:
    """ScatterElements of a version and a call without a row is a node of a file."""
    arrays: dict[str, Array] = {"x": X, "at": np.array([1, 1, 2], np.int64), "to": np.array([5, 6, 7], np.float32)}
    node = model.Node("ScatterElements", tuple(arrays), ("y",), (Attribute("axis", 0),))
    _, ill = envelope(program(node, arrays, "float32[4]"))
    assert ill.tolist() == [False, True, False, False]
