"""Rows of several nodes with sequences and optional tensors between them: result types, refusals, the nodes of the
file, and drawn cases in both readers."""

from __future__ import annotations

import pytest
from onnx_calls import inferred, invalid_case

from fuzzer.lanes.onnx.witnesses import by_interpreter, by_onnxruntime, file_of, to_proto
from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import Case, Form, Invalid, Profile
from generators.onnx.random_graph import generate
from generators.onnx.rows import ROWS

THREE = "float32[2,3] float32[] float32[4]"

TYPES = [
    ("SequenceAt-11", THREE, {"position": -1, "I": "int32"}, "float32[4]"),
    ("SequenceLength-11", THREE, {}, "int64[]"),
    ("SequenceErase-11", THREE, {"position": 0, "I": "int64", "at": 0}, "float32[]"),
    ("SequenceErase-11", THREE, {"I": "int64", "at": -1}, "float32[]"),
    ("SequenceInsert-11", THREE, {"position": 1, "I": "int64", "at": 1}, "float32[2,3]"),
    ("SequenceInsert-11", THREE, {"position": -1, "I": "int64", "at": -1}, "float32[4]"),
    ("SequenceEmpty-11", "int8[2]", {"dtype": "int8", "at": 0}, "int8[2]"),
    ("ConcatFromSequence-11", "int8[2,3] int8[2,1]", {"axis": -1}, "int8[2,4]"),
    ("ConcatFromSequence-11", "int8[2,3] int8[2,3]", {"axis": -1, "new_axis": 1}, "int8[2,3,2]"),
    ("SplitToSequence-11", "float32[2,5]", {"axis": 1, "split": 2, "I": "int64", "at": -1}, "float32[2,1]"),
    ("SplitToSequence-11", "float32[2,5]", {"axis": 1, "split": (1, 4), "I": "int32", "at": 1}, "float32[2,4]"),
    ("SplitToSequence-24", "float32[2,5]", {"keepdims": 0, "I": "int64", "at": 0}, "float32[5]"),
    ("OptionalGetElement-15", "bool[2]", {}, "bool[2]"),
    ("OptionalHasElement-18", "", {"wrapped": 0}, "bool[]"),
]

REFUSED = [
    ("SequenceAt-11", THREE, {"position": 3, "I": "int32"}, "position 3 is not within -3 and 2"),
    ("SequenceAt-11", "float32[2] int8[2]", {"position": 0, "I": "int32"}, "must be float32"),
    ("SequenceErase-11", THREE, {"I": "int64", "at": 2}, "position 2 is not within -2 and 1"),
    ("SequenceEmpty-11", "int8[2]", {"at": 0}, "a sequence of float32 takes no int8[2]"),
    ("ConcatFromSequence-11", "int8[2,3] int8[1,3]", {"axis": 1}, "does not join"),
    ("SplitToSequence-11", "float32[2,5]", {"split": (1, 2), "axis": 1, "I": "int64", "at": 0}, "no sizes of pieces"),
    ("SplitToSequence-11", "float32[2]", {"split": 1, "keepdims": 0, "I": "int64", "at": 0}, "for pieces of size 1"),
    ("SplitToSequence-11", "int8[2]", {"I": "int64", "at": 0}, "cannot be int8"),
    ("OptionalGetElement-15", "bool[2]", {"wrapped": 0}, "before version 18"),
]

TITLES = [
    "SequenceAt",
    "SequenceLength",
    "SequenceErase",
    "SequenceInsert",
    "SequenceEmpty",
    "ConcatFromSequence",
    "SplitToSequence",
    "OptionalGetElement",
    "OptionalHasElement",
]


@pytest.mark.parametrize(("row", "types", "given", "result"), TYPES)
def test_result_types(row: str, types: str, given: dict[str, object], result: str) -> None:
    assert inferred(row, types, **given) == result


@pytest.mark.parametrize(("row", "types", "given", "message"), REFUSED)
def test_refusals(row: str, types: str, given: dict[str, object], message: str) -> None:
    with pytest.raises(Invalid) as error:
        inferred(row, types, **given)
    assert message in str(error.value)


@pytest.mark.parametrize("title", TITLES)
def test_drawn_cases_are_valid_in_both_readers(title: str) -> None:
    assert invalid_case(title, 30) == ""


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
