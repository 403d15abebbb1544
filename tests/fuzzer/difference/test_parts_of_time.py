"""How the time of `fuzz diff` is divided."""

from __future__ import annotations

import pytest

from fuzzer.commands.diff_options import DiffOptions
from fuzzer.difference.parts_of_time import Times


@pytest.mark.parametrize(
    ("whole", "times"),
    [
        (600.0, Times(400.0, 550.0, 600.0)),
        (60.0, Times(40.0, 55.0, 60.0)),
        (3600.0, Times(3360.0, 3540.0, 3600.0)),
        (0.0, Times(0.0, 0.0, 0.0)),
    ],
)
def test_tests_come_first(whole: float, times: Times) -> None:
    assert Times.of(whole) == times


def test_a_run_begins_no_test_in_the_last_third() -> None:
    assert DiffOptions(seconds=60.0).limits.seconds == 40.0
