"""What a lane calls before each of its stages."""

from __future__ import annotations

from typing import Protocol

from oracles.outcome import Stage


class Step(Protocol):
    """Called before each stage of a lane, so that the stage of a segfault is known too."""

    def __call__(self, stage: Stage, /) -> None: ...

    def note(self, **facts: object) -> None:
        """Record fields of `Facts` at once. They are kept however the lane ends."""


class Quiet:
    """A step that records nothing."""

    def __call__(self, stage: Stage, /) -> None: ...

    def note(self, **facts: object) -> None: ...
