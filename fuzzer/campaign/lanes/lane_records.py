"""What lanes cost and what they have shown in this run of a campaign."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from fuzzer.lanes import EVERY_LANE
from fuzzer.signature import Signature
from fuzzer.toolchains.toolchain import HOST_NAME
from oracles.lane import LaneSpec
from oracles.transforms import transform_named

USUAL_SECONDS = 0.12
"""CPU seconds of a lane that nothing is known about: compilation, loading and two runs (`benchmarks/costs.py`)."""

SECONDS: Mapping[str, float] = {"gradient": 0.4, "mutants": 0.6}
"""CPU seconds by variant, where they differ from `USUAL_SECONDS`."""

USUAL_YIELD, WEIGHT = 0.3, 2.0
"""New failures per CPU second of a lane that nothing is known about, and for how many CPU seconds that counts."""

FLOOR = 150
"""A lane, a pass or an importer that has not run for this many tests runs with the next case that fits it."""


@functools.lru_cache(1024)
def kinds_of(lane: LaneSpec) -> tuple[str, ...]:
    """The names under which a lane is recorded: its own, or those of its passes where it was drawn for one test. The
    same lane in several toolchains has one record."""
    if replace(lane, toolchain=HOST_NAME) in EVERY_LANE:
        return (lane.name,)
    passes = dict.fromkeys(transform_named(name).pass_name for name in lane.passes)
    return tuple(f"pass {name}" for name in passes) or ("drawn",)


@dataclass(slots=True)
class LaneRecord:
    """CPU seconds, distinct failures that were new, how often the lane was taken, and the last test in which it had
    something to do (by the number of tests that this run had begun)."""

    seconds: float = 0.0
    found: float = 0.0
    taken: int = 0
    last: int = 0

    @property
    def failures_per_second(self) -> float:
        return (self.found + USUAL_YIELD * WEIGHT) / (self.seconds + WEIGHT)


@dataclass(slots=True)
class LaneRecords:
    by_kind: dict[str, LaneRecord] = field(default_factory=dict)

    def of(self, kind: str) -> LaneRecord:
        return self.by_kind.get(kind, LaneRecord())

    def failures_per_second(self, kinds: Sequence[str]) -> float:
        return sum(self.of(kind).failures_per_second for kind in kinds) / len(kinds)

    def seconds(self, lane: LaneSpec, kinds: Sequence[str]) -> float:
        """What one run of the lane is expected to cost."""
        records = [self.of(kind) for kind in kinds]
        first = SECONDS.get(lane.variant, USUAL_SECONDS)
        return sum((each.seconds + first) / (each.taken + 1) for each in records) / len(records)

    def meet(self, awake: Sequence[str], test: int) -> None:
        """Take in that a test is about to run these kinds, so that no other test finds them overdue."""
        for kind in awake:
            self.by_kind.setdefault(kind, LaneRecord()).last = test

    def take(self, kinds: Sequence[str], awake: Sequence[str], test: int) -> None:
        """Take in a run of a lane. `awake` are those of its kinds that had something to do."""
        for kind in kinds:
            record = self.by_kind.setdefault(kind, LaneRecord())
            record.taken += 1
            record.last = test if kind in awake else record.last

    def spend(self, kinds: Sequence[str], seconds: float) -> None:
        for kind in kinds:
            self.by_kind.setdefault(kind, LaneRecord()).seconds += seconds

    def find(self, kinds: Sequence[str]) -> None:
        for kind in kinds:
            self.by_kind.setdefault(kind, LaneRecord()).found += 1


@dataclass(slots=True)
class DistinctFailures:
    """Tells failures that differ from those before. One with a message is known by its coarse signature. One without
    is known where its case contains all operators of an earlier one."""

    ids: set[str] = field(default_factory=set)
    silent: dict[str, set[frozenset[str]]] = field(default_factory=dict)

    def is_new(self, signature: Signature, ops: frozenset[str]) -> bool:
        if not signature.needs_ops:
            return signature.id not in self.ids
        return not any(other <= ops for other in self.silent.get(signature.id, ()))

    def add(self, signature: Signature, ops: frozenset[str]) -> bool:
        """Take in a failure; return whether it is new."""
        new = self.is_new(signature, ops)
        if new and not signature.needs_ops:
            self.ids.add(signature.id)
        elif new:
            others = self.silent.get(signature.id, set())
            self.silent[signature.id] = {other for other in others if not ops <= other} | {ops}
        return new
