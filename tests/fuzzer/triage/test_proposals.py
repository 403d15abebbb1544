"""What is proposed for a case that has the model of a person: parts of that model, and its graph without the model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import pytest
from fakes import TVM_MODEL
from onnx import TensorProto, helper

from fuzzer.triage.neighbourhoods import WINDOW, windows
from fuzzer.triage.proposals import smaller_proposals
from fuzzer.triage.reducers import Reducer, Subject
from fuzzer.triage.reducers.cut_region import cut_region
from fuzzer.triage.reducers.keep_region import keep_region
from fuzzer.triage.reducers.plain_lane import plain_lane
from fuzzer.triage.reducers.plain_values import plain_values
from fuzzer.triage.reducers.pointed_node import pointed_node
from fuzzer.triage.reducers.shrink_dims import shrink_dims
from fuzzer.triage.reducers.without_given import without_given
from generators.graph import Case, Given, Graph, Input, Node, TensorType, Value

TYPE = TensorType.parse("float32[2]")
OPS = ("Abs", "Neg", "Sin", "Cos")
ROWS = ("Abs-13", "Neg-13", "Sin-7", "Cos-7")


def subject(count: int = 4) -> Subject:
    """The nodes in a row, as many as asked for."""
    files = [helper.make_node(OPS[at % 4], [f"t{at}"], [f"t{at + 1}"]) for at in range(count)]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("t0", f"t{count}")]
    model = helper.make_model(helper.make_graph(files, "g", ends[:1], ends[1:]), ir_version=9)
    nodes = tuple(
        Node(ROWS[at % 4], (f"v{at - 1}" if at else "x0",), {}, (Value(f"v{at}", TYPE),)) for at in range(count)
    )
    graph = Graph((Input(Value("x0", TYPE)),), nodes, (f"v{count - 1}",), "onnx", opset=18)
    made = {f"v{at}": f"t{at + 1}" for at in range(count)}
    given = Given(graph, model.SerializeToString(), {"x0": "t0"}, made=made)
    array = np.array([0.5, 3], np.float32)
    return Subject(Case(graph, {"x0": array}, given=given), TVM_MODEL, dict.fromkeys(made, array))


def operators(case: Case) -> list[str]:
    """Those of the given model. The graph has the same ones."""
    if case.given is None:
        return []
    found = [node.op_type for node in onnx.load_from_string(case.given.model).graph.node]
    assert found == list(case.graph.ops)
    return found


@pytest.mark.parametrize(
    ("reducer", "proposed"),
    [
        (without_given, [[]]),
        (keep_region, [["Abs", "Neg"], ["Sin", "Cos"], ["Abs", "Neg", "Sin"], ["Neg", "Sin", "Cos"]]),
        (cut_region, [["Sin", "Cos"]]),
        (shrink_dims, []),  # the model has its own sizes
    ],
)
def test_a_proposal_has_that_part_of_the_model_which_is_its_graph(reducer: Reducer, proposed: list[list[str]]) -> None:
    assert [operators(each.case) for each in smaller_proposals(reducer, subject())] == proposed


def test_other_numbers_and_other_lanes_keep_the_model() -> None:
    whole = subject()
    other = replace(whole, lane=replace(whole.lane, passes=("FuseOps",)))
    found = [*smaller_proposals(plain_values, whole), *smaller_proposals(plain_lane, other)]
    assert len(found) > 1
    assert {tuple(operators(each.case)) for each in found} == {OPS}


def test_a_node_that_is_pointed_at_is_proposed_without_the_model_first() -> None:
    found = smaller_proposals(pointed_node, replace(subject(), suspects=("v2",)))
    assert [operators(each.case) for each in found] == [[], ["Sin"]]


def test_windows_of_a_large_model_are_parts_of_it() -> None:
    whole = subject(150)
    found = [operators(case) for case in windows(whole.case, whole.lane, whole.computed)]
    assert [len(each) for each in found] == [WINDOW, WINDOW, 150 - 2 * 56]
