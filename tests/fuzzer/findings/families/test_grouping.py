"""Findings in families, with weights made by hand."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzer.filing import draft as drafts
from fuzzer.findings import finding_file
from fuzzer.findings.families.grouping import families, put_together, relatives
from fuzzer.findings.families.similarity import Weights, log_odds, may_be_one, weights
from fuzzer.findings.families.traits import Traits
from fuzzer.findings.finding_doc import FindingDoc
from generators import case_file
from oracles.finding import Component

BY_SYMPTOM = Weights(-1.0, {**dict.fromkeys(weights().weights, 0.0), "same symptom": 3.0}, 0.0, {}, 1.0)


def at(name: str, symptom: str = "value", **others: frozenset[str]) -> Traits:
    return msgspec.structs.replace(Traits(culprits=frozenset({name}), symptom=symptom), **others)


def odds(one: Traits, other: Traits) -> float:
    return log_odds(one, other, BY_SYMPTOM)


def grouped(*findings: Traits) -> list[list[Traits]]:
    return put_together(findings, odds, BY_SYMPTOM.threshold)


def test_findings_with_one_place_and_one_symptom_are_a_family() -> None:
    one, two, other = at("_conv"), at("_conv"), at("_conv", "shape")
    assert grouped(one, other, two) == [[one, two], [other]]


def test_a_message_alone_never_makes_a_family() -> None:
    message = frozenset({"Divide", "by", "zero"})
    one, other = at("_mean", "error", words=message), at("_roll", "error", words=message)
    assert not may_be_one(one, other)
    assert log_odds(one, other, BY_SYMPTOM) == -math.inf
    assert grouped(one, other) == [[one], [other]]


@pytest.mark.parametrize("trait", ["culprits", "functions", "lines", "calls", "names"])
def test_each_place_can_make_a_family(trait: str) -> None:
    one, other = (msgspec.structs.replace(Traits(), **{trait: frozenset({"x", own})}) for own in "ab")
    assert may_be_one(one, other)


def test_an_operator_that_the_scope_found_to_fail_too_can_make_a_family() -> None:
    one = Traits(operators=frozenset({"sin"}), siblings=frozenset({"tan"}))
    other = Traits(operators=frozenset({"tan"}))
    assert may_be_one(one, other)
    assert may_be_one(other, one)
    assert not may_be_one(other, Traits(operators=frozenset({"sin"})))


ANY_TRAITS = st.builds(at, st.sampled_from("abc"), st.sampled_from(["value", "shape"]))


@pytest.mark.slow
@given(st.lists(ANY_TRAITS, max_size=12), ANY_TRAITS)
def test_every_finding_is_in_one_family_and_a_later_one_moves_none(findings: list[Traits], later: Traits) -> None:
    numbered = list(enumerate(findings))
    found = put_together(numbered, lambda one, other: odds(one[1], other[1]), 0.0)
    assert sorted(each for family in found for each in family) == numbered
    more = put_together([*numbered, (99, later)], lambda one, other: odds(one[1], other[1]), 0.0)
    assert [[each for each in family if each[0] != 99] for family in more if family != [(99, later)]] == found


def test_the_weights_name_all_features() -> None:
    """A feature that has no weight would be an error at the first comparison."""
    assert math.isfinite(log_odds(at("a"), at("a")))
    assert weights().bias < 0


@pytest.fixture
def doc(saved: Path) -> FindingDoc:
    return finding_file.read(saved)


def test_flaky_findings_and_those_of_others_are_alone(doc: FindingDoc, saved: Path) -> None:
    flaky = msgspec.structs.replace(doc, slug="flaky", flaky=True)
    exporter = msgspec.structs.replace(doc, slug="exporter", component=Component.EXPORTER)
    same = msgspec.structs.replace(doc, slug="same")
    found = families((saved, each) for each in (doc, flaky, exporter, same))
    assert sorted(sorted(each.slug for _, each in family) for family in found) == [
        ["exporter"],
        ["flaky"],
        sorted([doc.slug, "same"]),
    ]


def test_relatives_are_the_others_of_the_family(doc: FindingDoc, saved: Path) -> None:
    assert relatives(saved) == []
    for slug in ("same", "damaged"):
        copy = saved.with_name(slug)
        copy.mkdir()
        for path in saved.iterdir():
            (copy / path.name).write_bytes(path.read_bytes())
        (copy / finding_file.NAME).write_bytes(finding_file.encode(msgspec.structs.replace(doc, slug=slug)))
    (saved.with_name("damaged") / finding_file.NAME).write_text("{")
    assert [each.name for each in relatives(saved)] == ["same"]


def test_a_damaged_finding_of_the_family_does_not_hold_back_a_draft(doc: FindingDoc, saved: Path) -> None:
    copy = saved.with_name("same")
    copy.mkdir()
    for path in saved.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    (copy / finding_file.NAME).write_bytes(finding_file.encode(msgspec.structs.replace(doc, slug="same")))
    assert [each.doc.slug for each in drafts.read(saved).relatives] == ["same"]
    (copy / case_file.JSON_NAME).write_text("{}")
    assert drafts.read(saved).relatives == ()


def test_families_that_are_known_are_not_looked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    folders = finding_file.folders_in(Path(__file__).parents[4] / finding_file.CRASHES)[:40]
    saved = [(folder, finding_file.read(folder)) for folder in folders]
    compared_pairs: list[tuple[Traits, Traits]] = []

    def counted(one: Traits, other: Traits) -> float:
        compared_pairs.append((one, other))
        return log_odds(one, other)

    monkeypatch.setattr("fuzzer.findings.families.grouping.log_odds", counted)

    def of(findings: list[tuple[Path, FindingDoc]], *, knows_some: bool) -> list[list[str]]:
        if not knows_some:
            monkeypatch.setattr("fuzzer.findings.families.grouping._last", ((), ()))
        compared_pairs.clear()
        return [[doc.slug for _, doc in family] for family in families(findings)]

    in_order = sorted(saved, key=lambda each: (each[1].found, each[1].signature))
    fresh, pairs = of(in_order, knows_some=False), len(compared_pairs)
    compared = [doc for _, doc in in_order if doc.component is Component.TVM and not doc.flaky]
    assert pairs == len(compared) * (len(compared) - 1) / 2
    of(in_order[:-1], knows_some=False)
    assert of(in_order, knows_some=True) == fresh
    assert len(compared_pairs) <= len(compared) - 1
    assert of(in_order[1:], knows_some=True) == of(in_order[1:], knows_some=False), "the first finding is gone"
