"""The bugs of TVM's importer of ONNX that others reported: what the file says, and that cases have the forms."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import upstream_forms
from upstream_forms import REFUSED, Bug, directed, has_form, rows_of, upstream

from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import Case, Form
from generators.onnx.random_graph import generate
from oracles.finding import Kind
from oracles.lane import Importer

DRAWS = 600
"""A form that fewer than one in `DRAWS` cases has is not drawn."""

BUGS = upstream().bug
BY_NUMBER = {bug.number: bug for bug in BUGS}
every_bug = pytest.mark.parametrize("bug", BUGS, ids=lambda bug: str(bug.number))


def test_there_are_enough_and_none_twice() -> None:
    numbers = [bug.number for bug in BUGS]
    assert len(numbers) >= 25
    assert numbers == sorted(set(numbers))


@every_bug
def test_the_fields_of_a_bug_are_there(bug: Bug) -> None:
    assert re.fullmatch(r"202[4-9]-(0[1-9]|1[0-2])", bug.reported)
    assert re.fullmatch(r"(0\.\d\d)?", bug.fixed)
    assert bug.title
    assert bug.shows
    assert {each.partition(": ")[0] for each in bug.shows} <= {*Kind, REFUSED}
    assert {row.name.rpartition("-")[0] for row in rows_of(*bug.ops)} == set(bug.ops), "each operator has a row"
    assert all(rows_of(each) for each in (bug.reads, bug.read_by) if each)
    assert bug.runs_in.importer is Importer.ONNX_MODEL
    assert not (bug.why_not and bug.form), "what is not drawn has no conditions"


@pytest.mark.exhaustive
@every_bug
def test_a_case_of_the_operators_has_the_form(bug: Bug) -> None:
    assert any(has_form(bug, case) for case in directed(bug, DRAWS, 1)) is not bool(bug.why_not)


# --- has_form


def clip(number: int = 0, opset: int = 13) -> Case:
    return generate(NumpySource(1, number), Limits(max_nodes=1), rows_of("Clip"), symbolic=False, opset=opset)


def written(case: Case, form: Form) -> Case:
    nodes = tuple(replace(node, form=form) for node in case.graph.nodes)
    return replace(case, graph=replace(case.graph, nodes=nodes))


def about(**more: object) -> Bug:
    return replace_fields(BY_NUMBER[19533], why_not="", **more)


def replace_fields(bug: Bug, **more: object) -> Bug:
    return upstream_forms.msgspec.structs.replace(bug, **more)


def test_a_condition_is_about_the_call() -> None:
    wanted = about(form=(("call", "form", "in", "as-input"),))
    assert has_form(wanted, written(clip(), Form.AS_INPUT))
    assert not has_form(wanted, written(clip(), Form.PLAIN))


def test_the_opset_must_fit() -> None:
    assert has_form(about(opsets=(11, 13)), clip(opset=13))
    assert not has_form(about(opsets=(11, 12)), clip(opset=13))


def test_another_operator_has_not_the_form() -> None:
    assert not has_form(about(ops=("Relu",)), clip())


def test_an_attribute_is_given_or_left_out() -> None:
    left_out, given = (about(form=(("max", "value", words),)) for words in ("left out", "given"))
    found = [(case.graph.nodes[-1].attrs["max"] is None, case) for case in map(clip, range(30))]
    assert {is_left_out for is_left_out, _ in found} == {True, False}
    for is_left_out, case in found:
        assert has_form(left_out, case) is is_left_out
        assert has_form(given, case) is not is_left_out


@pytest.mark.slow
def test_one_call_reads_another() -> None:
    bug = BY_NUMBER[20280]
    cases = [case for case in directed(bug, 400, 1) if has_form(bug, case)]
    assert cases
    for case in cases:
        plain = replace(case.graph, nodes=tuple(replace(node, form=Form.PLAIN) for node in case.graph.nodes))
        assert not has_form(bug, replace(case, graph=plain)), "the Slice must have its bounds as inputs"
        assert has_form(replace_fields(bug, read_as=None), replace(case, graph=plain))
