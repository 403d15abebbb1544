"""How often names were seen, in memory of one size however many there are."""

from __future__ import annotations

SLOTS = 1 << 20
"""A byte each. Of 25,000 names, as days of a campaign bring them, one in forty shares its slot with another."""

MOST = 255
"""Nobody asks whether it was more."""

# Which names share a slot differs from run to run, as Python's hash of a string does. So may what guidance draws; only
# `--random` promises the same cases.


class Counts:
    def __init__(self) -> None:
        self._seen = bytearray(SLOTS)

    def __getitem__(self, name: str) -> int:
        """Up to `MOST`; too many where another name has the same slot."""
        return self._seen[hash(name) % SLOTS]

    def add(self, name: str, times: int = 1) -> None:
        slot = hash(name) % SLOTS
        self._seen[slot] = min(MOST, self._seen[slot] + times)
