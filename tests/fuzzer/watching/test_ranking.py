"""Findings in the order in which people should read them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from fuzzer.findings import finding_file
from fuzzer.findings.finding_file import FindingDoc
from fuzzer.findings.severity import Level, Severity
from fuzzer.watching.ranking import CSV_HEAD, Grouping, Ranked, csv_rows, furthest_first, grouped, ranked, worth_a_look
from oracles.finding import Kind


@pytest.fixture
def doc(saved: Path) -> FindingDoc:
    return finding_file.read(saved)


def of(doc: FindingDoc, slug: str, score: float, *ops: str) -> Ranked:
    return Ranked(msgspec.structs.replace(doc, slug=slug, ops=list(ops)), Severity(score, ("a reason",)))


def slugs(findings: list[Ranked]) -> list[str]:
    return [each.doc.slug for each in findings]


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
    levels = [list(Level).index(each.severity.level) for each in found]
    assert levels == sorted(levels)
    assert slugs(found)[0] == Kind.OUT_OF_BOUNDS_READ


def test_a_finding_whose_case_cannot_be_read_is_ranked_too(doc: FindingDoc, tmp_path: Path) -> None:
    assert slugs(ranked([(tmp_path / "nowhere", doc)])) == [doc.slug]


def test_a_finding_of_two_operators_is_in_both_groups(doc: FindingDoc) -> None:
    both = of(doc, "a", 60.0, "conv2d", "gru")
    assert grouped([both], Grouping.OPERATOR) == {"conv2d": [both], "gru": [both]}


def test_a_row_of_csv_has_a_cell_for_each_name(doc: FindingDoc) -> None:
    (row,) = csv_rows([of(doc, "a", 60.5, "conv2d", "gru")])
    assert len(row) == len(CSV_HEAD)
    assert row[:3] == ("high", "60.5", "a")
    assert row[5] == "conv2d gru"


def test_the_first_three_deserve_a_look_and_the_others_are_counted(doc: FindingDoc, saved: Path) -> None:
    kinds = (Kind.REJECTED, Kind.DIED, Kind.WRONG_VALUE, Kind.OUT_OF_BOUNDS_READ)
    docs = [(saved, msgspec.structs.replace(doc, kind=kind, slug=str(kind))) for kind in kinds]
    lines = worth_a_look(docs)
    assert [line.split()[0] for line in lines[1::3]] == ["out-of-bounds-read", "wrong-value", "died"]
    assert lines[2].startswith("      it reads memory that is not its own; ")
    assert lines[-1] == "  and 1 other"
    assert len(worth_a_look(docs[:1])) == 3
    assert worth_a_look([]) == []
