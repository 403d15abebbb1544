"""Counts names in memory of a fixed size."""

from __future__ import annotations

SLOTS = 1 << 20
"""One byte each. With 25,000 names, the number after days of a campaign, one name in 40 shares its slot with
another."""

MOST = 255
"""Higher counts make no difference to guidance."""

# Python's hash of a string differs from run to run, and so do the names that share a slot. The cases that guidance
# chooses may therefore differ. Only `--random` promises the same cases.


class Counts:
    def __init__(self) -> None:
        self._counts = bytearray(SLOTS)

    def __getitem__(self, name: str) -> int:
        """The count of a name, at most `MOST`. It includes the counts of other names in the same slot."""
        return self._counts[hash(name) % SLOTS]

    def add(self, name: str, times: int = 1) -> None:
        slot = hash(name) % SLOTS
        self._counts[slot] = min(MOST, self._counts[slot] + times)
