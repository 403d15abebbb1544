"""Schedules for GPUs are compared with the kernels before them, on this processor."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from graphs_by_hand import case_of

from fuzzer.isolate.executor import Executor
from fuzzer.isolate.known_answer import KNOWN_ANSWER
from fuzzer.lanes.base.availability import Runnable, availability, device_of, runs_by_kernels
from fuzzer.lanes.target_table import SCHEDULED_LANES
from oracles.lane import LaneSpec
from oracles.outcome import Built, Unsupported

pytestmark = pytest.mark.tvm

BENCHMARK = Path(__file__).parents[3] / "benchmarks/planted_schedules.py"
RIGHT = {"matmul", "sum", "softmax", "relu"}
NOT_SEEN = {"a wrong width of vectors"}
"""The memory that this mistake leaves without a value has the right one by chance."""


def test_what_loops_show_of_planted_mistakes() -> None:
    command = [sys.executable, str(BENCHMARK), "--judges", "loops", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = {name: by_judge["loops"] for name, by_judge in json.loads(done.stdout).items() if by_judge}
    assert {name for name, what in found.items() if not what} == RIGHT | NOT_SEEN
    assert found["a bound that is one too small"] == (
        "22.0 at [2, 1024] of buffer 1, which is 14.0 without the schedule"
    )
    assert found["a bound that is too large"] == "it writes out of bounds, 1 element after buffer 1"


@pytest.mark.parametrize("lane", SCHEDULED_LANES, ids=str)
def test_a_right_schedule_for_each_target(executor: Executor, lane: LaneSpec) -> None:
    assert isinstance(executor.run(KNOWN_ANSWER.case, [lane]).outcomes[lane], Built)


def test_a_case_without_a_kernel_that_can_be_compared_is_not_supported(executor: Executor) -> None:
    (lane, *_) = SCHEDULED_LANES
    divides = case_of({"x0": "int64[64]", "x1": "int64[64]"}, [("v0", "remainder", "x0 x1")], "v0")
    outcome = executor.run(divides, [lane]).outcomes[lane]
    assert isinstance(outcome, Unsupported)
    assert outcome.reason.startswith("no kernel can be compared with its schedule: ")
    assert outcome.reason.endswith(" may divide by an integer that it reads")


def test_a_lane_needs_no_device() -> None:
    for lane in SCHEDULED_LANES:
        assert availability(lane) == Runnable()
        assert device_of(lane) == ""
        assert not runs_by_kernels(lane)
