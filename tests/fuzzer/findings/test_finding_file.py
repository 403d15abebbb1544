"""What is read of a finding's folder names no other place."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from fuzzer.campaign.run.merge import merge
from fuzzer.findings import field_forms, finding_file
from fuzzer.findings.finding_doc import FindingDoc, StoredEvidence
from fuzzer.isolate.reports import SanitizerReport
from fuzzer.isolate.sanitizer import Tool
from fuzzer.lanes import EVERY_LANE
from fuzzer.signature.blame import NO_BLAME, Blame, Place, Releases, ReleaseVerdict
from fuzzer.system.machine_facts import this_machine
from fuzzer.triage.investigate import Investigated
from fuzzer.triage.scope.statement import Scope
from generators.graph import Invalid
from generators.table import TABLE
from oracles.finding import Evidence, Excess, Kind, Mismatch, Quantity, SideEffect, WorstElement
from oracles.memory_access import Access, MemoryAccess, Side
from oracles.outcome import Cause, Died, IllFormed, Mutant, MutantFate, Raised, Stage, TimedOut

SHIPPED = Path(__file__).parents[3] / "crashes"


def renamed(folder: Path, slug: str) -> None:
    path = folder / finding_file.NAME
    path.write_text(json.dumps({**json.loads(path.read_text()), "slug": slug}))


@pytest.mark.parametrize("slug", ["../../x", "/etc/x", "a/b", "..", ".", "", "-rf", "a b", "a$(b)", "a\n", "a" * 201])
def test_a_name_that_leads_elsewhere_is_refused(slug: str, saved: Path) -> None:
    renamed(saved, slug)
    with pytest.raises(Invalid, match=r"finding\.json: .* is not a name for the folder of a finding$"):
        finding_file.read(saved)


def test_nothing_is_written_outside_of_the_campaign_that_takes_it(tmp_path: Path, saved: Path) -> None:
    renamed(saved, "../../../stolen")
    with pytest.raises(Invalid):
        merge([tmp_path], tmp_path / "into" / "deeper")
    assert not list(tmp_path.glob("**/stolen*"))


def test_all_names_that_difftvm_gives_are_taken() -> None:
    folders = [path.parent for path in SHIPPED.glob(f"*/{finding_file.NAME}")]
    assert len(folders) >= 39
    assert [finding_file.read(folder).slug for folder in folders] == [folder.name for folder in folders]
    assert all(field_forms.SLUG.fullmatch(f"wrong-value-{name.replace('_', '')}-0123456789ab") for name in TABLE)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 2.5])
def test_numbers_that_json_lacks_read_back(number: float, make: Callable[..., tuple[Investigated, object]]) -> None:
    worst = WorstElement((0,), number, 1.0, 0.5, 0.25)
    found = make()[0]
    mismatch = Mismatch(0, "a", "b", worst, 6, 1)
    finding = replace(found.finding, kind=Kind.WRONG_VALUE, stage=Stage.RUN, evidence=mismatch)
    text = finding_file.encode(finding_file.document(replace(found, finding=finding), {}))
    stored = json.loads(text)["evidence"]["mismatch"]["worst"]["expected"]
    assert stored == (number if number == 2.5 else str(number))
    doc = msgspec.convert(finding_file.with_float_numbers(json.loads(text)), FindingDoc)
    assert repr(doc.evidence.evidence) == repr(mismatch)


EVIDENCE: list[Evidence] = [
    Raised(Stage.RUN, "ValueError", "no"),
    Died(Stage.RUN, Cause.SIGNAL, 11),
    TimedOut(Stage.RUN, 30.0),
    Mismatch(0, "a", "b"),
    IllFormed("FuseOps", "ValueError", "no"),
    Mutant("a shape", MutantFate.RAISED),
    SideEffect(modified=("x0",)),
    Excess(Quantity.MEMORY, 2, 1, "the other lanes"),
    MemoryAccess(Access.READ, "input x0", Side.BEFORE, 1, "float32"),
]


def test_every_evidence_has_a_field_of_its_own() -> None:
    assert {type(each) for each in EVIDENCE} == set(get_args(Evidence))
    for evidence, name in zip(EVIDENCE, StoredEvidence.__struct_fields__, strict=True):
        stored = StoredEvidence.of(evidence)
        assert {name: evidence} == {key: value for key, value in msgspec.structs.asdict(stored).items() if value}
        assert stored.evidence is evidence


@pytest.mark.parametrize("count", [0, 2])
def test_evidence_is_one_field(count: int) -> None:
    fields = {"timed_out": TimedOut(Stage.RUN, 30.0), "mismatch": Mismatch(0, "a", "b")}
    stored = msgspec.convert(dict(list(fields.items())[:count]), StoredEvidence)
    with pytest.raises(Invalid, match=f"^evidence: {count} fields are set, not one$"):
        _ = stored.evidence


def test_the_modules_of_a_blame_are_no_part_of_the_document(make: Callable[..., tuple[Investigated, object]]) -> None:
    blame = Blame(Place.PASS, "relu", "FuseOps", "it is", "module before", "module after")
    doc = finding_file.document(replace(make()[0], blame=blame), {})
    assert doc.blame == replace(blame, before="", after="")


@pytest.mark.parametrize(
    ("lane", "devices"),
    [("relax-export-cuda", ("GPU H100",)), ("relax-export-llvm", ()), ("relax-onnx-model-cuda", ())],
)
def test_a_finding_names_this_machine_and_the_device_of_its_lane(
    make: Callable[..., tuple[Investigated, object]], lane: str, devices: tuple[str, ...]
) -> None:
    found = make()[0]
    spec = next(each for each in EVERY_LANE if each.name == lane)
    spec = replace(spec, toolchain="old" if lane.startswith("relax-onnx") else spec.toolchain)
    found = replace(found, finding=replace(found.finding, lane=spec))
    doc = finding_file.document(found, {"tvm": "0.27.0", "device@host cuda": "H100"})
    assert doc.machines == (replace(this_machine(), devices=devices),)


def test_what_a_saved_blame_is_without_the_fields_that_earlier_versions_did_not_have() -> None:
    lists, texts = ("lines", "calls", "attributes"), ("converter", "operator", "made", "right", "place")
    origin = {**dict.fromkeys(lists, ()), **dict.fromkeys(texts, "")}
    texts_of_blame = ("operator", "culprit", "evidence", "before", "after")
    assert msgspec.to_builtins(NO_BLAME) == {"place": None, **dict.fromkeys(texts_of_blame, ""), "origin": origin}


def test_what_takes_memory_is_left_out_of_what_a_campaign_keeps(
    make: Callable[..., tuple[Investigated, object]],
) -> None:
    found = replace(
        make()[0],
        blame=Blame(Place.PASS),
        releases=Releases((("0.27", ReleaseVerdict.FAILS),)),
        reports=(SanitizerReport(Tool.MEMCHECK, 1),),
    )
    whole = finding_file.document(found, {"tvm": "0.27.0"})
    whole.scope = Scope(cases=7)
    kept = finding_file.without_details(whole)
    left_out = {"evidence", "case_sha256", "versions", "blame", "releases", "reports", "scope", "machines"}
    for name in FindingDoc.__struct_fields__:
        assert (getattr(kept, name) == getattr(whole, name)) is (name not in left_out), name


def test_the_finding_whose_name_is_most_alike_is_named(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(saved, saved.with_name("another"))
    wrong = saved.with_name(saved.name.replace("relu", "rely"))
    with pytest.raises(Invalid) as beside:
        finding_file.read(wrong)
    assert str(beside.value) == f"{wrong}: there is no such folder; did you mean {saved}?"
    monkeypatch.chdir(saved.parents[1])
    with pytest.raises(Invalid) as by_name:
        finding_file.read(Path(wrong.name))
    assert str(by_name.value) == f"{wrong.name}: there is no such folder; did you mean {Path('crashes', saved.name)}?"
    with pytest.raises(Invalid, match=rf"did you mean {Path('crashes', saved.name)}\?$"):
        finding_file.read(Path("realu"))  # a part of the name
    with pytest.raises(Invalid) as unlike:
        finding_file.read(Path("far"))
    assert str(unlike.value) == (
        "far: there is no such folder, nor a finding with this in its name; `fuzz triage --all` lists them"
    )


def test_a_folder_that_is_still_being_written_is_no_finding(tmp_path: Path, saved: Path) -> None:
    shutil.copytree(saved, saved.with_name(".tmp-abc"))
    assert finding_file.folders_in(saved.parent) == [saved]
    assert finding_file.folders_in(tmp_path / "nowhere") == []


def test_a_document_that_was_valid_is_checked_again_where_it_has_changed(saved: Path) -> None:
    assert finding_file.read(saved) == finding_file.read(saved)
    renamed(saved, "../../x")
    for _ in range(2):
        with pytest.raises(Invalid, match="slug"):
            finding_file.read(saved)
