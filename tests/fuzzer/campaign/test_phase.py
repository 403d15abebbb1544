"""The phases of a run, and how far the present one is; the clock is moved by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from labs import FakeLab

from fuzzer.campaign.plan.settings import RunLimits, Settings, TriageLimits
from fuzzer.campaign.plan.test_numbers import ALL, Numbers
from fuzzer.campaign.run.loop import Campaign
from fuzzer.campaign.run.phase import Phase, PhaseProgress
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.test.dispatcher import GRACE, Dispatcher

NO_LANE_FAILS = FakeLab(lambda case, lane, lanes: None)


class Moved:
    """A dispatcher whose clock and number of new findings are set by hand."""

    def __init__(self, limits: RunLimits, drain: float = 60.0) -> None:
        self.now, self.new = 0.0, 0
        self.dispatcher = Dispatcher(Numbers(ALL, 0, ()), limits, drain, lambda: self.now, lambda: self.new)

    def at(self, now: float) -> tuple[float | None, float | None]:
        self.now = now
        return self.dispatcher.seconds_left, self.dispatcher.part_over


def test_the_time_of_the_tests_and_then_of_triage() -> None:
    run = Moved(RunLimits(seconds=100.0), drain=60.0)
    assert run.at(25.0) == (75.0, 0.25)
    assert run.at(100.0) == (60.0, 0.0)
    assert run.at(145.0) == (15.0, 0.75)
    assert run.at(170.0) == (0.0, 1.0)


def test_the_limit_that_is_nearest_counts() -> None:
    run = Moved(RunLimits(100.0, 4, 2))
    for _ in range(2):
        number = run.dispatcher.take()
        assert number is not None
        run.dispatcher.finish(number)
    assert run.dispatcher.take() == 2, "a test that runs is not over"
    assert run.at(10.0) == (90.0, 0.5)
    run.new = 2
    assert run.at(11.0) == (60.0, 0.0)


def test_the_time_for_tests_and_triage_is_a_limit() -> None:
    run = Moved(RunLimits(seconds=100.0), drain=60.0)
    assert run.dispatcher.take() == 0
    run.now = 150.0
    assert run.dispatcher.seconds_to_stop == 10.0 + GRACE, "the test that runs counts too"
    run.now = 160.0 + GRACE
    assert run.dispatcher.seconds_to_stop == 0.0
    assert Moved(RunLimits()).dispatcher.seconds_to_stop == math.inf
    assert Moved(RunLimits(seconds=9.0), math.inf).dispatcher.seconds_to_stop == math.inf


def test_tests_whose_number_is_limited_are_finished_first() -> None:
    run = Moved(RunLimits(tests=1), drain=5.0)
    assert (run.dispatcher.take(), run.dispatcher.take()) == (0, None)
    run.now = 1000.0
    assert run.dispatcher.seconds_to_stop == math.inf
    run.dispatcher.finish(0)
    assert run.dispatcher.seconds_to_stop == 0.0


def test_without_a_limit_nothing_is_known() -> None:
    assert Moved(RunLimits()).at(10.0) == (None, None)
    assert Moved(RunLimits(tests=0), math.inf).at(10.0) == (None, 0.0)


@pytest.mark.parametrize(
    ("limits", "steps", "expected"),
    [
        (RunLimits(), (), PhaseProgress(Phase.FUZZING)),
        (RunLimits(), ("pause",), PhaseProgress(Phase.PAUSED)),
        (RunLimits(), ("pause", "stop"), PhaseProgress(Phase.FINISHING)),
        (RunLimits(tests=0), (), PhaseProgress(Phase.FINISHING)),
        (RunLimits(tests=0), ("triage",), PhaseProgress(Phase.TRIAGE, None, 0.0)),
        (RunLimits(tests=0), ("triage", "stop"), PhaseProgress(Phase.FINISHING)),
    ],
)
def test_phases(tmp_path: Path, limits: RunLimits, steps: tuple[str, ...], expected: PhaseProgress) -> None:
    with Store(tmp_path, 1) as store:
        task = Campaign(Settings(tmp_path, 1, run=limits, triage=TriageLimits()), store, NO_LANE_FAILS)
        do: dict[str, Any] = {
            "pause": lambda: task.pause_switch.set("asked"),
            "stop": task.stop,
            "triage": lambda: task.activity.begin("reducing `square` (died)", is_triage=True),
        }
        for step in steps:
            do[step]()
        assert task.phase == expected
