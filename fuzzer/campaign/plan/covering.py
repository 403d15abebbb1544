"""Covering arrays: rows of values in which each tuple of values of n factors occurs.

A factor is a number of values, 0, 1, ...; a value of a factor is a pair (factor, value). Two values that exclude each
other occur in no row together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, product

from generators.choice import ChoiceSource

Value = tuple[int, int]
Tuple = tuple[Value, ...]
"""Values of different factors, sorted."""

Row = tuple[int, ...]
"""A value of each factor."""

CANDIDATES = 5
"""How many rows are made for each row of the array. The one that covers the most new tuples is taken."""


class Exclusions:
    """Pairs of values that exclude each other. Only factors with such values are searched for a legal row."""

    def __init__(self, sizes: Sequence[int], pairs: Collection[tuple[Value, Value]]) -> None:
        self._sizes = sizes
        self._excluded: dict[Value, set[Value]] = {}
        for one, other in pairs:
            self._excluded.setdefault(one, set()).add(other)
            self._excluded.setdefault(other, set()).add(one)
        self._factors = sorted({factor for factor, _ in self._excluded})
        self._completed = lru_cache(1 << 16)(self._complete)

    def allow(self, value: Value, chosen: Mapping[int, int]) -> bool:
        """Whether a legal row has the chosen values and this one. The chosen values are those of a legal row."""
        if value not in self._excluded:
            return True
        decided = {factor: chosen[factor] for factor in self._factors if factor in chosen}
        return self._completed(tuple(sorted({**decided, value[0]: value[1]}.items())))

    def allow_all(self, values: Tuple) -> bool:
        """Whether a legal row has these values."""
        return self._completed(tuple(value for value in values if value[0] in self._factors))

    def _complete(self, chosen: Tuple) -> bool:
        if any(other in chosen for value in chosen for other in self._excluded.get(value, ())):
            return False
        decided = {factor for factor, _ in chosen}
        left = next((factor for factor in self._factors if factor not in decided), None)
        if left is None:
            return True
        return any(self._completed(tuple(sorted((*chosen, (left, at))))) for at in range(self._sizes[left]))


def tuples_of(row: Row, n: int) -> Iterator[Tuple]:
    """The tuples of n values that a row has."""
    return combinations(enumerate(row), n)


def possible_tuples(sizes: Sequence[int], n: int, exclusions: Exclusions) -> Iterator[Tuple]:
    """The tuples of values of n factors that a legal row has."""
    for factors in combinations(range(len(sizes)), n):
        for values in product(*(range(sizes[factor]) for factor in factors)):
            if exclusions.allow_all(found := tuple(zip(factors, values, strict=True))):
                yield found


def covering_array(source: ChoiceSource, sizes: Sequence[int], n: int, exclusions: Exclusions) -> tuple[Row, ...]:
    """Rows in which each possible tuple occurs, those that cover the most first. It is greedy: the array is small, but
    not the smallest. Cohen, Dalal, Fredman and Patton, "The AETG System" (1997), make rows in this way."""
    left = dict.fromkeys(possible_tuples(sizes, n, exclusions))
    rows = []
    while left:
        waiting = list(left)
        candidates = [_row(source, sizes, source.choice(waiting), left, n, exclusions) for _ in range(CANDIDATES)]
        rows.append(max(candidates, key=lambda row: sum(found in left for found in tuples_of(row, n))))
        for found in tuples_of(rows[-1], n):
            left.pop(found, None)
    return tuple(rows)


def _row(
    source: ChoiceSource,
    sizes: Sequence[int],
    start: Tuple,
    left: Collection[Tuple],
    n: int,
    exclusions: Exclusions,
) -> Row:
    """A legal row with the values of `start`. Each other factor, in a drawn order, gets the value that completes the
    most tuples of `left`; of equal ones, a drawn one."""
    chosen = dict(start)

    def completes(value: Value) -> int:
        others = combinations(sorted(chosen.items()), n - 1)
        return sum(tuple(sorted((*some, value))) in left for some in others)

    for factor in source.shuffled([factor for factor in range(len(sizes)) if factor not in chosen]):
        values = [(factor, value) for value in source.shuffled(range(sizes[factor]))]
        chosen[factor] = max((each for each in values if exclusions.allow(each, chosen)), key=completes)[1]
    return tuple(chosen[factor] for factor in range(len(sizes)))
