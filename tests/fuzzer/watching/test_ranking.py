"""Findings in the order in which people should read them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from fuzzer.campaign.store.store import Store
from fuzzer.findings import finding_file
from fuzzer.findings.finding_doc import FindingDoc, StoredEvidence
from fuzzer.findings.severity import Level, Severity
from fuzzer.signature.blame import Blame, Place
from fuzzer.triage.investigate import Investigated, Sighting
from fuzzer.watching.entries import Facts, entries, entry
from fuzzer.watching.ranking import (
    CSV_HEAD,
    UNSPECIFIED,
    Family,
    Grouping,
    Ranked,
    apart,
    csv_rows,
    details_of,
    furthest_first,
    grouped,
    listed_in,
    ranked,
)
from fuzzer.watching.titles import Titles
from oracles.finding import Component, Kind, Mismatch, WorstElement

OPS = ("relu", "sqrt", "sigmoid")
"""The operators of the first three findings in the order of their severity."""

Make = Callable[..., tuple[Investigated, Sighting]]


@pytest.fixture
def doc(saved: Path) -> FindingDoc:
    return finding_file.read(saved)


def of(doc: FindingDoc, slug: str, score: float, *ops: str) -> Ranked:
    return Ranked(msgspec.structs.replace(doc, slug=slug, ops=list(ops)), Severity(score, ("a reason",)))


def slugs(findings: Iterable[Ranked]) -> list[str]:
    return [each.doc.slug for each in findings]


def leads(found: list[Family]) -> list[str]:
    return slugs(family.lead for family in found)


def test_after_the_most_severe_one_comes_what_is_unlike_it(doc: FindingDoc) -> None:
    findings = [of(doc, "a", 60.0, "conv2d"), of(doc, "b", 59.0, "conv2d"), of(doc, "c", 50.0, "gru")]
    assert slugs(furthest_first(findings)) == ["a", "c", "b"]


def test_alike_findings_are_in_the_order_of_their_scores_and_names(doc: FindingDoc) -> None:
    findings = [of(doc, "c", 50.0, "gru"), of(doc, "a", 50.0, "gru"), of(doc, "b", 60.0, "gru")]
    assert slugs(furthest_first(findings)) == ["b", "a", "c"]
    assert furthest_first([]) == []


def test_no_finding_of_a_lower_level_comes_before_one_of_a_higher(doc: FindingDoc, saved: Path) -> None:
    kinds = (Kind.REJECTED, Kind.OUT_OF_BOUNDS_READ, Kind.INTERNAL_ERROR, Kind.CHECKER_GAP)
    docs = [msgspec.structs.replace(doc, kind=kind, slug=str(kind)) for kind in kinds]
    found = ranked((saved, each) for each in docs)
    levels = [list(Level).index(family.lead.severity.level) for family in found]
    assert levels == sorted(levels)
    assert leads(found)[0] == Kind.OUT_OF_BOUNDS_READ


def test_each_finding_is_in_one_family_with_the_most_severe_first(doc: FindingDoc, saved: Path) -> None:
    lane = replace(doc.lane, target="c")
    docs = [doc, msgspec.structs.replace(doc, slug="other", lane=lane), msgspec.structs.replace(doc, slug="worse")]
    found = ranked((saved, each) for each in docs)
    assert sorted(each.doc.slug for family in found for each in family.members) == sorted(each.slug for each in docs)
    for family in found:
        assert family.lead.severity.score == max(each.severity.score for each in family.members)


def test_what_a_campaign_found_stands_before_what_ships(doc: FindingDoc, saved: Path) -> None:
    """A cause that is new is not shown by the title of a finding that everybody knows."""
    lane = replace(doc.lane, target="c")
    docs = [doc, msgspec.structs.replace(doc, slug="own", lane=lane)]
    assert [[each.doc.slug for each in family.members] for family in ranked((saved, each) for each in docs)] == [
        [doc.slug, "own"]
    ]
    (family,) = ranked(((saved, each) for each in docs), {doc.slug})
    assert [each.doc.slug for each in family.members] == ["own", doc.slug]
    facts = Facts({each.slug: saved for each in docs}, shipped=frozenset({doc.slug}), began=0.0)
    line = entry(family, facts, Titles())
    assert f"  [new; perhaps the known {doc.slug}; " in line
    assert line.endswith("  own")


def test_a_family_names_its_other_findings(doc: FindingDoc) -> None:
    family = Family((of(doc, "a", 60.0, "conv2d"), of(doc, "b", 50.0, "conv1d"), of(doc, "c", 50.0, "conv1d")))
    assert details_of(family)[1:] == ["      perhaps one cause with 2 other findings: internal-error conv1d"]
    many = Family(tuple(of(doc, str(n), 50.0, f"op{n}") for n in range(9)))
    assert details_of(many)[1].endswith("internal-error op5, internal-error op6, 2 more")


def test_a_family_without_some_members(doc: FindingDoc) -> None:
    family = Family((of(doc, "a", 60.0), of(doc, "b", 50.0)))
    left = family.without(lambda each: each.slug == "a")
    assert left is not None
    assert slugs(left.members) == ["b"]
    assert family.without(lambda each: True) is None


def test_a_finding_whose_case_cannot_be_read_is_ranked_too(doc: FindingDoc, tmp_path: Path) -> None:
    assert leads(ranked([(tmp_path / "nowhere", doc)])) == [doc.slug]


def test_a_finding_of_two_operators_is_in_both_groups(doc: FindingDoc) -> None:
    both = Family((of(doc, "a", 60.0, "conv2d", "gru"),))
    assert grouped([both], Grouping.OPERATOR) == {"conv2d": [both], "gru": [both]}


@pytest.mark.parametrize(
    ("blame", "name"),
    [
        (Blame(Place.PASS, "conv2d", "FuseTIR"), "FuseTIR"),
        (Blame(Place.PASS, "conv2d"), "no pass: the optional passes together"),
        (Blame(Place.FRONTEND, "conv2d", "_conv2d"), "no pass: the frontend"),
        (Blame(), "no pass: not located"),
    ],
)
def test_causes_are_grouped_by_the_pass_at_fault(doc: FindingDoc, blame: Blame, name: str) -> None:
    found = of(msgspec.structs.replace(doc, blame=blame), "a", 60.0, "conv2d")
    assert list(grouped([Family((found,))], Grouping.PASS)) == [name]


def test_a_row_of_csv_has_a_cell_for_each_name(doc: FindingDoc) -> None:
    row, other = csv_rows([Family((of(doc, "a", 60.5, "conv2d", "gru"), of(doc, "b", 20.0)))])
    assert len(row) == len(CSV_HEAD)
    assert row[:4] == ("high", "60.5", "a", "a")
    assert row[6] == "conv2d gru"
    assert other[:4] == ("low", "20", "b", "a")


def test_the_first_three_deserve_a_look_and_the_others_are_counted(make: Make, tmp_path: Path) -> None:
    kinds = {Kind.REJECTED: "neg", Kind.DIED: "sqrt", Kind.WRONG_SHAPE: "sigmoid", Kind.OUT_OF_BOUNDS_READ: "relu"}
    with Store(tmp_path, 1) as store:
        for kind, op in kinds.items():
            found, _ = make(f"message of {op}", op=op)
            signature = replace(found.signature, kind=kind, skeleton=op, frame=f"some.cc:tvm::relax::{op}")
            store.save(replace(found, signature=signature), {})
    folders = finding_file.folders_in(store.crashes)
    facts, order = Facts({folder.name: folder for folder in folders}), listed_in(folders)
    *lines, more = entries(order, facts, Titles(), 3, 4, numbered=True)
    assert more == "  and 1 other cause"
    levels = ["critical"] * 2 + [order[2].lead.severity.level]
    shown = [line.split("  ") for line in lines]
    assert [(each[1], each[2].strip(), each[-1].split("-" + op)[0]) for each, op in zip(shown, OPS, strict=True)] == [
        (f"{number}", level, kind)
        for number, level, kind in zip("123", levels, ("out-of-bounds-read", "died", "wrong-shape"), strict=True)
    ]
    assert all("message of" in line for line in lines)
    assert list(entries([], facts, Titles(), 3, 0)) == []


def test_what_cannot_be_read_is_left_out(saved: Path) -> None:
    (saved / "finding.json").write_text("{")
    assert listed_in([saved]) == []


def test_what_is_only_counted_is_not_among_them(saved: Path) -> None:
    """NaN through relu is left unspecified by TVM's maintainers."""
    worst = WorstElement((0,), math.nan, 0.0, 0.0, 0.0)
    doc = msgspec.structs.replace(
        finding_file.read(saved),
        kind=Kind.WRONG_VALUE,
        component=Component.TVM,
        ops=["relu"],
        evidence=StoredEvidence(mismatch=Mismatch(0, "nan", "0", worst)),
    )
    assert len(listed_in([saved])) == 1
    (saved / finding_file.NAME).write_bytes(finding_file.encode(doc))
    assert apart(doc) == UNSPECIFIED
    assert listed_in([saved]) == []
    assert list(entries([], Facts({}), Titles(), 3, 1)) == ["  and 1 finding that `fuzz triage` only counts"]
