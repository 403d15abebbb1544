"""How severe a bug is, and why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fuzzer.findings import finding_file
from fuzzer.findings.finding_doc import FindingDoc, StoredEvidence
from fuzzer.findings.severity import (
    ABOUT_SPECIAL,
    KINDS,
    LEAST_SCORE,
    TRAINING,
    Level,
    Severity,
    always_fails,
    severity_of,
    usage,
)
from fuzzer.lanes import EVERY_TVM_LANE
from fuzzer.signature.blame import Releases, ReleaseVerdict
from fuzzer.triage.scope.statement import Answer, Condition, Hits, Property, Relation, Scope, Statement, Variation
from generators.table import TABLE
from oracles.finding import Component, Kind, Mismatch, WorstElement
from oracles.lane import LaneSpec
from oracles.outcome import IllFormed

LANES = {lane.name: lane for lane in EVERY_TVM_LANE}
FLOATS = ("float32[2,3]",)


@pytest.fixture
def doc(saved: Path) -> FindingDoc:
    """A wrong value of conv2d in the default pipeline."""
    plain = LANES["relax-export-llvm"]
    return msgspec.structs.replace(finding_file.read(saved), kind=Kind.WRONG_VALUE, lane=plain, ops=["conv2d"])


def severity(doc: FindingDoc, types: Sequence[str] = FLOATS, **changes: Any) -> Severity:
    return severity_of(msgspec.structs.replace(doc, **changes), types)


def certain(*conditions: Condition) -> Scope:
    return Scope(Statement(conditions), Hits(20, 20), Hits(20, 20), cases=80)


def on(what: str, relation: Relation, *values: Any, subject: str = "operand 0") -> Condition:
    return Condition(Property(0, subject, what), relation, values)


def test_what_people_write_with_brackets_counts_by_the_brackets() -> None:
    """An exported program has select for `x[:, 0]`, and no file calls it by name."""
    used, _ = usage()
    assert used["select"] == used["setitem"] == used["getitem"] == 397
    assert used["slice"] == 301


def test_every_kind_has_a_score_and_every_score_a_level() -> None:
    assert set(KINDS) == set(Kind)
    assert [Severity(score, ()).level for score in (200.0, 65.0, 64.9, 42.0, 22.0, 21.9, 0.0)] == [
        *(Level.CRITICAL, Level.CRITICAL, Level.HIGH, Level.HIGH, Level.MEDIUM, Level.LOW, Level.LOW)
    ]
    assert list(LEAST_SCORE) == list(Level)


SIGN = "only the sign of a zero differs"


def difference(expected: float, actual: float) -> StoredEvidence:
    return StoredEvidence(mismatch=Mismatch(0, "a", "b", WorstElement((0,), expected, actual, 0.0, 0.0, expected)))


@pytest.mark.parametrize(
    ("expected", "actual", "reason"),
    [
        (2.9e-7, 3.0e-7, "by a small difference"),
        (1000.0, 1009.0, "by a small difference"),
        (1.05, 1.0, None),
        (0.005, 0.0, None),
        (-1.0, -0.0, None),
        (0.0, -0.0, SIGN),
        (math.nan, 0.0, "with infinities or NaN"),
        (-math.inf, math.nan, "with infinities or NaN"),
        (2980.0, math.inf, None),
    ],
)
def test_small_differences_and_special_numbers_matter_less(
    doc: FindingDoc, expected: float, actual: float, reason: str | None
) -> None:
    found = severity(doc, evidence=difference(expected, actual))
    assert (
        found.score == {None: 90.0, "by a small difference": 54.0, "with infinities or NaN": 36.0, SIGN: 36.0}[reason]
    )
    assert reason is None or reason in found.reasons


def test_integers_have_no_small_differences(doc: FindingDoc) -> None:
    worst = WorstElement((0,), 1000.0, 1001.0, 0.0, 0.0, None)
    assert severity(doc, evidence=StoredEvidence(mismatch=Mismatch(0, "a", "b", worst))).score == 90.0


@pytest.mark.parametrize(
    ("relation", "values", "needs"),
    [
        (Relation.IN, ("all", "some"), True),
        (Relation.NOT_IN, ("none",), True),
        (Relation.IN, ("none",), False),
        (Relation.NOT_IN, ("all", "some"), False),
    ],
)
def test_a_bug_that_needs_special_numbers_matters_less(
    doc: FindingDoc, relation: Relation, values: tuple[str, ...], needs: bool
) -> None:
    """A certain statement decides, whatever the number that is wrong."""
    scope = certain(on("infinities", relation, *values))
    found = severity(doc, scope=scope, evidence=difference(math.inf, 1.0))
    assert found.score == (36.0 if needs else 90.0)
    assert found.reasons.count("with infinities or NaN") == needs


def changed(**answers: Answer) -> Scope:
    """The table of a scope without a statement: what a lane does with such numbers in x0."""
    rows = tuple(Variation("numbers of x0", value, answer) for value, answer in answers.items())
    return Scope(variations=(Variation("dtype of x0", "float16", Answer.FAILS), *rows), cases=20)


@pytest.mark.parametrize(
    ("scope", "reason"),
    [
        (changed(NaN=Answer.FAILS, zeros=Answer.PASSES, positive=Answer.PASSES), "only where x0 is NaN"),
        (changed(NaN=Answer.FAILS, zeros=Answer.FAILS, positive=Answer.PASSES), None),
        (changed(NaN=Answer.FAILS, zeros=Answer.PASSES), None),
    ],
    ids=["NaN alone", "zeros too", "hardly tried"],
)
def test_a_table_in_which_special_numbers_alone_fail_counts_without_a_statement(
    doc: FindingDoc, scope: Scope, reason: str | None
) -> None:
    found = severity(doc, scope=scope, evidence=difference(1.0, 3.0))
    assert found.score == (36.0 if reason else 90.0)
    assert reason is None or reason in found.reasons
    about = severity(doc, scope=scope, ops=["isnan"], evidence=difference(1.0, 3.0))
    assert about.score == severity(doc, ops=["isnan"], evidence=difference(1.0, 3.0)).score
    assert {name.partition("-")[0] for name in TABLE} >= ABOUT_SPECIAL


def test_what_only_training_has_matters_little(doc: FindingDoc) -> None:
    found = severity(doc, ops=["dropout_training"])
    assert found.level is Level.MEDIUM
    assert found.reasons[1] == "only in training mode"
    assert set(TRAINING) <= set(TABLE)


def test_a_silent_wrong_result_of_a_common_operator_is_critical(doc: FindingDoc) -> None:
    found = severity(doc)
    assert (found.score, found.level) == (90.0, Level.CRITICAL)
    assert found.reasons[0] == "the result is silently wrong"
    assert found.reasons[-1].endswith("files of published models call it")


def test_what_is_silent_is_worse_than_what_is_loud_and_memory_is_worst(doc: FindingDoc) -> None:
    kinds = (Kind.OUT_OF_BOUNDS_WRITE, Kind.OUT_OF_BOUNDS_READ, Kind.WRONG_VALUE, Kind.DIED, Kind.INTERNAL_ERROR)
    scores = [severity(doc, kind=kind).score for kind in (*kinds, Kind.REJECTED)]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)


@pytest.mark.parametrize(
    ("lane", "reason"),
    [
        (LANES["relax-export-zero"], "only with pipeline zero"),
        (replace(LANES["relax-export-llvm"], passes=("FuseOps",)), "only with FuseOps"),
        (LANES["relax-export-c"], "only for the target c"),
        (LANES["relax-fx-llvm"], "only through the importer fx"),
    ],
)
def test_an_option_weighs_less_than_the_default(doc: FindingDoc, lane: LaneSpec, reason: str) -> None:
    found = severity(doc, lane=lane)
    assert found.score < severity(doc).score
    assert reason in found.reasons


@pytest.mark.parametrize(
    ("types", "reason"),
    [
        (["float64[2]"], "for float64"),
        (["bfloat16[2]"], "for bfloat16"),
        (["float32[2]", "int8[2]"], "for int8"),
        (["int64[2]"], "for operands that are no floats"),
        (["float32[]"], "for a tensor of rank 0"),
        (["float32[2,0]"], "for an empty tensor"),
    ],
)
def test_unusual_operands_weigh_less(doc: FindingDoc, types: list[str], reason: str) -> None:
    found = severity(doc, types)
    assert found.score < severity(doc).score
    assert reason in found.reasons


@pytest.mark.parametrize("types", [["float32[2,3]", "int64[4]"], ["float32[n,3]"], [], ["float32[2]", "bool[2]"]])
def test_usual_operands_and_open_sizes_weigh_nothing(doc: FindingDoc, types: list[str]) -> None:
    assert severity(doc, types).score == severity(doc).score


def test_what_the_bug_needs_counts_and_not_what_the_reduced_case_has(doc: FindingDoc) -> None:
    """Reduction leaves integers of rank 0 where floats of any rank fail too."""
    odd = ["int8[]"]
    assert severity(doc, odd, scope=certain(on("value", Relation.NOT_IN, 1, subject="alpha"))).score == 81.0
    assert severity(doc, odd, scope=certain(on("dtype", Relation.IN, "float32", "int8"))).score == 90.0
    only_int8 = severity(doc, FLOATS, scope=certain(on("dtype", Relation.IN, "int8")))
    assert "for int8" in only_int8.reasons
    rank_0 = severity(doc, FLOATS, scope=certain(on("rank", Relation.IN, 0)))
    assert "for a tensor of rank 0" in rank_0.reasons


@pytest.mark.parametrize("conditions", [(), (on("elements", Relation.AT_LEAST, 1),)])
def test_a_bug_that_always_shows_weighs_more(doc: FindingDoc, conditions: tuple[Condition, ...]) -> None:
    found = severity(doc, ["int8[]"], scope=certain(*conditions))
    assert found.score == 99.0
    assert "every case that was tried fails" in found.reasons
    assert always_fails(msgspec.structs.replace(doc, scope=certain(*conditions)))


def test_two_conditions_of_one_kind_are_one_reason(doc: FindingDoc) -> None:
    one, two = (on("value", Relation.NOT_IN, 1, subject=name) for name in ("alpha", "beta"))
    found, single = severity(doc, FLOATS, scope=certain(one, two)), severity(doc, FLOATS, scope=certain(one))
    assert found.reasons == single.reasons
    assert found.score < single.score


def test_a_scope_that_is_not_certain_says_nothing(doc: FindingDoc) -> None:
    assert severity(doc, scope=Scope(Statement(), Hits(5, 6), Hits(), cases=20)).score == severity(doc).score


def test_a_regression_of_the_newest_release_weighs_more(doc: FindingDoc) -> None:
    fails, passes = ReleaseVerdict.FAILS, ReleaseVerdict.PASSES
    new = Releases((("0.26.0", passes), ("0.27.0", fails)))
    found = severity(doc, releases=new)
    assert found.score > severity(doc).score
    assert "new in 0.27.0" in found.reasons
    for old in (Releases((("0.26.0", fails), ("0.27.0", fails))), Releases((("0.26.0", fails), ("0.27.0", passes)))):
        assert severity(doc, releases=old).score == severity(doc).score


def test_other_components_and_flaky_findings_weigh_less(doc: FindingDoc) -> None:
    assert severity(doc, component=Component.EXPORTER).score < severity(doc).score / 2
    assert severity(doc, flaky=True).score == severity(doc).score / 2


def test_the_rarest_operator_counts(doc: FindingDoc) -> None:
    assert severity(doc, ops=["conv2d", "trapezoid"]).score == severity(doc, ops=["trapezoid"]).score < 60
    assert severity(doc, ops=[]).score == 90.0


def test_the_table_of_usage_names_rows_and_its_sources() -> None:
    used, total = usage()
    assert total == 412
    assert used.keys() <= TABLE.keys()
    assert all(0 < count <= total for count in used.values())
    assert used["linear"] > used["conv2d"] > used["max_pool2d"] > used["selu"]


def test_of_an_ill_formed_module_the_worst_that_follows_counts(doc: FindingDoc) -> None:
    def of(follows: str) -> Severity:
        evidence = StoredEvidence(ill_formed=IllFormed("FuseOps", "ValueError", "no", follows))
        return severity(doc, kind=Kind.ILL_FORMED, evidence=evidence)

    alone, wrong, aliased = of(""), of(Kind.WRONG_VALUE), of(Kind.ALIASED_OUTPUT)
    assert alone.reasons[0] == aliased.reasons[0] == "the module is ill-formed"
    assert alone.score == aliased.score < wrong.score == severity(doc).score
    assert wrong.reasons[0] == "the module is ill-formed, and then the result is silently wrong"
