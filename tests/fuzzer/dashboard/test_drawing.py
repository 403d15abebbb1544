"""Where boxes stand and lines run, to the pixel."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from graphs_by_hand import Call, case_of
from hypothesis import given
from hypothesis import strategies as st

from fuzzer.dashboard.drawing import GAP, HEIGHT, LAYER_GAP, MOST_NODES, Box, BoxKind, Drawing, drawing
from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import Case
from generators.torch.random_graph import generate


def test_a_chain() -> None:
    case = case_of({"x0": "float32[2]"}, [("v0", "softmax", "x0", {"dim": 0})], "v0")
    assert drawing(case, "softmax") == Drawing(
        width=101.0,
        height=186.0,
        boxes=(
            Box(BoxKind.INPUT, 0.0, 0.0, 101.0, 42.0, "x0", "float32[2]", "input"),
            Box(BoxKind.BLAMED, 0.0, 72.0, 101.0, 42.0, "softmax", "float32[2]", "dtype=None, dim=0"),
            Box(BoxKind.OUTPUT, 7.3, 144.0, 86.4, 42.0, "output 0", "v0", ""),
        ),
        lines=(((50.5, 42.0), (50.5, 72.0)), ((50.5, 114.0), (50.5, 144.0))),
    )


def test_the_blamed_function_of_a_sweep_is_marked_and_no_other() -> None:
    case = case_of({"x0": "float32[2]"}, [("v0", "neg", "x0"), ("v1", "neg", "v0")], "v1")
    nodes = tuple(
        replace(node, op="torch_call", attrs={"call": f"torch.{name}(a0)", "types": ("float32[2]",)})
        for node, name in zip(case.graph.nodes, ("erf", "sinc"), strict=True)
    )
    drawn = drawing(replace(case, graph=replace(case.graph, nodes=nodes)), "torch.sinc")
    assert [box.label for box in drawn.boxes if box.sort is BoxKind.BLAMED] == ["torch.sinc"]


def test_a_line_that_passes_a_layer_runs_beside_its_boxes() -> None:
    calls = [("v0", "relu", "x0"), ("v1", "neg", "v0"), ("v2", "add", "v1 x0")]
    drawn = drawing(case_of({"x0": "float32[2]"}, calls, "v2"))
    (long,) = (line for line in drawn.lines if len(line) > 2)
    assert [y for _, y in long] == [42.0, 72.0, 114.0, 144.0, 186.0, 216.0]
    for x, y in long[1:-1]:
        assert all(not (box.x < x < box.x + box.width) for box in drawn.boxes if box.y <= y <= box.y + box.height)


def test_an_input_stands_just_above_what_reads_it() -> None:
    calls = [("v0", "relu", "x0"), ("v1", "neg", "v0"), ("v2", "add", "v1 x1")]
    drawn = drawing(case_of({"x0": "float32[2]", "x1": "float32[2]"}, calls, "v2"))
    assert {box.label: box.y for box in drawn.boxes if box.label in ("x1", "neg")} == {"x1": 144.0, "neg": 144.0}
    assert {len(line) for line in drawn.lines} == {2}


def test_results_of_one_node_are_one_box_and_operands_twice_one_line() -> None:
    calls: list[Call] = [("v0 v1", "split", "x0", {"sizes": (1, 1), "dim": 0}), ("v2", "add", "v0 v0")]
    drawn = drawing(case_of({"x0": "float32[2]"}, calls, "v2 v1"))
    assert [box.label for box in drawn.boxes].count("split") == 1
    assert len(drawn.lines) == 4


@pytest.mark.slow
@given(st.integers(0, 10_000))
def test_boxes_of_any_graph_keep_apart(number: int) -> None:
    drawn = drawing(generate(NumpySource(3, number), Limits(12)))
    rows: dict[float, list[Box]] = {}
    for box in drawn.boxes:
        assert 0 <= box.x <= box.x + box.width <= drawn.width + 0.1
        rows.setdefault(box.y, []).append(box)
    for row in rows.values():
        for left, right in pairwise(sorted(row, key=lambda box: box.x)):
            assert right.x - left.x - left.width >= GAP - 0.2
    assert drawn.height == (len(rows) - 1) * (HEIGHT + LAYER_GAP) + HEIGHT


@pytest.mark.parametrize("more", [0, 7])
def test_of_a_large_graph_the_first_nodes(more: int) -> None:
    calls = [(f"v{n}", "relu", f"v{n - 1}" if n else "x0") for n in range(MOST_NODES + more)]
    case: Case = case_of({"x0": "float32[2]"}, calls, f"v{MOST_NODES + more - 1}")
    drawn = drawing(case)
    assert (drawn.left_out, sum(box.sort is BoxKind.OPERATOR for box in drawn.boxes)) == (more, MOST_NODES)
