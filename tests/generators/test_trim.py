from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from generators.builder import Builder
from generators.check import retyped
from generators.choice import NumpySource
from generators.domain import ANY, within
from generators.graph import DType, Form, Graph, Profile, TensorType, Value
from generators.table import TABLE
from generators.torch.random_graph import generate
from generators.trim import keep_nodes

F32 = TensorType(DType.FLOAT32, (2,))


def emit(b: Builder, op: str, *args: Value, form: Form = Form.PLAIN, **attrs: Any) -> Value:
    return b.emit(TABLE[op], args, {**TABLE[op].defaults, **attrs}, form)[0]


def graph(b: Builder, *outputs: Value) -> Graph:
    return Graph(tuple(b.inputs), tuple(b.nodes), tuple(value.name for value in outputs))


def chain() -> Graph:
    """neg, abs, tanh."""
    b = Builder(NumpySource(0))
    x = b.fresh_input(F32)
    return graph(b, emit(b, "tanh", emit(b, "abs", emit(b, "neg", x))))


@pytest.mark.parametrize(
    ("kept", "ops", "inputs", "outputs"),
    [
        ({0, 1, 2}, ("neg", "abs", "tanh"), ["x0"], ("v2",)),
        ({2}, ("tanh",), ["v1"], ("v2",)),
        ({1}, ("abs",), ["v0"], ("v1",)),
        ({0}, ("neg",), ["x0"], ("v0",)),
        ({0, 2}, ("neg", "tanh"), ["x0", "v1"], ("v2",)),
        (set(), ("tanh",), ["v1"], ("v2",)),
    ],
)
def test_a_result_of_a_removed_node_becomes_an_input(
    kept: set[int], ops: tuple[str, ...], inputs: list[str], outputs: tuple[str, ...]
) -> None:
    smaller = keep_nodes(chain(), kept)
    assert (smaller.ops, smaller.outputs) == (ops, outputs)
    assert [item.value.name for item in smaller.inputs] == inputs


def guarded(*guards: tuple[str, dict[str, Any]]) -> Graph:
    b = Builder(NumpySource(0), profile=Profile.SPECIAL)
    value = emit(b, "neg", b.fresh_input(F32))
    for op, attrs in guards:
        value = emit(b, op, value, **attrs)
    return graph(b, emit(b, "log", value))


def test_a_clamp_becomes_a_domain() -> None:
    smaller = keep_nodes(guarded(("clamp", {"min": 0.5, "max": 8.0})), {2})
    assert smaller.ops == ("log",)
    assert [item.domain for item in smaller.inputs] == [within(1, 8)]


def test_a_clip_of_onnx_becomes_a_domain() -> None:
    b = Builder(NumpySource(0), dialect="onnx", opset=17)
    x = emit(b, "Clip-13", emit(b, "Neg-13", b.fresh_input(F32)), min=0.5, max=8.0)
    smaller = keep_nodes(replace(graph(b, emit(b, "Log-13", x)), dialect="onnx", opset=17), {2})
    assert smaller.ops == ("Log",)
    assert [item.domain for item in smaller.inputs] == [within(1, 8)]


def test_a_guard_that_no_domain_can_replace_is_kept() -> None:
    assert keep_nodes(guarded(("clamp", {"min": 0.5})), {2}).ops == ("clamp", "log")
    with_nan = guarded(("nan_to_num", {}), ("clamp", {"min": 0.5}))
    assert keep_nodes(with_nan, {3}).ops == ("nan_to_num", "clamp", "log")


def test_a_nan_to_num_without_a_clamp_is_no_guard() -> None:
    assert keep_nodes(guarded(("nan_to_num", {})), {2}).ops == ("log",)


def test_a_call_in_place_gets_the_plain_form_if_its_operand_becomes_an_input() -> None:
    b = Builder(NumpySource(0))
    x = emit(b, "neg", b.fresh_input(F32))
    y = emit(b, "abs", x, form=Form.INPLACE)
    smaller = keep_nodes(graph(b, y), {1})
    assert [(node.op, node.form) for node in smaller.nodes] == [("abs", Form.PLAIN)]
    assert [item.domain for item in smaller.inputs] == [ANY]


@pytest.mark.slow
def test_any_nodes_of_any_graph_make_a_valid_graph() -> None:
    for index in range(150):
        whole = generate(NumpySource(14, index), symbolic=False).graph
        for kept in ({0}, {len(whole.nodes) - 1}, set(range(0, len(whole.nodes), 2))):
            smaller = keep_nodes(whole, kept)
            assert retyped(smaller) == smaller
            assert len(smaller.nodes) <= len(whole.nodes)
