"""Rows of several nodes with sequences and optional tensors between them: the nodes of the file."""

from __future__ import annotations

import pytest

from fuzzer.lanes.onnx.witnesses import by_interpreter, by_onnxruntime, file_of, to_proto
from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import Case, Form, Profile
from generators.onnx.random_graph import generate
from generators.onnx.rows import ROWS


def drawn(row: str, form: Form) -> Case:
    """The first case of one call in this form."""
    for number in range(400):
        source = NumpySource(3, number)
        case = generate(source, Limits(max_nodes=1), [ROWS[row]], profile=Profile.NORMAL, symbolic=False, opset=17)
        if case.graph.nodes[0].form is form:
            return case
    raise AssertionError(f"no {row} in the form {form}")


def test_a_call_is_written_as_nodes_in_a_row() -> None:
    case = drawn("SequenceErase-11", Form.PLAIN)
    construct, erase, at = file_of(case).model.nodes[-3:]
    assert (construct.op, erase.op, at.op) == ("SequenceConstruct", "SequenceErase", "SequenceAt")
    assert construct.inputs == case.graph.nodes[0].args
    assert erase.inputs[0] == construct.outputs[0]
    assert at.inputs[0] == erase.outputs[0]
    assert at.outputs == (case.graph.nodes[0].results[0].name,)


def test_the_nodes_have_the_attributes_of_their_operator() -> None:
    construct, concat = file_of(drawn("ConcatFromSequence-11", Form.PLAIN)).model.nodes[-2:]
    assert construct.attributes == ()
    assert {each.name for each in concat.attributes} <= {"axis", "new_axis"}


@pytest.mark.parametrize("form", [Form.LOCAL, Form.BRANCH, Form.IDENTITY, Form.AS_INPUT])
def test_all_nodes_are_in_the_function_or_branch(form: Form) -> None:
    case = drawn("SequenceInsert-11", form)
    file = file_of(case)
    steps = {"SequenceConstruct", "SequenceInsert", "SequenceAt"}
    outside = {node.op for node in file.model.nodes}
    assert (not steps & outside) if form in (Form.LOCAL, Form.BRANCH) else steps <= outside
    model = to_proto(file.model)
    for run in (by_onnxruntime, by_interpreter):
        assert [array.shape for array in run(model, file.inputs)] == [t.sizes for t in case.graph.output_types]
