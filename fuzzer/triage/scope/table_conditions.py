"""What the table of single changes says by itself: which values of one thing fail, and which pass.

A statement must fit random cases, too. Where none does, the table may still tell what fails from what passes. Each row
changes the reduced case, which fails, in one thing. So the failure shows where each thing has a value that fails.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fuzzer.triage.scope.statement import Answer, Scope, Variation

NUMBERS_OF = "numbers of "
"""How `Variation.what` begins where the numbers of one input were changed."""

CLASSES = {
    "NaN": "NaN",
    "infinite": "infinite",
    "zeros": "zero",
    "positive": "positive",
    "negative": "negative",
    "fractions": "fractions",
}
"""The classes of numbers that a row tries, each with the word of a sentence."""

SPECIAL = frozenset({"NaN", "infinite"})
"""Those that are special numbers."""

LEAST_PASSING = 2
"""How many classes of numbers must pass before the others are what the failure needs."""

MOST_CONDITIONS = 3


@dataclass(frozen=True, slots=True)
class TableCondition:
    """`what` fails with the values `failing` and passes with `passing`, in the order of the table."""

    what: str
    failing: tuple[str, ...]
    passing: tuple[str, ...]

    @property
    def is_special(self) -> bool:
        """Whether only special numbers fail."""
        return self.what.startswith(NUMBERS_OF) and SPECIAL.issuperset(self.failing)

    @property
    def is_about_numbers(self) -> bool:
        return self.what.startswith(NUMBERS_OF)

    @property
    def words(self) -> str:
        """ "x0 is NaN or infinite", "the rank of x0 is 0" or, where that is shorter, "size is not 0"."""
        if self.is_about_numbers:
            return f"{self.what.removeprefix(NUMBERS_OF)} is {_or([CLASSES.get(each, each) for each in self.failing])}"
        what = "number of operands" if self.what == "operands" else self.what
        article = "the " if " of " in what else ""
        failing, passing = ([each.strip("'") for each in values] for values in (self.failing, self.passing))
        if len(passing) == 1 and len(failing) > 2:
            return f"{article}{what} is not {passing[0]}"
        return f"{article}{what} is {_or(failing)}"


def conditions_of_table(variations: Iterable[Variation]) -> tuple[TableCondition, ...]:
    """Return each thing of which some values fail and all others pass. It may be about too few values of numbers: then
    it is left out. A value that fails and passes tells nothing of its thing."""
    values: dict[str, dict[Answer, list[str]]] = {}
    for each in variations:
        if each.answer.decides:
            values.setdefault(each.what, {Answer.FAILS: [], Answer.PASSES: []})[each.answer].append(each.value)
    found = []
    for what, by in values.items():
        failing, passing = (tuple(dict.fromkeys(by[answer])) for answer in (Answer.FAILS, Answer.PASSES))
        least = LEAST_PASSING if what.startswith(NUMBERS_OF) else 1
        if failing and len(passing) >= least and not set(failing) & set(passing):
            found.append(TableCondition(what, failing, passing))
    return tuple(found)


def table_in_words(variations: Iterable[Variation], most: int = MOST_CONDITIONS) -> str:
    """Return "x0 is NaN and the rank of x0 is 0", of the things that separate best, at most `most`, in the order of
    the table; "" where it tells nothing."""
    found = conditions_of_table(variations)
    best = sorted(found, key=separation, reverse=True)[:most]
    return " and ".join(each.words for each in found if each in best)


def separation(condition: TableCondition) -> tuple[int, int]:
    """How well a thing separates cases that fail from cases that pass: by the smaller of the two numbers of values, and
    by both. That an empty tensor passes separates less than an attribute of which two values fail and three pass."""
    sides = len(condition.failing), len(condition.passing)
    return min(sides), sum(sides)


def numbers_of_table(scope: Scope) -> str:
    """Return what the table says of numbers, such as "x0 is negative"; "" where it tells nothing of them."""
    return " and ".join(each.words for each in conditions_of_table(scope.variations) if each.is_about_numbers)


def special_numbers(scope: Scope) -> str:
    """Return what the table says where only special numbers fail: "x0 is NaN", or "x0 is NaN or infinite"; "" where
    usual numbers of each input fail too, or where too few of them were tried."""
    return " and ".join(each.words for each in conditions_of_table(scope.variations) if each.is_special)


def _or(values: Iterable[str]) -> str:
    *first, last = values
    return f"{', '.join(first)} or {last}" if first else last
