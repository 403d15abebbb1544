"""Families of findings that were labelled by hand."""

from __future__ import annotations

import re
import sys
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

sys.path.insert(0, str(Path(__file__).parents[4] / "benchmarks"))
import families as benchmark

from fuzzer.campaign.triage.provisional import PRODUCTS
from fuzzer.findings.families.similarity import features, weights
from fuzzer.findings.families.traits import name_of

FINDINGS = benchmark.read()


def test_there_are_enough_findings_and_each_has_a_cause_and_a_line() -> None:
    assert len(FINDINGS) >= 200
    assert len({each.slug for each in FINDINGS}) == len(FINDINGS)
    for each in FINDINGS:
        assert re.fullmatch(r"[a-z0-9-]+", each.cause), each.slug
        assert re.fullmatch(r"(python/tvm|src|include)/[\w./]+:\d+", each.fix), each.slug
        assert each.why.endswith("."), each.slug


def test_findings_with_one_line_have_one_cause() -> None:
    causes: dict[str, set[str]] = {}
    for each in FINDINGS:
        causes.setdefault(each.fix, set()).add(each.cause)
    assert {line: some for line, some in causes.items() if len(some) > 1} == {}


@pytest.mark.slow
def test_precision_and_recall_by_five_fold_split() -> None:
    threshold = weights().threshold
    _, scores = benchmark.mean_scores(FINDINGS, seeds=5, thresholds=[threshold])
    score = scores[threshold]
    assert score.precision >= benchmark.LEAST_PRECISION
    assert score.recall >= benchmark.LEAST_RECALL


@pytest.mark.slow
def test_the_weights_are_those_that_the_labels_give() -> None:
    pairs = benchmark.Pairs(FINDINGS)
    learnt = pairs.learn(range(len(FINDINGS)), weights().threshold)
    assert learnt.rarity == weights().rarity
    assert learnt.weights.keys() == weights().weights.keys()
    assert all(abs(learnt.weights[name] - weight) < 0.01 for name, weight in weights().weights.items())


def test_each_feature_is_between_0_and_1() -> None:
    known = weights()
    for one, other in pairwise(FINDINGS):
        found = features(one.traits, other.traits, known.rarity, known.rarest)
        assert all(-1e-9 <= value <= 1 + 1e-9 for value in found.values()), found


@pytest.mark.parametrize(
    ("families", "precision", "recall"),
    [
        ([["a1", "a2", "b1"]], (2 / 3 + 2 / 3 + 1 / 3) / 3, 1.0),
        ([["a1"], ["a2"], ["b1"]], 1.0, (1 / 2 + 1 / 2 + 1) / 3),
        ([["a1", "a2"], ["b1"]], 1.0, 1.0),
    ],
)
def test_b_cubed(families: list[list[str]], precision: float, recall: float) -> None:
    traits = FINDINGS[0].traits
    made = [[benchmark.Labelled(name, name[0], "", "", "", traits) for name in family] for family in families]
    assert benchmark.b_cubed(made) == pytest.approx((precision, recall))


def test_wrong_results_of_operators_of_one_name_have_one_cause() -> None:
    groups: dict[tuple[str, ...], list[benchmark.Labelled]] = {}
    for each in FINDINGS:
        of = each.traits
        if not of.words:
            names = sorted(map(name_of, of.operators))
            groups.setdefault((of.symptom, of.importer, of.target, *names), []).append(each)
    precision, _ = benchmark.b_cubed(groups.values())
    assert precision >= 0.99
    assert sum(len(group) > 1 for group in groups.values()) >= 10


def test_wrong_dtypes_of_products_of_matrices_have_one_cause() -> None:
    of = [each for each in FINDINGS if each.traits.importer == "export" and each.traits.symptom == "always float32"]
    causes = {each.cause for each in of if each.traits.operators <= PRODUCTS}
    assert causes == {"matmul-hardcoded-float32-out-dtype"}


def test_rows_come_back() -> None:
    for each in FINDINGS[:5]:
        assert msgspec.json.decode(msgspec.json.encode(each), type=benchmark.Labelled) == each
