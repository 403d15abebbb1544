"""The calls of a person's model, and which calls of its case each of them is: a function of the model has several."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from generators.dialect import dialect_named
from generators.graph import Case


@dataclass(frozen=True, slots=True)
class GivenCall:
    """A call of a model: its operator or function, and the numbers of the calls of the case that it is, from 0."""

    title: str
    numbers: tuple[int, ...]


def given_calls(case: Case) -> tuple[GivenCall, ...]:
    """The calls of the case's given model, in order; those of the case where it has none."""
    ops = case.graph.ops
    calls = dialect_named(case.graph.dialect).calls_of_given(case.given.model) if case.given else ()
    groups = groupby(enumerate(_places(case, [results for _, results in calls])), key=lambda each: each[1])
    found = []
    for place, numbered in groups:
        numbers = tuple(number for number, _ in numbered)
        title = calls[place][0] if place is not None else ""
        found += [GivenCall(title, numbers)] if title else [GivenCall(ops[number], (number,)) for number in numbers]
    return tuple(found)


def _places(case: Case, results: list[tuple[str, ...]]) -> list[int | None]:
    """The place of the call of the model that each call of the case is a part of: that which makes its results, or
    those of the next call with a result of the model."""
    makers = {name: place for place, names in enumerate(results) for name in names}
    made = case.given.made if case.given else {}

    def backwards() -> Iterator[int | None]:
        place = None
        for node in reversed(case.graph.nodes):
            own = (makers.get(made.get(value.name, "")) for value in node.results)
            place = next((each for each in own if each is not None), place)
            yield place

    return list(backwards())[::-1]
