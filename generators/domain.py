"""The domain of an input: the numbers that its elements may be, so that operators are defined for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from generators.types import Invalid


class Bounds(StrEnum):
    ANY = "any"
    POSITIVE = "positive"
    NONZERO = "nonzero"
    WITHIN = "within"  # low to high, both ends included
    DISTINCT = "distinct"  # low to high, and no number twice along the axis


@dataclass(frozen=True, slots=True)
class Domain:
    """Bounds of an input's elements, written `any`, `positive`, `nonzero`, `within -3 2`, `distinct 0 4 along 1`."""

    bounds: Bounds = Bounds.ANY
    low: int = 0
    high: int = 0
    axis: int = 0

    def __str__(self) -> str:
        match self.bounds:
            case Bounds.WITHIN:
                return f"within {self.low} {self.high}"
            case Bounds.DISTINCT:
                return f"distinct {self.low} {self.high} along {self.axis}"
            case _:
                return self.bounds.value

    @staticmethod
    def parse(text: str) -> Domain:
        if text in ("any", "positive", "nonzero"):
            return Domain(Bounds(text))
        match = re.fullmatch(r"(within|distinct) (-?\d{1,9}) (-?\d{1,9})(?: along (\d))?", text)
        if not match or (match[1] == "distinct") != (match[4] is not None) or int(match[2]) > int(match[3]):
            raise Invalid(f"{text!r} is no domain; expected {_SYNTAX}")
        return Domain(Bounds(match[1]), int(match[2]), int(match[3]), int(match[4] or 0))


_SYNTAX = "any, positive, nonzero, within LOW HIGH, or distinct LOW HIGH along AXIS"

MAX_BOUND = 10**9 - 1
"""The largest number of a range: `Domain.parse` takes nine digits."""

ANY = Domain()
POSITIVE = Domain(Bounds.POSITIVE)
NONZERO = Domain(Bounds.NONZERO)


def within(low: int, high: int) -> Domain:
    return Domain(Bounds.WITHIN, low, high)


def index(size: int) -> Domain:
    """The indices of a dimension of this size; negative ones count from its end."""
    return within(-size, size - 1)


def distinct(low: int, high: int, axis: int) -> Domain:
    """Integers of which no two along an axis are equal, for operators that must not write to one position twice."""
    return Domain(Bounds.DISTINCT, low, high, axis)


def common(domains: Sequence[Domain]) -> Domain:
    """What several domains of one operand have in common: the intersection of ranges; else the first that is none."""
    if not domains or ANY in domains:
        return ANY
    ranges = [domain for domain in domains if domain.bounds in (Bounds.WITHIN, Bounds.DISTINCT)]
    if len(ranges) < len(domains):
        return next(domain for domain in domains if domain not in ranges)
    low, high = max(domain.low for domain in ranges), min(domain.high for domain in ranges)
    return within(low, high) if low <= high else ANY
