"""The plainest statements that fit what was observed: conditions that hold together exactly where the failure shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from fuzzer.triage.scope.conditions import necessary
from fuzzer.triage.scope.statement import Condition, Properties, Relation, Statement

MOST_CONDITIONS = 3
MOST_CANDIDATES = 160
"""How many conditions are combined: those of the lowest cost, and those that exclude most."""


_WHAT = {"dtype": 1.0, "rank": 1.0, "value": 1.0, "elements": 1.3, "constant": 1.2, "layout": 1.3, "form": 1.4}
_RELATION = {
    Relation.IN: 0.0,
    Relation.NOT_IN: 0.35,
    Relation.AT_LEAST: 0.2,
    Relation.AT_MOST: 0.2,
    Relation.REMAINDER: 0.5,
    Relation.ABSENT: 0.3,
}
_RESULT = 0.25
"""The additional cost of a property of a result: what a person chooses are operands and attributes."""

_LISTED = 0.12
_LISTED_NUMBER = 0.4
"""The cost of each further value that is listed. Of numbers, a range is plainer than a list."""


def cost(condition: Condition) -> float:
    """How hard a condition is to read. The plainest has cost 1."""
    key = condition.property
    what = _WHAT.get(key.what, 1.3)
    names = all(isinstance(value, str | bool | None) for value in condition.values)
    each = _LISTED if names else _LISTED_NUMBER
    listed = each * (len(condition.values) - 1) if condition.relation in (Relation.IN, Relation.NOT_IN) else 0.0
    return what + _RELATION[condition.relation] + listed + (_RESULT if key.subject.startswith("result") else 0.0)


def cost_of(statement: Statement) -> float:
    return sum(map(cost, statement.conditions))


def statements(fails: Sequence[Properties], passes: Sequence[Properties], most: int = 8) -> list[Statement]:
    """Return the plainest statements that hold in all cases of `fails` and in none of `passes`, the plainest first.

    None of them can do without one of its conditions. There are none where no three conditions fit.
    """
    if not passes:
        return [Statement()]
    excluded = {each: _excluded(each, passes) for each in necessary(fails, passes)}
    everything = (1 << len(passes)) - 1
    candidates = _candidates(excluded)
    found: list[Statement] = []
    for count in range(1, MOST_CONDITIONS + 1):
        if found and count == MOST_CONDITIONS:
            break
        found += [Statement(group) for group in _covering(candidates, excluded, everything, count)]
    return sorted(found, key=cost_of)[:most]


def _excluded(condition: Condition, passes: Sequence[Properties]) -> int:
    """Return a bit for each passing case that the condition excludes."""
    return sum(1 << number for number, case in enumerate(passes) if not condition.holds(case))


def _candidates(excluded: dict[Condition, int]) -> list[Condition]:
    """Return the conditions to combine: of several that exclude the same cases, the three plainest."""
    by_effect: dict[int, list[Condition]] = {}
    for each in sorted(excluded, key=cost):
        by_effect.setdefault(excluded[each], []).append(each)
    kept = [each for same in by_effect.values() for each in same[:3]]
    kept.sort(key=lambda each: cost(each) - 0.02 * excluded[each].bit_count())
    return kept[:MOST_CANDIDATES]


def _covering(
    candidates: Sequence[Condition], excluded: dict[Condition, int], everything: int, count: int
) -> Iterator[tuple[Condition, ...]]:
    """Yield groups of `count` conditions that exclude all passing cases together, and none of which can be left out."""
    if count < MOST_CONDITIONS:
        for group in combinations(candidates, count):
            if _covers(group, excluded, everything):
                yield group
        return
    for place, first in enumerate(candidates):
        for next_place, second in enumerate(candidates[place + 1 :], place + 1):
            left = everything & ~excluded[first] & ~excluded[second]
            for third in candidates[next_place + 1 :]:
                if not left & ~excluded[third] and _covers((first, second, third), excluded, everything):
                    yield first, second, third


def _covers(group: Sequence[Condition], excluded: dict[Condition, int], everything: int) -> bool:
    def together(some: Sequence[Condition]) -> int:
        union = 0
        for each in some:
            union |= excluded[each]
        return union

    if together(group) != everything:
        return False
    return all(together([other for other in group if other is not each]) != everything for each in group)
