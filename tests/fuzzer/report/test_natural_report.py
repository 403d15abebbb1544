"""The natural case of a finding: which one is shown, how it is saved, and what the reports say."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import fakes
import msgspec
import numpy as np
import pytest
from graphs_by_hand import case_of
from labs import FakeLab

from fuzzer.findings import finding_doc, natural_file
from fuzzer.findings.record import FindingRecord, read
from fuzzer.isolate.reports import ScriptRun
from fuzzer.report import issue, page, repro
from fuzzer.report.add_to import add_natural
from fuzzer.report.natural import MORE_LINES, natural_to_show
from fuzzer.triage.investigate import Investigated, Sighting
from generators.graph import Case, Invalid
from oracles.finding import Kind, Mismatch, WorstElement
from oracles.lane import LaneSpec
from oracles.outcome import Stage

Make = Callable[..., tuple[Investigated, Sighting]]
USUAL = case_of({"x0": "float32[4,5]"}, [("v0", "relu", "x0")], "v0")


@pytest.fixture
def natural(make: Make) -> Investigated:
    found, _ = make()
    return replace(found, case=USUAL, script=ScriptRun(1))


def test_the_natural_case_comes_back(saved: Path, natural: Investigated) -> None:
    record = add_natural(saved, natural)
    assert record.natural is not None
    assert record.natural.doc == msgspec.structs.replace(record.doc, script=ScriptRun(1))
    assert record.natural.case.graph == USUAL.graph
    assert np.array_equal(record.natural.case.tensors["x0"], USUAL.tensors["x0"])
    assert record.natural.doc.script == ScriptRun(1)
    assert record.shown is record.natural


def test_the_reduced_case_and_its_document_stay(saved: Path, natural: Investigated) -> None:
    before = {path.name: path.read_bytes() for path in saved.iterdir()}
    add_natural(saved, natural)
    after = {path.name: path.read_bytes() for path in saved.iterdir()}
    assert after.keys() - before.keys() == {natural_file.NAME, natural_file.TENSORS}
    assert {name for name in before if before[name] != after[name]} <= {"repro.py", "issue.md", "log.txt", "mark.txt"}


def test_the_reports_show_the_natural_case(saved: Path, natural: Investigated) -> None:
    small = read(saved)
    record = add_natural(saved, natural)
    assert "float32[4,5]" not in repro.script(small)
    for text in (repro.script(record), issue.body(record), page.html(record), (saved / "repro.py").read_text()):
        assert "float32[4,5]" in text
    assert "then shown with usual types and sizes" in (saved / "issue.md").read_text()
    assert "then shown with usual types and sizes" not in issue.text(small)


def test_a_finding_without_one_has_none(saved: Path) -> None:
    record = read(saved)
    assert record.natural is None
    assert record.shown is record


def test_nan_in_the_evidence_comes_back(saved: Path, natural: Investigated) -> None:
    worst = WorstElement((0,), 1.0, math.nan, math.inf, 0.1)
    wrong = replace(natural.finding, kind=Kind.WRONG_VALUE, evidence=Mismatch(0, "1.0", "nan", worst=worst))
    record = add_natural(saved, replace(natural, finding=wrong))
    assert record.natural is not None
    assert repr(record.natural.doc.evidence.evidence) == repr(wrong.evidence)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        (natural_file.NAME, b"{", "natural.json: Input data was truncated"),
        (natural_file.NAME, b'{"format": 1}', "natural.json: Object missing required field"),
        (natural_file.TENSORS, b"", "natural.json/tensors.safetensors"),
    ],
)
def test_a_damaged_file_is_one_clear_line(
    saved: Path, natural: Investigated, name: str, data: bytes, message: str
) -> None:
    add_natural(saved, natural)
    (saved / name).write_bytes(data)
    with pytest.raises(Invalid, match=message) as raised:
        read(saved)
    assert "\n" not in str(raised.value)


def test_numbers_that_are_missing_are_one_clear_line(saved: Path, natural: Investigated) -> None:
    add_natural(saved, natural)
    (saved / natural_file.TENSORS).unlink()
    with pytest.raises(Invalid, match=r"natural\.safetensors: No such file"):
        read(saved)


def test_an_unknown_format_is_refused(saved: Path, natural: Investigated) -> None:
    add_natural(saved, natural)
    document = msgspec.json.decode((saved / natural_file.NAME).read_bytes())
    (saved / natural_file.NAME).write_bytes(msgspec.json.encode({**document, "format": 2}))
    with pytest.raises(Invalid, match="format 2 is not known; this version reads 1"):
        read(saved)


class Lab(FakeLab):
    """A lab in which every run fails as the record does, and scripts end as given."""

    def __init__(self, record: FindingRecord, script: ScriptRun) -> None:
        super().__init__(lambda *_: record.finding.evidence)  # type: ignore[arg-type]
        self._script = script

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        return self._script


def steady(saved: Path) -> FindingRecord:
    record = read(saved)
    evidence = finding_doc.StoredEvidence.of(fakes.raised(Stage.COMPILE))
    doc = msgspec.structs.replace(record.doc, evidence=evidence, lane=fakes.TVM)
    return replace(record, doc=doc, case=case_of({"x0": "int64[1]"}, [("v0", "neg", "x0")], "v0"))


def type_of(case: Case) -> str:
    return str(case.graph.inputs[0].value.type)


@pytest.mark.slow
def test_the_natural_case_is_shown_where_its_script_shows_the_bug(saved: Path) -> None:
    record = steady(saved)
    found = natural_to_show(Lab(record, ScriptRun(1)), record)
    assert found is not None
    assert type_of(found.case) == "float32[2,3]"
    assert found.script == ScriptRun(1)


@pytest.mark.slow
@pytest.mark.parametrize("code", [0, 125, None])
def test_it_is_not_shown_where_its_script_does_not(saved: Path, code: int | None) -> None:
    record = steady(saved)
    assert natural_to_show(Lab(record, ScriptRun(code)), record) is None


@pytest.mark.slow
def test_it_is_not_shown_where_its_script_is_longer(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = steady(saved)
    written = repro.script

    def longer(shown: FindingRecord) -> str:
        return written(shown) + "\n" * (MORE_LINES + 1) * (type_of(shown.case) == "float32[2,3]")

    monkeypatch.setattr(repro, "script", longer)
    assert natural_to_show(Lab(record, ScriptRun(1)), record) is None
