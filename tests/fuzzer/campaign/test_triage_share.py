"""The share of the CPU that triage gets."""

from __future__ import annotations

import pytest

from fuzzer.campaign.triage.triage_share import MOST_OWED, SOME_CAUSES, TriageShare


def test_triage_is_due_until_it_has_had_its_share() -> None:
    share = TriageShare(0.25)
    assert share.is_due
    share.spent_on_tests(3)
    assert share.is_due
    share.spent_on_triage(1)
    assert share.is_due
    share.spent_on_triage(0.01)
    assert not share.is_due


def test_without_a_share_triage_waits_for_the_end_of_the_tests() -> None:
    share = TriageShare(0)
    assert not share.is_due
    share.spent_on_tests(10)
    share.waiting(100)
    assert not share.is_due


def test_the_share_grows_with_the_causes_that_wait_and_tests_keep_half() -> None:
    share = TriageShare(0.32)
    shares = []
    for causes in (0, SOME_CAUSES, 9 * SOME_CAUSES, 10**9, 0):
        share.waiting(causes)
        shares.append(share.now)
    assert shares == pytest.approx([0.32, 0.37, 0.41, 0.42, 0.32])


def test_a_share_of_more_than_half_stays_as_it_is() -> None:
    share = TriageShare(0.7)
    share.waiting(1000)
    assert share.now == 0.7


def after_hours(share: TriageShare) -> TriageShare:
    """Tests and triage had their parts for long."""
    for _ in range(1000):
        share.spent_on_tests(6)
        share.spent_on_triage(4)
    return share


def test_a_larger_part_concerns_later_tests_only() -> None:
    """Else triage would first get its larger part of all earlier hours, and the tests would stand still so long."""
    share = after_hours(TriageShare(0.4))
    share.waiting(10**9)
    assert share.now == pytest.approx(0.42)
    share.spent_on_tests(58)
    assert share.is_due
    share.spent_on_triage(42.1)
    assert not share.is_due


def test_a_smaller_part_concerns_later_tests_only() -> None:
    share = TriageShare(0.4)
    share.waiting(10**9)
    for _ in range(1000):
        share.spent_on_tests(58)
        share.spent_on_triage(42)
    share.waiting(0)
    assert share.now == 0.4
    share.spent_on_triage(0.01)
    assert not share.is_due
    share.spent_on_tests(1)
    assert share.is_due


def test_what_comes_together_while_nothing_waits_is_bounded() -> None:
    share = TriageShare(0.5)
    share.spent_on_tests(10_000)
    share.spent_on_triage(MOST_OWED)
    assert share.is_due
    share.spent_on_triage(0.1)
    assert not share.is_due


def test_the_whole_cpu() -> None:
    share = TriageShare(1)
    share.spent_on_tests(1)
    share.spent_on_triage(1000)
    assert share.is_due
