"""The lanes of a case whose plain sibling is right: oracles compare these with their siblings."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from oracles.compare import judge
from oracles.lane import LaneSpec
from oracles.outcome import Outcomes, Ran
from oracles.reference import expected_of
from oracles.siblings import sibling


def pairs_with_siblings(
    outcomes: Outcomes, which: Callable[[LaneSpec], bool]
) -> Iterator[tuple[tuple[LaneSpec, Ran], tuple[LaneSpec, Ran]]]:
    """Yield each lane that `which` selects and that ran, with its sibling, where the sibling ran and is right.

    Where the sibling is wrong too, both have one bug, which other oracles find on the sibling. Without a full reference
    every sibling that ran counts as right.
    """
    for lane, ran in outcomes.items():
        plain = sibling(lane, outcomes) if which(lane) else None
        other = outcomes[plain] if plain else None
        if plain is None or not isinstance(ran, Ran) or not isinstance(other, Ran):
            continue
        right = expected_of(plain, outcomes)
        if right is None or judge(other.outputs, right) is None:
            yield (lane, ran), (plain, other)
