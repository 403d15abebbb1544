"""What a definition refuses."""

from __future__ import annotations

from fuzzer.lanes.base.compiler_error import CompilerError
from generators.graph import Array


class NotEvaluated(CompilerError):
    """The interpreter does not evaluate this call, because its values are not legal, or because that takes too much.
    The case has one reader less; difftvm is not at fault."""


def rows(table: Array, indices: Array) -> Array:
    """Return the rows of `table` with these indices. Raise `NotEvaluated` where it has no such row."""
    if indices.size and not 0 <= indices.min() <= indices.max() < len(table):
        raise NotEvaluated(f"indices from {indices.min()} to {indices.max()} into {len(table)} rows")
    return table[indices]
