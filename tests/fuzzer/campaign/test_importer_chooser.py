"""An expensive importer reads the newest cases, and about as many as its rate says."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from graphs_by_hand import case_of
from hypothesis import given
from hypothesis import strategies as st

from fuzzer.campaign.cases.cases import random_cases
from fuzzer.campaign.lanes.importer_chooser import (
    GAIN,
    MOST,
    OTHER_WEIGHT,
    WEIGHT,
    ImporterChooser,
    NewestCases,
    features,
    rate_of,
)
from fuzzer.campaign.lanes.lane_records import FLOOR, LaneRecord
from fuzzer.campaign.lanes.name_counts import Counts
from fuzzer.campaign.plan.settings import Settings
from generators.graph import Case
from oracles.importers import EXPENSIVE
from oracles.lane import Importer

ONNX, EXPORT = Importer.ONNX_DYNAMO, Importer.EXPORT_TVM
SOFTMAX = case_of({"x0": "float32[2,3]"}, [("v0", "softmax", "x0", {"dim": -1})], "v0")
NOVELTY_FACTOR = 20
"""How far apart the novelties of drawn cases are. The threshold moves by the same factor at most, and each case that is
read beyond the rate makes it higher by e^GAIN."""
RELU = case_of({"x0": "float32[2,3]"}, [("v0", "relu", "x0")], "v0")


def test_features() -> None:
    assert features(ONNX, SOFTMAX) == {
        "imported onnx-dynamo softmax float32": 1.0,
        "imported onnx-dynamo attr softmax dim=-1": OTHER_WEIGHT,
        "imported onnx-dynamo attr softmax dtype=None": OTHER_WEIGHT,
    }


def test_the_rate_is_the_usual_one_until_the_importer_shows_more_or_less() -> None:
    cheap = LaneRecord(seconds=98, found=49.4)
    assert cheap.failures_per_second == pytest.approx(0.5)
    assert rate_of(ONNX, LaneRecord(), cheap) == pytest.approx(0.03)
    assert rate_of(EXPORT, LaneRecord(seconds=WEIGHT, found=WEIGHT), cheap) == pytest.approx(0.08 * 1.5)
    assert rate_of(ONNX, LaneRecord(seconds=10, found=1000), cheap) == pytest.approx(0.03 * MOST)
    assert rate_of(EXPORT, LaneRecord(seconds=7 * WEIGHT), cheap) == pytest.approx(0.08 / 8)
    assert rate_of(ONNX, LaneRecord(seconds=1000), cheap) == 1 / FLOOR


def test_a_case_like_one_that_was_read_is_not_read_again_soon() -> None:
    chooser = ImporterChooser(Counts())
    assert chooser.read(ONNX, RELU, 0.03) == (), "the first case says what is usual"
    assert set(chooser.read(ONNX, SOFTMAX, 0.03)) == set(features(ONNX, SOFTMAX)), "it has more that is new"
    assert chooser.counts["imported onnx-dynamo softmax float32"] == 1
    assert chooser.read(ONNX, SOFTMAX, 0.03) == ()
    assert chooser.read(EXPORT, RELU, 0.03) == ()
    assert chooser.read(EXPORT, SOFTMAX, 0.03) != (), "each importer has read cases of its own"


def test_no_importer_waits_longer_than_the_floor() -> None:
    newest = NewestCases(threshold=1e9)
    taken = [newest.takes(1.0, 1 / FLOOR) for _ in range(10 * FLOOR)]
    assert [index + 1 for index, each in enumerate(taken) if each] == [FLOOR * n for n in range(1, 11)]
    assert newest.threshold == pytest.approx(1e9), "the rate is the floor's"


RATES = st.floats(1 / FLOOR, 0.3)
NOVELTIES = st.lists(st.floats(0.01, 10.0), min_size=1, max_size=400)


@given(NOVELTIES, RATES)
def test_the_number_of_cases_is_what_the_rate_says(novelties: list[float], rate: float) -> None:
    """Each case that is taken raises the threshold by a known factor, and the threshold stays near the novelties.
    Therefore the number of cases differs from rate x cases by a constant, whatever the novelties are."""
    newest = NewestCases()
    taken = [newest.takes(novelty, rate) for novelty in novelties]
    assert newest.threshold is not None
    drift = math.log(newest.threshold / novelties[0]) / GAIN
    assert sum(taken) == pytest.approx(rate * len(novelties) + drift)
    assert abs(drift) <= math.log(10.0 / 0.01) / GAIN + len(novelties) / FLOOR + 1


@given(NOVELTIES, RATES)
def test_it_depends_on_the_novelties_alone(novelties: list[float], rate: float) -> None:
    one, other = NewestCases(), NewestCases()
    assert [one.takes(each, rate) for each in novelties] == [other.takes(each, rate) for each in novelties]


def test_the_newest_cases_are_taken() -> None:
    """Novelties 1 to 0.01 again and again: the tenth that is taken has the highest ones."""
    newest = NewestCases()
    novelties = [1 - (37 * index % 100) / 100 for index in range(5000)]
    taken = [novelty for novelty in novelties if newest.takes(novelty, 0.1)]
    assert 480 <= len(taken) <= 520
    assert sum(novelty > 0.8 for novelty in taken) >= 0.95 * len(taken)


@pytest.mark.slow
def test_more_operators_with_their_dtypes_are_read_than_in_as_many_random_cases(tmp_path: Path) -> None:
    draw, chooser = random_cases(Settings(tmp_path, 1), 1), ImporterChooser(Counts())
    cases = [case for case in map(draw, range(1000)) if case is not None]

    def read(some: Sequence[Case], importer: Importer) -> int:
        return len({name for case in some for name, weight in features(importer, case).items() if weight == 1})

    for importer, percent in EXPENSIVE.items():
        chosen = [case for case in cases if chooser.read(importer, case, percent / 100)]
        assert abs(len(chosen) - 10 * percent) < math.log(NOVELTY_FACTOR) / GAIN
        usual = max(read(random.Random(seed).sample(cases, len(chosen)), importer) for seed in range(20))
        assert read(chosen, importer) > 1.3 * usual
