"""Counts names in memory of a fixed size."""

from __future__ import annotations

from zlib import crc32

SLOTS = 1 << 20
"""One byte each. With 25,000 names, the number after days of a campaign, one name in 40 shares its slot with
another."""

GOLDEN = 0x9E3779B1
"""The prime next to 2^32 divided by the golden ratio."""

MOST = 255
"""Higher counts make no difference to guidance."""


class Counts:
    """The same names share a slot in each process: Python's `hash` of a string differs from process to process, and
    guidance would draw other cases of the same seed."""

    def __init__(self) -> None:
        self._counts = bytearray(SLOTS)

    def __getitem__(self, name: str) -> int:
        """The count of a name, at most `MOST`. It includes the counts of other names in the same slot."""
        return self._counts[_slot(name)]

    def add(self, name: str, times: int = 1) -> None:
        slot = _slot(name)
        self._counts[slot] = min(MOST, self._counts[slot] + times)


def _slot(name: str) -> int:
    """A checksum alone is linear: many names that differ in a few places would share slots with many others. The
    product is not (Knuth, The Art of Computer Programming, volume 3, section 6.4, multiplicative hashing)."""
    return (crc32(name.encode()) * GOLDEN & 0xFFFFFFFF) * SLOTS >> 32
