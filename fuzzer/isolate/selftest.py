"""The self-test before a campaign: lanes that misbehave on purpose must be recognised, each as its kind of failure."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import msgspec

from fuzzer.isolate.child_process import Bounds
from fuzzer.isolate.fleet import Backend
from fuzzer.isolate.sine_case import sine_case
from fuzzer.lanes import TORCH, TORCH_ENVELOPE, TORCH_F64
from oracles.finding import Kind
from oracles.judge import judge_all
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Skipped

EXPECTED: dict[str, Kind | None] = {
    "leak": Kind.OUT_OF_MEMORY,  # takes longest, so it begins first
    "honest": None,
    "lie": Kind.WRONG_VALUE,
    "raise": Kind.INTERNAL_ERROR,
    "hang": Kind.TIMED_OUT,
    "spin": Kind.TIMED_OUT,
    "segfault": Kind.DIED,
    "exit": Kind.DIED,
}
SHORT = Bounds(wall_seconds=0.8, cpu_seconds=0.4)
SMALL = Bounds(memory_bytes=1 << 30)
BOUNDS = {"leak": SMALL, "hang": SHORT, "spin": SHORT}
"""Others must not end by time: on a busy machine, 0.8 s are little for an honest lane too."""
AT_ONCE = 3
"""This many lanes misbehave at once: most of the time they wait. More would take the seconds that the others have on
two processors."""


class Check(msgspec.Struct, frozen=True, rename={"misbehaviour": "sin", "found": "seen"}):
    """The result for one way to misbehave: the kind of finding that is expected, and the kind that the oracles found.
    `fuzz doctor --json` prints it with the field names of earlier versions."""

    misbehaviour: str
    expected: Kind | None
    found: Kind | None
    seconds: float

    @property
    def passed(self) -> bool:
        return self.found is self.expected


def self_test(executor: Backend) -> list[Check]:
    """Check each way to misbehave, and one lane that is right. About 2 s."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(partial(_check, executor), EXPECTED))


def _check(executor: Backend, misbehaviour: str) -> Check:
    began = time.monotonic()
    lane = LaneSpec(f"faulty-{misbehaviour}", Engine.FAULTY, variant=misbehaviour)
    lanes = (TORCH, TORCH_F64, TORCH_ENVELOPE, lane)
    result = executor.run_fresh(sine_case(), lanes, BOUNDS.get(misbehaviour, Bounds()))
    found = [finding.kind for finding in judge_all(sine_case(), result.outcomes) if finding.lane == lane]
    return Check(misbehaviour, EXPECTED[misbehaviour], found[0] if found else None, time.monotonic() - began)


def why_skipped(executor: Backend, lanes: Sequence[LaneSpec]) -> str:
    """Why one of the lanes skips a model that every lane can take; "" where all run it, or fail in it."""
    outcomes = executor.run(sine_case(), lanes).outcomes
    return next((f"{lane}: {out.reason}" for lane, out in outcomes.items() if isinstance(out, Skipped)), "")
