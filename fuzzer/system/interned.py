"""Equal values that thousands of objects hold are in memory once."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def interned(value: T) -> T:
    """Return the value, or one equal to it that was given before."""
    return _first(value)  # type: ignore[return-value]


@lru_cache(maxsize=20_000)
def _first(value: Hashable) -> Hashable:
    return value
