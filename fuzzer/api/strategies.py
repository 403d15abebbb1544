"""Cases for Hypothesis. It makes every choice, so that a failing case shrinks to few operators and plain numbers."""

from __future__ import annotations

from hypothesis.strategies import SearchStrategy

from fuzzer.api.random_cases import limits
from fuzzer.campaign.plan.selection import ops_named
from generators.graph import Case
from generators.torch import strategies

MAX_OPS = 4


def cases(ops: str = "*", *, max_ops: int = MAX_OPS) -> SearchStrategy[Case]:
    """Return a strategy of valid cases with the operators that the comma-separated globs name. Raise `Invalid`, a
    ValueError, where no operator has such a name."""
    return strategies.cases(limits(max_ops), ops_named(ops))
