"""No decision of a campaign depends on another one: each reads a stream of choices of its own."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np

from fuzzer.campaign.cases.around_cases import COMBINED, VARIED, Kind, kind_of
from fuzzer.campaign.cases.dialects import dialect_of
from fuzzer.campaign.cases.guidance import CANDIDATES
from fuzzer.campaign.plan.streams import Stream, choices
from fuzzer.difference import near_cases

TESTS = 4000
SEVERAL = {Stream.FIRST_CANDIDATE: CANDIDATES, Stream.DIFF_CANDIDATE: near_cases.CANDIDATES}
"""Streams that take the numbers after theirs too."""


def test_no_two_streams_have_one_number() -> None:
    taken = [stream + number for stream in Stream.__members__.values() for number in range(SEVERAL.get(stream, 1))]
    assert len(taken) == len(set(taken))
    assert len(Stream) == len(Stream.__members__)


def test_any_two_streams_are_independent() -> None:
    """Each pair of first choices of 400 tests comes about 100 times. With equal streams, two pairs come never."""
    drawn = {stream: [choices(7, index, stream).integer(0, 1) for index in range(400)] for stream in Stream}
    counted = {
        (one, other): Counter(zip(drawn[one], drawn[other], strict=True)) for one, other in combinations(Stream, 2)
    }
    pairs = [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert not [both for both, counts in counted.items() if not all(50 < counts[each] < 150 for each in pairs)]


def test_each_kind_around_a_model_is_drawn_in_each_dialect() -> None:
    shares = {"torch": 0.5, "onnx": 0.5}
    counted = Counter((dialect_of(3, index, shares), kind_of(3, index)) for index in range(TESTS))
    percents = {Kind.VARIED: VARIED, Kind.COMBINED: COMBINED, Kind.MUTATED: 100 - VARIED - COMBINED}
    for (dialect, share), (kind, percent) in ((d, k) for d in shares.items() for k in percents.items()):
        expected = TESTS * share * percent / 100
        assert abs(counted[dialect, kind] - expected) < 5 * np.sqrt(expected), (dialect, kind)
