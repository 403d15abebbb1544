"""Which node tests the comparison of `difftvm.check` with a sweep takes, and what it says of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from node_tests import Answer, answer_on, chosen_of
from onnx import TensorProto, helper

from fuzzer.evaluation.status import Status
from fuzzer.evaluation.sweep_table import SampleResult

LINES = [
    SampleResult("Add-14/test_add", {"lane": (Status.SUPPORTED, "")}),
    SampleResult("Clip-13/test_clip", {"lane": (Status.SUPPORTED, "")}),
    SampleResult("Clip-13-expanded/test_clip_expanded", {"lane": (Status.WRONG, "why")}),
]


@pytest.mark.parametrize(
    ("statuses", "globs", "names"),
    [
        (["supported"], ["*"], ["test_add", "test_clip"]),
        (["supported", "wrong"], ["Clip-13*"], ["test_clip", "test_clip_expanded"]),
        (["supported"], ["Clip-13", "test_a*"], ["test_add", "test_clip"]),
    ],
)
def test_tests_are_chosen_by_status_and_name(statuses: list[str], globs: list[str], names: list[str]) -> None:
    assert [key.rpartition("/")[2] for key, _ in chosen_of(LINES, statuses, globs)] == names


def named(op: str, **attributes: Any) -> Any:
    values = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xy")
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"], **attributes)], "g", *([value] for value in values))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return SimpleNamespace(name=f"test_{op.lower()}", model=model, data_sets=[([np.ones((2, 3), np.float32)], [])])


@pytest.mark.tvm
@pytest.mark.long
def test_answers() -> None:
    """A right file, one that TVM refuses, one with a node that TVM refuses, and one whose inputs onnxruntime does not
    take."""
    assert answer_on(named("Relu")) == (Answer.RIGHT, "")
    answer, why = answer_on(named("Bernoulli"))
    assert (answer, "Bernoulli" in why) == (Answer.NOT_RUN, True)
    graph = (partly := named("Relu")).model.graph
    graph.node.append(helper.make_node("Bernoulli", ["y"], ["z"]))
    graph.output.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, [2, 3]))
    answer, why = answer_on(partly)
    assert (answer, why.startswith("Bernoulli (1 time): ")) == (Answer.PARTLY, True)
    wrong = named("Relu")
    wrong.data_sets[0][0][0] = np.ones((3, 3), np.float32)
    assert answer_on(wrong)[0] is Answer.REFUSED
