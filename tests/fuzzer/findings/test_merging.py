"""Findings that are one bug: put together beside the folders, which nobody touches."""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fuzzer.campaign.store.store import Store
from fuzzer.commands.triage import triage
from fuzzer.findings import finding_file
from fuzzer.findings.merge import NAME, Merge, SavedFinding, merges
from fuzzer.signature import Signature
from fuzzer.triage.investigate import Investigated, Sighting
from generators.graph import Invalid
from oracles.finding import Component, Kind
from oracles.outcome import Stage

VERSIONS = {"tvm": "0.27.0"}
Make = Callable[..., tuple[Investigated, Sighting]]
WRONG = Signature(Kind.WRONG_VALUE, Component.TVM, Stage.RUN, ops=("any",), where="export")
EARLIER = "what an earlier version made of the message"


@pytest.fixture
def campaign(tmp_path: Path, make: Make) -> Path:
    """Two machines' findings in one folder: one bug, which an earlier version named otherwise, and another bug."""
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    found, _ = make()
    with Store(theirs, 1) as store:
        renamed = replace(found, signature=replace(found.signature, skeleton=EARLIER))
        old = store.save(renamed, VERSIONS)
    with Store(mine, 2) as store:
        assert store.save(found, VERSIONS) is not None
        assert store.save(make("another message")[0], VERSIONS) is not None
    assert old is not None
    shutil.copytree(theirs / "crashes" / old.slug, mine / "crashes" / old.slug)
    return mine


def contents(campaign: Path) -> dict[str, str]:
    files = [path for path in (campaign / "crashes").rglob("*") if path.is_file()]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def listed(campaign: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    triage(campaign, json=True, everything=True)
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["findings"]
    return found


def test_findings_whose_signatures_agree_today_are_put_together(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(campaign)
    assert [doc["duplicates"] for doc in listed(campaign, capsys)] == [[], [], []]
    triage(campaign, merge=True)
    printed = capsys.readouterr().out.splitlines()
    slugs = {path.name: finding_file.read(path) for path in (campaign / "crashes").iterdir()}
    one = sorted(slug for slug, doc in slugs.items() if "no layout" in str(doc.evidence))
    why = "the same message, from layout.cc:tvm::relax::LayoutOf"
    assert printed[:2] == [one[0], f"  and {one[1]}: {why}"]
    assert printed[2].startswith("duplicates: 1, of 1 finding; next: ")
    assert contents(campaign) == before
    docs = {doc["slug"]: doc["duplicates"] for doc in listed(campaign, capsys)}
    assert len(docs) == 2
    assert docs[one[0]] == [{"slug": one[1], "into": one[0], "why": why}]
    triage(campaign)
    lines = capsys.readouterr().out.splitlines()
    assert f"      and {one[1]}: {why}" in lines
    assert lines[-3] == "counted and not listed: 1 duplicate (--known, --json)"
    assert lines[-1].startswith("2 confirmed causes: 2 high; 2 findings; next: ")


def test_merging_again_changes_nothing(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    triage(campaign, merge=True, json=True)
    first, printed = (campaign / NAME).read_bytes(), capsys.readouterr().out
    triage(campaign, merge=True, json=True)
    assert ((campaign / NAME).read_bytes(), capsys.readouterr().out) == (first, printed)


def test_a_campaign_without_duplicates_gets_no_file(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    triage(saved.parents[1], merge=True)
    assert capsys.readouterr().out.startswith("no duplicates; next: ")
    assert not (saved.parents[1] / NAME).exists()


def test_a_finding_that_is_gone_hides_none(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    triage(campaign, merge=True, json=True)
    (merge,) = json.loads(capsys.readouterr().out)
    shutil.rmtree(campaign / "crashes" / merge["into"])
    assert merge["slug"] in {doc["slug"] for doc in listed(campaign, capsys)}
    triage(campaign, merge=True, json=True)
    assert json.loads(capsys.readouterr().out) == []
    assert json.loads((campaign / NAME).read_text())["merged"] == []


@pytest.mark.parametrize("text", ["{", '{"format": 1}', '{"format": 2, "merged": []}'])
def test_a_torn_file_is_refused(campaign: Path, text: str) -> None:
    (campaign / NAME).write_text(text)
    with pytest.raises(Invalid, match=NAME):
        triage(campaign)


@pytest.mark.parametrize(
    "pairs",
    [[("a", "a")], [("a", "b"), ("b", "a")], [("a", "b"), ("b", "c")], [("a", "b"), ("a", "c")], [("a", "../b")]],
    ids=["itself", "cycle", "chain", "twice", "path"],
)
def test_entries_that_contradict_each_other_are_refused(campaign: Path, pairs: list[tuple[str, str]]) -> None:
    merged = [{"slug": slug, "into": into, "why": "x"} for slug, into in pairs]
    (campaign / NAME).write_text(json.dumps({"format": 1, "merged": merged}))
    with pytest.raises(Invalid, match=rf"{NAME}: .*; delete it, and `fuzz triage --merge` writes it again$"):
        triage(campaign)


def test_a_campaign_goes_on_under_another_version_without_saving_anything_twice(tmp_path: Path, make: Make) -> None:
    found, sighting = make()
    with Store(tmp_path, 1) as store:
        renamed = replace(found, signature=replace(found.signature, skeleton=EARLIER))
        assert store.save(renamed, VERSIONS) is not None
    with Store(tmp_path, 1) as store:
        assert not store.claim(found.case, sighting)
        assert store.save(found, VERSIONS) is None
        assert list(store.state.found.values()) == [3]


# --- who stands under whom


def saved_finding(make: Make, slug: str, signature: Signature, **changed: object) -> SavedFinding:
    doc = finding_file.document(make()[0], VERSIONS)
    for name, value in {"slug": slug, "ops": list(signature.ops), **changed}.items():
        setattr(doc, name, value)
    return SavedFinding(doc, signature)


def test_all_orders_give_the_same(make: Make) -> None:
    blamed = replace(WRONG, blamed=("frontend", "_any"))
    findings = [
        saved_finding(make, "plain", WRONG),
        saved_finding(make, "more", replace(blamed, ops=("any", "eq"), graph="eq(any)", where="export+onnx")),
        saved_finding(make, "blamed", blamed),
        saved_finding(make, "other", replace(WRONG, ops=("all",))),
    ]
    expected = [
        Merge("more", "blamed", "the same blame: frontend _any"),
        Merge("plain", "blamed", "the same operators, in the same lanes: any"),
    ]
    for order in itertools.permutations(findings):
        assert merges(order) == expected


def test_a_finding_without_blame_that_might_be_either_of_two_stands_alone(make: Make) -> None:
    findings = [
        saved_finding(make, "plain", WRONG),
        saved_finding(make, "frontend", replace(WRONG, blamed=("frontend", "_any"))),
        saved_finding(make, "codegen", replace(WRONG, blamed=("codegen", "any"))),
    ]
    assert merges(findings) == []


def test_others_stay_under_the_one_that_they_stood_under(make: Make) -> None:
    findings = [saved_finding(make, slug, WRONG) for slug in ("a", "b", "c")]
    why = "the same operators, in the same lanes: any"
    assert merges(findings) == [Merge("b", "a", why), Merge("c", "a", why)]
    assert merges(findings, {"b"}) == [Merge("a", "b", why), Merge("c", "b", why)]


def test_unwritten_memory_is_one_finding(make: Make) -> None:
    findings = [
        saved_finding(make, "wrong", WRONG),
        saved_finding(make, "unstable", replace(WRONG, kind=Kind.SECOND_RUN_DIFFERS)),
    ]
    assert merges(findings) == [Merge("wrong", "unstable", "the same uninitialised memory, which shows in another way")]


def test_a_flaky_finding_stands_under_a_steady_one_by_its_message_only(make: Make) -> None:
    signature = replace(make()[0].signature, ops=("relu",))
    findings = [saved_finding(make, "flaky", signature, flaky=True), saved_finding(make, "steady", signature)]
    assert [(each.slug, each.into) for each in merges(findings)] == [("flaky", "steady")]
    assert merges([saved_finding(make, "flaky", WRONG, flaky=True), saved_finding(make, "steady", WRONG)]) == []
