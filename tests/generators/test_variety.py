"""Graphs are drawn so that their results show a wrong index, order or axis."""

from __future__ import annotations

import pytest

from generators.choice import NumpySource
from generators.dialect import dialect_named, dialects
from generators.dialect_names import NAMES
from generators.graph import DType, Form, Graph, Input, Layout, Node, TensorType, Value
from generators.limits import Limits
from generators.torch.ops import OPS
from generators.torch.random_graph import draw_graph
from generators.variety import may_differ, shows_little, with_output_that_shows

F32 = DType.FLOAT32


def value(name: str, *shape: int, dtype: DType = F32) -> Value:
    return Value(name, TensorType(dtype, shape))


X = value("x0", 2, 3)
"""An input of six numbers."""


def graph(*nodes: Node, outputs: tuple[str, ...], inputs: tuple[Input, ...] = (Input(X),)) -> Graph:
    return Graph(inputs, nodes, outputs)


def call(op: str, arg: str, result: Value, form: Form = Form.PLAIN) -> Node:
    return Node(op, (arg,), {}, (result,), form)


TO_A_SUM = (call("relu", "x0", value("v0", 2, 3)), call("sum", "v0", value("v1")))


@pytest.mark.parametrize(
    ("item", "differs"),
    [
        (Input(X), True),
        (Input(value("x0", 2, 1)), False),
        (Input(value("x0", 5, dtype=DType.INT64)), False),
        (Input(value("x0", 5, 2), layout=Layout.EXPANDED), False),
        (Input(value("x0", 5, 3), layout=Layout.EXPANDED), True),
    ],
)
def test_an_input_differs_where_it_holds_at_least_three_floats(item: Input, differs: bool) -> None:
    assert may_differ(graph(outputs=("x0",), inputs=(item,))) == ({"x0"} if differs else set())


def test_a_result_differs_where_an_operand_does_and_the_operator_keeps_that() -> None:
    nodes = (
        *TO_A_SUM,
        call("clamp", "v0", value("v2", 2, 3)),
        call("expand", "v1", value("v3", 4)),
        call("relu", "v2", value("v4", 2, 3)),
    )
    assert may_differ(graph(*nodes, outputs=("v4",))) == {"x0", "v0"}


def test_a_graph_that_shows_little_gets_the_last_result_that_shows_more() -> None:
    nodes = (
        call("relu", "x0", value("v0", 2, 3)),
        call("sin", "v0", value("v1", 2, 3)),
        call("sum", "v1", value("v2")),
    )
    little = graph(*nodes, outputs=("v2",))
    assert shows_little(little)
    more = with_output_that_shows(little, little)
    assert more.outputs == ("v2", "v1")
    assert not shows_little(more)
    assert with_output_that_shows(more, more) == more


def test_what_is_overwritten_or_left_out_is_not_added() -> None:
    overwriting = (
        call("relu", "x0", value("v0", 2, 3)),
        call("sin", "v0", value("v1", 2, 3), Form.INPLACE),
        call("sum", "v1", value("v2")),
        call("cos", "x0", value("v3", 2, 3)),
    )
    given = graph(*overwriting, outputs=("v2",))
    assert with_output_that_shows(given, given).outputs == ("v2", "v1")
    alone = graph(*overwriting[:1], call("sum", "x0", value("v4")), outputs=("v4",))
    assert with_output_that_shows(alone, alone) == alone


def test_a_graph_without_floats_in_its_outputs_needs_none() -> None:
    integers = graph(call("argmax", "x0", value("v0", dtype=DType.INT64)), outputs=("v0",))
    assert not shows_little(integers)
    assert shows_little(graph(*TO_A_SUM, outputs=("v1",)))


def test_the_operators_are_rows() -> None:
    for each in dialects():
        assert each.flattening, each.name
        assert {row.partition("-")[0] for row in each.rows()} >= each.flattening, each.name


@pytest.mark.parametrize("dialect", NAMES)
def test_few_graphs_that_are_drawn_show_little(dialect: str) -> None:
    """Without more attempts and outputs, it is one of four."""
    record = dialect_named(dialect)
    cases = [record.draw(NumpySource(3, number), Limits(), record.drawn()).case() for number in range(60)]
    assert sum(shows_little(case.bound) for case in cases) <= 1


def test_a_row_that_always_shows_little_is_drawn_all_the_same() -> None:
    (row,) = (row for row in OPS if row.name == "eye_size")
    assert "eye_size" in draw_graph(NumpySource(1, 0), Limits(max_nodes=1), (row,)).graph.ops
