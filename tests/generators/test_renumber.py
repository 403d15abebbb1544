"""Standard names and a standard order of the inputs."""

from __future__ import annotations

from graphs_by_hand import case_of

from generators.check import check
from generators.renumber import in_order_of_use, renumbered


def test_inputs_stand_in_the_order_in_which_calls_read_them() -> None:
    case = case_of({"x0": "float32[3]", "x1": "float32[2,3]"}, [("v0", "sub", "x1 x0"), ("v1", "neg", "v0")], "v1")
    found = renumbered(in_order_of_use(case))
    check(found)
    assert [str(item.value.type) for item in found.graph.inputs] == ["float32[2,3]", "float32[3]"]
    assert found.graph.nodes[0].args == ("x0", "x1")
    assert found.tensors["x1"].shape == (3,)


def test_inputs_that_nothing_reads_come_last() -> None:
    case = case_of({"x0": "float32[3]", "x1": "float32[2]"}, [("v0", "neg", "x1")], "v0 x0")
    assert [item.value.name for item in in_order_of_use(case).graph.inputs] == ["x1", "x0"]
