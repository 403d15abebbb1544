"""How well findings are put into families, against findings that were labelled by hand; and the weights for that.

    python benchmarks/families.py [--labelled FILE] [--seeds 5] [--write] [--add DIR]

Each labelled finding has the line of TVM that a fix would change, found by reading TVM's source, and the name of the
cause; findings of one cause are one family. Prints B-cubed precision and recall (Amigó et al., Information Retrieval
2009) by five-fold split, for several orders of the findings: the weights for a fifth of the findings are learnt from
pairs of the others alone, then all findings are put into families, and precision and recall count for that fifth.

With --write, learns the weights from all labelled findings, and writes them for `fuzz triage`. With --add, adds the
findings of a campaign that have no row yet, without a cause, so that somebody can label them; findings without a cause
are left out of everything else.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from fuzzer.findings import finding_file
from fuzzer.findings.families import similarity
from fuzzer.findings.families.grouping import LEAST, put_together
from fuzzer.findings.families.similarity import Weights, features, may_be_one
from fuzzer.findings.families.traits import Traits, traits_of
from generators import case_file

ROOT = Path(__file__).resolve().parent.parent
LABELLED = ROOT / "tests" / "fuzzer" / "findings" / "families" / "labelled.jsonl"
WEIGHTS = Path(similarity.__file__).with_name("weights.json")

FOLDS = 5
PENALTY = 0.05
"""The weight of the squared weights in the loss of the regression."""

STEPS = 30
"""Steps of Newton's method, which converges in some ten."""

COMMON = 3
"""Names that fewer findings have are as rare as can be."""

THRESHOLDS = tuple(number / 8 for number in range(-8, 13))


class Labelled(msgspec.Struct, omit_defaults=True):
    """A finding with the cause of its bug.

    fix       the line of TVM 0.27 that a fix would change
    function  the function of that line
    cause     the name of the cause; "" if nobody has labelled the finding
    why       what TVM's code does wrong
    sure      whether the person was sure about the line
    bug       whether TVM is at fault
    """

    slug: str
    cause: str
    fix: str
    function: str
    why: str
    traits: Traits
    sure: bool = True
    bug: bool = True


class Score(NamedTuple):
    """B-cubed: the means, over findings, of the part of its family with its cause, and of its cause in its family."""

    precision: float
    recall: float


def read(path: Path = LABELLED) -> list[Labelled]:
    return [msgspec.json.decode(line, type=Labelled) for line in path.read_bytes().splitlines()]


def b_cubed(families: Iterable[Sequence[Labelled]], counted: Collection[str] | None = None) -> Score:
    """`counted` are the slugs of the findings that count; all of them by default."""
    family_of = {each.slug: family for family in families for each in family}
    size = Counter(each.cause for family in {id(f): f for f in family_of.values()}.values() for each in family)
    parts = []
    for family in {id(f): f for f in family_of.values()}.values():
        for each in family:
            same = sum(other.cause == each.cause for other in family)
            if counted is None or each.slug in counted:
                parts.append((same / len(family), same / size[each.cause]))
    precision, recall = np.mean(parts, axis=0)
    return Score(float(precision), float(recall))


class Pairs:
    """The features of all pairs of findings that may be one, and whether they have one cause."""

    def __init__(self, findings: Sequence[Labelled]) -> None:
        self.rarity, self.rarest = rarity(findings)
        chosen = [
            (a, b)
            for a, b in itertools.combinations(range(len(findings)), 2)
            if may_be_one(findings[a].traits, findings[b].traits)
        ]
        rows = [features(findings[a].traits, findings[b].traits, self.rarity, self.rarest) for a, b in chosen]
        self.names = list(rows[0])
        self._causes = [each.cause for each in findings]
        self.members = np.array(chosen)
        self._features = np.array([[row[name] for name in self.names] + [1.0] for row in rows])
        self._same = np.array([findings[a].cause == findings[b].cause for a, b in chosen], float)

    def learn(self, chosen: Collection[int], threshold: float = 0.0) -> Weights:
        """Return the weights of a logistic regression over the pairs of the chosen findings, by Newton's method.

        A cause of n findings has n - 1 pairs for each of them, and the score counts findings. So a pair of one cause
        counts 1 / sqrt(n - 1)."""
        of_chosen = np.isin(self.members, list(chosen)).all(axis=1)
        x, y = self._features[of_chosen], self._same[of_chosen]
        size = Counter(self._causes[index] for index in chosen)
        size_of = np.array([size[self._causes[index]] for index in self.members[of_chosen, 0]])
        counts = np.where(y == 1, 1 / np.sqrt(np.maximum(size_of - 1, 1)), 1.0)
        penalty = PENALTY * np.append(np.ones(len(self.names)), 1e-6)
        w = np.zeros(len(self.names) + 1)
        for _ in range(STEPS):
            p = 1 / (1 + np.exp(-x @ w))
            gradient = x.T @ (counts * (p - y)) + penalty * w
            w -= np.linalg.solve((x * (counts * p * (1 - p))[:, None]).T @ x + np.diag(penalty), gradient)
        named = {name: round(float(value), 3) for name, value in zip(self.names, w, strict=False)}
        return Weights(round(float(w[-1]), 3), named, threshold, self.rarity, self.rarest)

    def log_odds(self, weights: Weights) -> Callable[[int, int], float]:
        """Return the log odds of two findings, by their places."""
        found = self._features @ np.array([*(weights.weights[name] for name in self.names), weights.bias])
        known = {(int(a), int(b)): float(value) for (a, b), value in zip(self.members, found, strict=True)}
        return lambda a, b: known.get((min(a, b), max(a, b)), LEAST)


def rarity(findings: Sequence[Labelled]) -> tuple[dict[str, float], float]:
    count: Counter[str] = Counter()
    for each in findings:
        count.update(_names(each.traits))
    known = {name: round(math.log(len(findings) / n), 2) for name, n in sorted(count.items()) if n >= COMMON}
    return known, round(math.log(len(findings) / 2), 2)


def _names(traits: Traits) -> set[str]:
    parts = (getattr(traits, field.name) for field in msgspec.structs.fields(traits))
    return {name for part in parts if isinstance(part, frozenset) for name in part}


def five_fold(findings: Sequence[Labelled], pairs: Pairs, seed: int, thresholds: Sequence[float]) -> dict[float, Score]:
    """Return the score for each threshold."""
    order = np.random.RandomState(seed).permutation(len(findings))
    fold = {int(index): place % FOLDS for place, index in enumerate(order)}
    scores: dict[float, list[tuple[int, Score]]] = defaultdict(list)
    for k in range(FOLDS):
        learnt = pairs.learn([index for index in fold if fold[index] != k])
        counted = {findings[index].slug for index in fold if fold[index] == k}
        odds = pairs.log_odds(learnt)
        for threshold in thresholds:
            found = put_together(map(int, order), odds, threshold)
            families = [[findings[index] for index in family] for family in found]
            scores[threshold].append((len(counted), b_cubed(families, counted)))
    return {threshold: _mean(some) for threshold, some in scores.items()}


def _mean(scores: Sequence[tuple[int, Score]]) -> Score:
    numbers, of = [number for number, _ in scores], [score for _, score in scores]
    return Score(
        *(float(np.average([getattr(score, name) for score in of], weights=numbers)) for name in Score._fields)
    )


LEAST_PRECISION, LEAST_RECALL = 0.95, 0.80
"""The bar that was set for the labelled findings."""


def best_threshold(scores: dict[float, Score]) -> float:
    """The one with the highest recall of those with enough precision; else the highest."""
    enough = [threshold for threshold, score in scores.items() if score.precision >= LEAST_PRECISION]
    return max(enough or [max(scores)], key=lambda threshold: scores[threshold].recall)


def mean_scores(
    findings: Sequence[Labelled], seeds: int, thresholds: Sequence[float] = THRESHOLDS
) -> tuple[Pairs, dict[float, Score]]:
    pairs = Pairs(findings)
    runs = [five_fold(findings, pairs, seed, thresholds) for seed in range(seeds)]
    return pairs, {threshold: _mean([(1, run[threshold]) for run in runs]) for threshold in thresholds}


def chosen(threshold: float, score: Score) -> str:
    return f"chosen: {threshold}: B-cubed precision {score.precision:.3f}, recall {score.recall:.3f}"


def _add(campaign: Path, path: Path) -> None:
    known = {each.slug for each in read(path)} if path.exists() else set()
    with path.open("ab") as file:
        for folder in finding_file.folders_in(campaign / "crashes"):
            doc = finding_file.read(folder)
            if doc.slug not in known and not doc.flaky:
                row = Labelled(doc.slug, "", "", "", "", traits_of(doc, case_file.input_types(folder)))
                file.write(msgspec.json.encode(row, order="sorted") + b"\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labelled", type=Path, default=LABELLED, metavar="FILE")
    parser.add_argument("--seeds", type=int, default=5, help="orders of the findings")
    parser.add_argument("--write", action="store_true", help="write the weights")
    parser.add_argument("--add", type=Path, metavar="DIR", help="a campaign whose findings get rows")
    options = parser.parse_args()
    if options.add:
        _add(options.add, options.labelled)
        return 0
    findings = [each for each in read(options.labelled) if each.cause]
    causes = Counter(each.cause for each in findings)
    print(f"{len(findings)} findings, {len(causes)} causes; the largest have {[n for _, n in causes.most_common(8)]}")
    pairs, scores = mean_scores(findings, options.seeds)
    for threshold, score in scores.items():
        print(f"threshold {threshold:6.3f}: precision {score.precision:.3f}, recall {score.recall:.3f}")
    threshold = best_threshold(scores)
    print(chosen(threshold, scores[threshold]))
    learnt = pairs.learn(range(len(findings)), threshold)
    found = put_together(range(len(findings)), pairs.log_odds(learnt), threshold)
    score = b_cubed([[findings[index] for index in family] for family in found])
    print(f"with the weights of all: {len(found)} families, precision {score.precision:.3f}, recall {score.recall:.3f}")
    if options.write:
        text = msgspec.json.format(msgspec.json.encode(learnt), indent=1)
        WEIGHTS.write_bytes(text + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
