"""What an input's elements may be, so that operators stay where they are defined."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from generators.types import Invalid


class Bounds(StrEnum):
    ANY = "any"
    POSITIVE = "positive"
    NONZERO = "nonzero"
    WITHIN = "within"  # low to high, both ends included
    DISTINCT = "distinct"  # likewise, and no number twice along the axis


@dataclass(frozen=True, slots=True)
class Domain:
    """Written `any`, `positive`, `nonzero`, `within -3 2`, `distinct 0 4 along 1`."""

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
            raise Invalid(f"{text!r} is no domain; expected any, positive, nonzero, within LOW HIGH or distinct ...")
        return Domain(Bounds(match[1]), int(match[2]), int(match[3]), int(match[4] or 0))


ANY = Domain()
POSITIVE = Domain(Bounds.POSITIVE)
NONZERO = Domain(Bounds.NONZERO)


def within(low: int, high: int) -> Domain:
    return Domain(Bounds.WITHIN, low, high)


def index(size: int) -> Domain:
    """Positions in a dimension of this size, counted from either end."""
    return within(-size, size - 1)


def distinct(low: int, high: int, axis: int) -> Domain:
    """Integers that are different from each other along an axis: where to write without writing twice."""
    return Domain(Bounds.DISTINCT, low, high, axis)
