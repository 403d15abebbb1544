"""Where a pass belongs: the table has what TVM's own documentation says, and lanes keep to it or are not filed."""

from __future__ import annotations

import ast
import importlib.util
import re
from functools import cache
from pathlib import Path

import pytest

from fuzzer.filing import misuse
from oracles.pass_places import (
    IN_A_PIPELINE,
    NO_PASSES_OF_RELAX,
    PASS_PLACES,
    WITHOUT_A_PLACE,
    Keeps,
    rows_elsewhere,
)
from oracles.transforms import TRANSFORMS, ModuleForm

NAMES_A_PLACE = re.compile(r"\b(assumes|is used in|recommend|useful for|to be called first|must)\b", re.IGNORECASE)


def source_of_tvm(*parts: str) -> ast.Module:
    spec = importlib.util.find_spec("tvm")
    assert spec is not None
    assert spec.origin is not None
    return ast.parse(Path(spec.origin).parent.joinpath("relax", *parts).read_text())


@cache
def documented() -> dict[str, str]:
    """By pass that is drawn, the sentences of its documentation that name a place."""
    tree = source_of_tvm("transform", "transform.py")
    drawn, found = {row.pass_name for row in TRANSFORMS}, {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in drawn:
            text = re.split(r"\n(?:Parameters|Returns|Examples?)\b", ast.get_docstring(node) or "")[0]
            sentences = [" ".join(each.split()) for each in re.split(r"(?<=[.])\s", text)]
            if names := [each for each in sentences if NAMES_A_PLACE.search(each)]:
                found[node.name] = " ".join(names)
    return found


def test_the_table_has_each_drawn_pass_whose_documentation_names_a_place() -> None:
    assert documented().keys() == PASS_PLACES.keys(), documented()


@pytest.mark.parametrize("name", PASS_PLACES)
def test_what_is_quoted_stands_in_the_documentation(name: str) -> None:
    assert PASS_PLACES[name].says in documented()[name]


def test_a_pass_outside_of_its_place_is_a_misuse() -> None:
    (elsewhere,) = rows_elsewhere()
    assert elsewhere[1:] == ("SplitLayoutRewritePreproc", ("SplitLayoutRewritePreproc",))
    (entry,) = (entry for entry in misuse.entries() if entry.passes == elsewhere[2])
    assert (entry.why, entry.kind, entry.stage) == (elsewhere[0].why, None, None)
    assert entry.source == f"tvm.relax.transform.SplitLayoutRewritePreproc: {elsewhere[0].says}"


def test_a_place_that_a_row_gives_is_in_the_row() -> None:
    rows = {row.pass_name: row for row in TRANSFORMS}
    assert {name for name, place in PASS_PLACES.items() if place.keeps is Keeps.BY_ITS_ROW} == {
        "RemovePurityChecking",
        "ToMixedPrecision",
    }
    assert rows["ToMixedPrecision"].floats == ("float32",)
    assert "ToNonDataflow" in rows["RemovePurityChecking"].source
    assert rows["RemovePurityChecking"].form is ModuleForm.LOWERED


def test_each_drawn_pass_has_its_place_or_none() -> None:
    """By its documentation, by a pipeline of TVM, or by neither; a pass that TVM adds to a pipeline shows here."""
    drawn = {row.pass_name for row in TRANSFORMS}
    others = drawn - PASS_PLACES.keys() - NO_PASSES_OF_RELAX
    calls = {
        node.func.attr
        for node in ast.walk(source_of_tvm("pipeline.py"))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    assert others & calls == IN_A_PIPELINE
    assert others - calls == WITHOUT_A_PLACE
    defined = {
        node.name for node in source_of_tvm("transform", "transform.py").body if isinstance(node, ast.FunctionDef)
    }
    assert drawn - defined >= NO_PASSES_OF_RELAX
