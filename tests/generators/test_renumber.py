"""Standard names and a standard order of the inputs."""

from __future__ import annotations

from dataclasses import replace

from graphs_by_hand import Call, case_of, graph_of, numbered

from generators.check import check
from generators.graph import Case, Role
from generators.renumber import in_order_of_use, renumbered


def test_inputs_and_results_get_standard_names() -> None:
    calls: list[Call] = [
        ("b9", "add", "a9 p9"),
        ("d9 c9", "split", "b9", {"sizes": (1, 1), "dim": 0}),
        ("z9", "mul", "c9 y9"),
    ]
    graph = graph_of({"y9": "float32[1]", "p9": "float32[2]", "a9": "float32[2]"}, calls, "z9 d9")
    graph = replace(
        graph, inputs=tuple(replace(i, role=Role.PARAM if i.value.name == "p9" else Role.INPUT) for i in graph.inputs)
    )
    case = Case(graph, {item.value.name: numbered(item.value.type) for item in graph.inputs}, origin="here")
    after = renumbered(case)
    assert [item.value.name for item in after.graph.inputs] == ["x0", "w0", "x1"]
    assert [(node.args, [v.name for v in node.results]) for node in after.graph.nodes] == [
        (("x1", "w0"), ["v0"]),
        (("v0",), ["v1", "v2"]),
        (("v2", "x0"), ["v3"]),
    ]
    assert after.graph.outputs == ("v3", "v1")
    assert after.origin == "here"
    check(after)


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
