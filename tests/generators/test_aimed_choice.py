"""Numbers beside constants are drawn often, and other choices are as before."""

from __future__ import annotations

from collections import Counter

import pytest

from generators.aimed_choice import PERCENT, AimedSource, numbers_beside, sizes_beside
from generators.builder import PREFERRED_PERCENT, Builder
from generators.choice import NumpySource
from generators.limits import Limits

DRAWS = 2000


def test_integers_are_often_preferred_ones() -> None:
    source = AimedSource(NumpySource(1), (5, 700))
    counts = Counter(source.integer(0, 1_000_000) for _ in range(DRAWS))
    assert counts[5] + counts[700] == pytest.approx(DRAWS * PERCENT / 100, rel=0.15)
    assert {source.integer(10, 12) for _ in range(100)} == {10, 11, 12}


def test_choices_from_lists_and_chances_are_as_before() -> None:
    aimed, plain = AimedSource(NumpySource(1), (0, 1, 2)), NumpySource(1)
    for _ in range(50):
        assert aimed.choice("abcdef") == plain.choice("abcdef")
        assert aimed.chance(30) == plain.chance(30)
        assert aimed.rarely(30) == plain.rarely(30)
    assert aimed.rng().integers(100) == plain.rng().integers(100)


def test_numbers_beside_constants() -> None:
    assert numbers_beside((4, 0.5)) == (-5, -4, -3, 3, 4, 5)
    assert numbers_beside((1e9,)) == ()


def test_sizes_have_each_remainder_of_a_division_by_a_small_constant() -> None:
    found = sizes_beside((4,))
    assert {size % 4 for size in found} == {0, 1, 2, 3}
    assert min(found) == 3
    assert sizes_beside((0, 1, -3, 0.5, 100_000)) == ()
    assert {1023, 1024, 1025, 2049} <= set(sizes_beside((1024,)))


def test_most_shapes_have_a_preferred_size() -> None:
    limits = Limits(sizes=(1021,))
    shapes = [Builder(NumpySource(1, number), limits).shape(2) for number in range(400)]
    assert sum(1021 in shape for shape in shapes) == pytest.approx(400 * PREFERRED_PERCENT / 100, rel=0.2)
