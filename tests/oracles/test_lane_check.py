"""Lanes that are read from files: known ones are accepted, unknown names are refused with one sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuzzer.lanes import EVERY_TVM_LANE, HONEST_LANES, LANES, TVM_LANES
from oracles.lane import LaneSpec
from oracles.lane_check import invalid_reason
from oracles.target_kinds import KINDS

PLAIN = TVM_LANES[0]
LLVM = ", ".join(KINDS["llvm"])


@pytest.mark.parametrize("lane", dict.fromkeys((*LANES, *EVERY_TVM_LANE, *HONEST_LANES)), ids=str)
@pytest.mark.exhaustive
def test_difftvms_own_lanes_are_accepted(lane: LaneSpec) -> None:
    assert invalid_reason(lane) is None


@pytest.mark.parametrize(
    ("lane", "reason"),
    [
        (replace(PLAIN, passes=("FoldConstant", "Nonsense")), "no pass is called 'Nonsense'"),
        (replace(PLAIN, passes=("__import__('os')",)), "no pass is called \"__import__('os')\""),
        (replace(PLAIN, passes=("DynamicToStatic",)), "no pass is called 'DynamicToStatic'"),  # a pass of Relay
        (replace(PLAIN, target="llvm-none"), f"no target is called 'llvm-none'; the kinds are {', '.join(KINDS)}"),
        (replace(PLAIN, target="llvm -cl-opt=x"), f"target 'llvm -cl-opt=x': llvm has no attribute 'cl-opt': {LLVM}"),
        (replace(PLAIN, target="c x"), "target 'c x': 'x' is no attribute, such as -mcpu=haswell"),
        (replace(PLAIN, variant="../x"), "no lane is of the variant '../x'"),
        (replace(PLAIN, options=("rm -rf",)), "no option of TVM is called 'rm -rf'"),
        (replace(PLAIN, disabled=("a b",)), "no pass of TVM is called 'a b'"),
        (replace(PLAIN, opt_level=9), "there is no optimisation level 9"),
    ],
)
def test_a_lane_with_an_unknown_name_is_refused(lane: LaneSpec, reason: str) -> None:
    assert invalid_reason(lane) == reason
