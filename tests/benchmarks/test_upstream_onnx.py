"""The bugs of TVM's importer of ONNX that others reported: what the file says, and that cases have the forms."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
import upstream_forms
from upstream_forms import REFUSED, Bug, directed, has_form, rows_of, upstream

from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import Case, Form
from generators.onnx.random_graph import generate
from oracles.finding import Kind
from oracles.lane import Importer

PAGE = Path(__file__).parents[2] / "docs" / "dialects.md"
LINK = r"\[(\d+)\]\(https://github\.com/apache/tvm/issues/\1\)"
ROW = re.compile(rf"^\| {LINK} \|" + r" (.*?) \|" * 6 + "$", re.M)
DRAWS = 600
"""A form that fewer than one in so many cases has is not drawn."""

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


class Cells(NamedTuple):
    """A row of the table."""

    number: str
    title: str
    reported: str
    fixed: str
    drawn: str
    in_newest: str
    in_oldest: str


def table() -> list[Cells]:
    return [Cells(*cells) for cells in ROW.findall(PAGE.read_text())]


def test_the_page_lists_exactly_these() -> None:
    assert [int(cells.number) for cells in table()] == [bug.number for bug in BUGS]
    for cells, bug in zip(table(), BUGS, strict=True):
        assert (cells.title, cells.reported, cells.fixed) == (bug.title, bug.reported, bug.fixed or "-")
        assert (cells.drawn == f"none: {bug.why_not}") if bug.why_not else int(cells.drawn) > 0


def test_the_page_counts_its_rows() -> None:
    text, rows = " ".join(PAGE.read_text().split()), table()
    drawn = sum(cells.drawn.isdigit() for cells in rows)
    unfixed = [cells for cells in rows if cells.fixed == "-"]
    recent = [cells for cells in rows if cells.fixed in ("0.26", "0.27")]
    assert f"Of {len(rows)} bugs, cases have the form of {drawn}." in text
    live = [cells for cells in rows if "shown" in cells.in_newest]
    assert f"Of {len(unfixed)} bugs without a fix, {len(live)} are shown by TVM 0.27.0.post1," in text
    assert set(live) <= set(unfixed), "and none of the others"
    assert [cells.number for cells in unfixed if cells not in live] == ["17866"], "the page says why"
    shown = sum("shown" in cells.in_oldest for cells in recent)
    assert f"Of {len(recent)} bugs with a fix in 0.26 or 0.27, {shown} are shown by TVM 0.25.0.post1" in text


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
