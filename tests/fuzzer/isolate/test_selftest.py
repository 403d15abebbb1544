"""The self-test before a campaign."""

from __future__ import annotations

from fuzzer.isolate.child_process import Bounds
from fuzzer.isolate.selftest import BOUNDS, EXPECTED
from oracles.finding import Kind


def test_only_what_is_to_end_by_time_has_little_of_it() -> None:
    """A busy machine must not end an honest lane."""
    short = {name for name in EXPECTED if BOUNDS.get(name, Bounds()).wall_seconds < Bounds().wall_seconds}
    assert short == {name for name, kind in EXPECTED.items() if kind is Kind.TIMED_OUT}
