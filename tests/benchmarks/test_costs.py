"""The figures of benchmarks/costs.py."""

from __future__ import annotations

import costs

from fuzzer.campaign.lanes.lane_chooser import TIER_1, LaneChooser


def test_the_cost_of_a_tier_is_that_of_all_tests_by_their_number() -> None:
    chooser = LaneChooser()
    for seconds in (0.5, 0.1, 0.3):
        chooser.begin(seconds)
    chooser.records.find((TIER_1,))
    assert costs.tier_line(chooser, TIER_1) == "tier 1: 300 CPU ms per test, 1.11 new failures per CPU second"
