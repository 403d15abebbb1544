"""No text of a finding becomes code: all payloads as one, in a share of all places, and each payload by
`benchmarks/script_payloads.py`."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
import script_payloads
from msgspec import inspect
from script_payloads import EVIDENCE, SHORT, Share

from fuzzer.difference.reports import sarif
from fuzzer.findings import field_forms, finding_file, natural_file, record
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.natural_file import NaturalDoc
from fuzzer.report import given_calls, module_script, repro, repro_verdict
from fuzzer.report.no_script import why_no_script
from fuzzer.report.script_source import Source
from generators.onnx import model

SHARES = 5


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, SHARES))])
def test_no_text_becomes_code(first: int) -> None:
    """A run tries one of five texts, spread over all places."""
    tried = [each for _, each in script_payloads.attempts(SHORT, Share(SHARES, first, short=True))]
    assert [fault for each in tried for fault in each.faults] == []
    assert sum(each.places for each in tried) > 600
    assert sum(each.read for each in tried) > 200 / SHARES


def test_a_text_that_becomes_code_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = script_payloads.with_evidence("raised", tmp_path / "finding")
    monkeypatch.setattr(repro_verdict, "quoted", lambda text: Source(f'"{text}"'))
    place = ("evidence", "raised", "message")
    tried = script_payloads.tried_in(folder, finding_file.NAME, (' and a message" #',), Share(), place)
    assert len(tried.faults) == tried.texts


def unchanged(text: str) -> str:
    return text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "name", "payload"),
    [(sarif, "without_links", " [x](https://x.y)"), (module_script, "in_docstring", " \\N{x")],
)
def test_a_link_of_sarif_and_code_in_a_script_of_a_module_are_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: ModuleType, name: str, payload: str
) -> None:
    folder = script_payloads.with_evidence("raised", tmp_path / "finding")
    place = ("evidence", "raised", "message")
    assert not script_payloads.tried_in(folder, finding_file.NAME, (payload,), Share(), place).faults
    monkeypatch.setattr(where, name, unchanged)
    assert script_payloads.tried_in(folder, finding_file.NAME, (payload,), Share(), place).faults


def test_the_shares_together_have_each_text_of_each_place_once() -> None:
    texts = [f"{number}" for number in range(50)]
    for place in (1, 2, 3):
        parts = [Share(7, first).of(place, texts) for first in range(7)]
        assert sorted(text for part in parts for text in part) == sorted(texts)
        assert {len(part) for part in parts} == {7, 8}
    assert not set(Share(7, 0).of(1, texts)) & set(Share(7, 0).of(2, texts))
    assert Share().of(1, texts) == texts


def test_the_given_program_of_the_payloads_has_a_script(tmp_path: Path) -> None:
    found = record.read(script_payloads.with_program(tmp_path / "finding"))
    assert why_no_script(found) == ""
    script = repro.script(found)
    assert "(c,) = torch.ops.higher_order.cond(True, f, g, (x,))" in script
    assert 'a, b = torch.ops.aten.gelu.default(c, approximate="none", device="cpu")' in script
    assert 's0 = torch.export.Dim("s0", min=2, max=9)' in script


@pytest.mark.slow
def test_a_name_of_a_given_program_that_became_code_would_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = script_payloads.with_program(tmp_path / "finding")
    first = script_payloads.shapes(record.read(folder), folder)
    monkeypatch.setattr(given_calls.Names, "new", lambda self, text: Source(text))
    place = ("graph_module", "graph", "nodes", 3, "outputs", 0, "as_tensors", 1, "name")
    shapes = [
        script_payloads._shapes_with(folder, script_payloads.GIVEN, script_payloads.PROGRAM, place, text)
        for text in ("other", "b = []; b")
    ]
    assert [each == first for each in shapes] == [False, False]
    assert shapes[0] != shapes[1]


@pytest.mark.parametrize("kind", EVIDENCE)
def test_every_kind_of_evidence_can_be_filled(tmp_path: Path, kind: str) -> None:
    folder = script_payloads.with_evidence(kind, tmp_path / "finding")
    assert getattr(record.read(folder).shown.doc.evidence, kind) is not None


def texts(type: object, owner: object = None, name: str = "") -> set[tuple[object, str]]:
    """The fields of a type of documents that have texts, and of the types below it."""
    match type:
        case inspect.StructType(cls=cls, fields=fields) | inspect.DataclassType(cls=cls, fields=fields):
            return set().union(*(texts(each.type, cls, each.name) for each in fields))
        case inspect.UnionType(types=types) | inspect.TupleType(item_types=types):
            return set().union(*(texts(each, owner, name) for each in types))
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            return texts(item, owner, name)
        case inspect.DictType(key_type=key, value_type=value):
            return texts(key, owner, name) | texts(value, owner, name)
        case inspect.StrType() | inspect.LiteralType():
            return {(owner, name)}
        case _:
            return set()


def test_each_text_has_a_form_and_each_form_a_text() -> None:
    assert texts(inspect.type_info(FindingDoc)) == set(field_forms.FORMS)
    of_natural = texts(inspect.type_info(NaturalDoc)) - {(NaturalDoc, "case"), (NaturalDoc, "onnx")}
    assert of_natural <= set(natural_file.FORMS)


def test_each_text_of_an_onnx_file_has_a_form() -> None:
    declared = {
        (cls, name)
        for cls in (model.OnnxModel, model.Value, model.Tensor, model.Attribute, model.Body, model.Node, model.Function)
        for name, type in cls.__annotations__.items()
        if any(word in type for word in ("str", "Element", "dict"))
    }
    assert declared == set(model.FORMS)
