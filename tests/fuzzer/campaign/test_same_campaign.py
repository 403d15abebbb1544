"""The same seed, the same lab: the same campaign in each process."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import guided_campaign
import pytest
from campaigns_by_hand import FakeExecutor, WatchedTests, cases, settings, watch

from fuzzer.campaign.plan.settings import RunLimits
from fuzzer.campaign.run.loop import Campaign
from fuzzer.campaign.store.store import Store

TESTS = 15


@pytest.mark.slow
def test_a_guided_campaign_of_one_worker_draws_the_same_in_two_processes() -> None:
    """Python's hash of a string differs between them, and with it the order of sets of names."""
    one, other = (_draws(seed) for seed in ("1", "2"))
    assert one == other
    assert len(one) == TESTS
    assert len(set(map(len, one))) > 1, "all tests took the same lanes"


def _draws(hash_seed: str) -> list[str]:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, guided_campaign.__file__, str(TESTS)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def test_the_limits_of_a_run_are_of_the_clock_that_it_is_given(tmp_path: Path) -> None:
    watched: WatchedTests = []
    ticks = itertools.count()
    with Store(tmp_path, 1) as store:
        limits = RunLimits(seconds=20.0, clock=lambda: float(next(ticks)))
        Campaign(settings(tmp_path, limits), store, FakeExecutor(), cases(1000), watch(watched)).run()
    assert 0 < len(watched) < 20
