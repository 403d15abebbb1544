"""Which nodes of a file are one call."""

from __future__ import annotations

import pytest

from fuzzer.seeds.onnx.groups import groups
from generators.onnx.model import Attribute, Body, Node, Value

CHAIN = (
    Node("A", ("x",), ("s",)),
    Node("B", ("s",), ("t",)),
    Node("C", ("x",), ("u",)),
    Node("D", ("t", "u"), ("v",)),
    Node("E", ("s", "v"), ("y",)),
)


@pytest.mark.parametrize(
    ("opaque", "found"),
    [
        ("", [(0,), (1,), (2,), (3,), (4,)]),
        ("y", [(0,), (1,), (2,), (3,), (4,)]),  # nothing reads it
        ("t", [(0,), (2,), (1, 3), (4,)]),
        ("st", [(2,), (0, 1, 3, 4)]),
        ("s", [(2,), (0, 1, 3, 4)]),  # D is on the way from B to E
    ],
)
def test_nodes_that_share_a_value_and_those_between_them_are_one_call(
    opaque: str, found: list[tuple[int, ...]]
) -> None:
    assert groups(CHAIN, set(opaque)) == found


def test_what_a_graph_inside_of_a_node_reads_is_shared_too() -> None:
    body = Body((Node("G", ("s",), ("g",)),), (Value("g", None, None),))
    nodes = (CHAIN[0], Node("If", ("x",), ("y",), (Attribute("then_branch", body=body),)))
    assert groups(nodes, {"s"}) == [(0, 1)]
