"""How many tests get a case of PyTorch, and how many one of ONNX: what a dialect has shown decides it."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fuzzer.campaign.lanes.lane_records import LaneRecord
from fuzzer.campaign.plan.streams import Stream, choices

LEAST = 0.15
"""The least share of a dialect. What a dialect shows changes with what was found already."""

STEPS = 1000


@dataclass(slots=True)
class DialectShares:
    """New failures per CPU second of each dialect in this run. It is thread-safe."""

    records: dict[str, LaneRecord] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def spend(self, dialect: str, seconds: float, found: int) -> None:
        """Take in the CPU seconds and the new failures of a test."""
        with self._lock:
            record = self.records.setdefault(dialect, LaneRecord())
            record.seconds += seconds
            record.found += found

    def shares(self, dialects: Sequence[str]) -> Mapping[str, float]:
        """The share of each dialect in the next tests. They are in proportion to new failures per CPU second, and each
        is at least `LEAST`."""
        with self._lock:
            rates = {each: self.records.get(each, LaneRecord()).failures_per_second for each in dialects}
        total, free = sum(rates.values()), 1 - LEAST * len(dialects)
        return {each: LEAST + free * rate / total for each, rate in rates.items()}


def dialect_of(seed: int, index: int, shares: Mapping[str, float]) -> str:
    """Draw the dialect of a test. It depends on the arguments alone."""
    point = choices(seed, index, Stream.DIALECT).integer(0, STEPS - 1) / STEPS
    for dialect, share in shares.items():
        point -= share
        if point < 0:
            return dialect
    return list(shares)[-1]
