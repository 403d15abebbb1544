"""What is new since the last line of a log: each failure when it is seen, and each finding when it is confirmed."""

from __future__ import annotations

from collections.abc import Iterator

from fuzzer.watching.snapshot import Snapshot


class News:
    """Remembers what was shown."""

    def __init__(self) -> None:
        self._shown: set[str] = set()

    def since(self, snapshot: Snapshot) -> Iterator[str]:
        """A line for each new finding of this run and each new suspicion, once."""
        for found in snapshot.causes.confirmed:
            if found.is_new and self._is_new(found.text):
                yield f"found: {found.level}  {found.text}"
        for one in snapshot.causes.provisional:
            if self._is_new(one.sighting):
                yield f"seen, not confirmed yet: {one.text}"

    def _is_new(self, name: str) -> bool:
        if name in self._shown:
            return False
        self._shown.add(name)
        return True
