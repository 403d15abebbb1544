"""The share of each dialect follows what it shows. Seed, number and shares alone decide the dialect of a test."""

from __future__ import annotations

from collections import Counter

import pytest

from fuzzer.campaign.cases.dialects import LEAST, DialectShares, dialect_of

BOTH = ("torch", "onnx")


def test_shares_begin_equal_and_sum_to_one() -> None:
    assert DialectShares().shares(BOTH) == {"torch": pytest.approx(0.5), "onnx": pytest.approx(0.5)}
    assert DialectShares().shares(("onnx",)) == {"onnx": pytest.approx(1)}


def test_a_dialect_that_shows_more_gets_more_and_the_other_keeps_its_least() -> None:
    shares = DialectShares()
    shares.spend("torch", 1000.0, 1)
    shares.spend("onnx", 10.0, 100)
    found = shares.shares(BOTH)
    assert found["onnx"] > 0.8
    assert found["torch"] >= LEAST
    assert sum(found.values()) == pytest.approx(1)


def test_tests_are_divided_by_the_shares() -> None:
    times = Counter(dialect_of(1, index, {"torch": 0.7, "onnx": 0.3}) for index in range(2000))
    assert 0.66 < times["torch"] / 2000 < 0.74


def test_the_dialect_of_a_test_is_drawn_again_alike() -> None:
    shares = {"torch": 0.5, "onnx": 0.5}
    assert [dialect_of(3, index, shares) for index in range(50)] == [
        dialect_of(3, index, shares) for index in range(50)
    ]
    assert {dialect_of(3, index, {"onnx": 1.0}) for index in range(50)} == {"onnx"}
