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
