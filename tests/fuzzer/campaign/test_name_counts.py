"""Counts: never too few, seldom too many, and never of another size."""

from __future__ import annotations

from fuzzer.campaign.lanes.name_counts import MOST, Counts


def test_what_was_added_is_counted_up_to_a_bound() -> None:
    counts = Counts()
    assert counts["op add float32 2"] == 0
    counts.add("op add float32 2")
    counts.add("op add float32 2", 3)
    assert (counts["op add float32 2"], counts["op add float32 3"]) == (4, 0)
    counts.add("op add float32 2", 1000)
    assert counts["op add float32 2"] == MOST


def test_of_as_many_names_as_days_bring_few_are_counted_with_another() -> None:
    counts = Counts()
    for number in range(25_000):
        counts.add(f"attr conv2d padding={number}")
    alone = sum(counts[f"attr conv2d padding={number}"] == 1 for number in range(25_000))
    assert alone > 0.97 * 25_000
    assert sum(counts[f"op conv2d float32 {number}"] > 0 for number in range(1000)) < 40
