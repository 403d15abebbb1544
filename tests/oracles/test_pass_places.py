"""Where a pass belongs: the table has what TVM's own documentation says, and lanes keep to it or are not filed."""

from __future__ import annotations

import ast
import importlib.util
import re
from functools import cache
from pathlib import Path

import pytest

from fuzzer.filing import misuse
from oracles.pass_places import PASS_PLACES, Keeps, rows_elsewhere
from oracles.transforms import TRANSFORMS, ModuleForm

NAMES_A_PLACE = re.compile(r"\b(assumes|is used in|recommend|useful for|to be called first|must)\b", re.IGNORECASE)


@cache
def documented() -> dict[str, str]:
    """By pass that is drawn, the sentences of its documentation that name a place."""
    spec = importlib.util.find_spec("tvm")
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse((Path(spec.origin).parent / "relax" / "transform" / "transform.py").read_text())
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
