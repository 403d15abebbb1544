"""Which findings make a check fail: `difftvm.check`, `fuzz diff` and their like."""

from __future__ import annotations

from oracles.finding import Kind


def fails_check(kind: Kind, *, aliasing: bool) -> bool:
    """Whether a finding of this kind makes a check fail. With `aliasing`, an output that shares memory with an input
    does, too. Its numbers are right, and TVM says nowhere that outputs have memory of their own."""
    return aliasing or kind is not Kind.ALIASED_OUTPUT
