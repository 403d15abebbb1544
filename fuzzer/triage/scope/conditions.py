"""The conditions on one property that fit what was observed, such as "operand 0 is float16 or bfloat16"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fuzzer.triage.scope.statement import (
    Condition,
    Properties,
    Property,
    Relation,
    is_among,
    is_integer,
    is_number,
)
from generators.graph import Scalar

MODULI = (2, 4, 8, 16)
MOST_VALUES = 7
"""The most values that one condition lists."""


def necessary(fails: Sequence[Properties], passes: Sequence[Properties]) -> Iterator[Condition]:
    """Yield conditions that hold in all cases that fail, and do not hold in one or more that pass."""
    for each in dict.fromkeys(key for case in (*fails, *passes) for key in case):
        for condition in _on_property(each, fails, passes):
            if not all(condition.holds(case) for case in passes):
                yield condition


def _on_property(key: Property, fails: Sequence[Properties], passes: Sequence[Properties]) -> Iterator[Condition]:
    having = [case[key] for case in fails if key in case]
    if not having:
        yield Condition(key, Relation.ABSENT)
    if len(having) < len(fails):
        return
    failing = _distinct(having)
    passing = [
        value for value in _distinct([case[key] for case in passes if key in case]) if not is_among(value, failing)
    ]
    if len(failing) <= MOST_VALUES:
        yield Condition(key, Relation.IN, tuple(failing))
    if 0 < len(passing) <= 2:
        yield Condition(key, Relation.NOT_IN, tuple(passing))
    if all(map(is_number, failing)):
        yield from _on_number(key, failing, [value for value in passing if is_number(value)])


def _on_number(key: Property, failing: Sequence[Scalar], passing: Sequence[Scalar]) -> Iterator[Condition]:
    """Yield bounds, the tightest and the loosest that fit, and remainders."""
    low, high = min(failing), max(failing)  # type: ignore[type-var]
    below = [value for value in passing if value < low]  # type: ignore[operator]
    above = [value for value in passing if value > high]  # type: ignore[operator]
    whole = all(map(is_integer, (*failing, *passing)))
    if below:
        loosest = max(below) + 1 if whole else low  # type: ignore[type-var,operator]
        yield from (Condition(key, Relation.AT_LEAST, (bound,)) for bound in dict.fromkeys((loosest, low)))
    if above:
        loosest = min(above) - 1 if whole else high  # type: ignore[type-var,operator]
        yield from (Condition(key, Relation.AT_MOST, (bound,)) for bound in dict.fromkeys((loosest, high)))
    if whole and len(failing) > 1:
        for modulus in MODULI:
            remainders = {value % modulus for value in failing}  # type: ignore[operator]
            if len(remainders) == 1:
                yield Condition(key, Relation.REMAINDER, (modulus, remainders.pop()))


def _distinct(values: Sequence[Scalar]) -> list[Scalar]:
    return [value for _, value in sorted({(type(value).__name__, str(value)): value for value in values}.items())]
