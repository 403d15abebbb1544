"""How likely an operator stops a route: learnt from how lanes came out, as in group testing.

A lane that does not end well says that one of the graph's operators stops its importer, not which one. The blame is
shared out by what is known of each; a lane that ends well acquits them all.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fuzzer.campaign.rows import FailureRate
from fuzzer.campaign.unsupported_operators import SAME_ROUTE
from generators.graph import DType, Graph
from oracles.finding import Component, Finding
from oracles.lane import Engine, Importer
from oracles.outcome import Built, Outcomes, Ran

DOUBT = 0.05
"""How often an operator that nobody has met is expected to stop a route."""

MOST = 0.98
"""Nothing is given up for good."""

ANY, NO_OPERAND = "", "-"
"""In place of a dtype: all of an operator's together; that of what has no operand."""


class Typed(NamedTuple):
    """An operator, and the dtype of its first operand."""

    op: str
    dtype: str


def typed_operators(graph: Graph) -> frozenset[Typed]:
    types = graph.types
    return frozenset(Typed(node.op, types[node.args[0]].dtype if node.args else NO_OPERAND) for node in graph.nodes)


_NUMBERS = {dtype: 2 * place for place, dtype in enumerate((ANY, NO_OPERAND, *DType))}
"""Where the two numbers of a dtype stand."""


@dataclass(slots=True)
class FailureRates:
    """`numbers`: by route and operator, for each dtype, how many lanes met it and how much of their failing was laid to
    it. In one block: operators come with every dtype in time, and a campaign that runs for weeks shall not grow."""

    numbers: dict[tuple[Importer, str], array[float]] = field(default_factory=dict)
    _touched: set[tuple[Importer, Typed]] = field(default_factory=set)

    def of(self, route: Importer, typed: Typed) -> float:
        """How likely it stops the route: by its dtype as far as that was met, else by what the operator does."""
        met, blamed = self._of(route, Typed(typed.op, ANY))
        usual = (blamed + DOUBT) / (met + 1)
        met, blamed = self._of(route, typed)
        return min(MOST, (blamed + usual) / (met + 1))

    def passable(self, route: Importer, operators: Collection[Typed]) -> float:
        """How likely a graph of these goes all the way."""
        through = 1.0
        for typed in operators:
            through *= 1 - self.of(route, typed)
        return through

    def learn(self, operators: Collection[Typed], ended_well: Mapping[Importer, float]) -> None:
        """`ended_well`: the share of each route's lanes that did."""
        for route, share in ended_well.items():
            risks = {typed: self.of(route, typed) for typed in operators}
            total = sum(risks.values())
            for typed, risk in risks.items():
                for each in (Typed(typed.op, ANY), typed):
                    met, blamed = self._of(route, each)
                    self._set(route, each, met + 1, blamed + (1 - share) * risk / total)
                    self._touched.add((route, each))

    def recall(self, failure_rates: Iterable[FailureRate]) -> None:
        for each in failure_rates:
            self._set(each.route, Typed(each.op, each.dtype), each.met, each.blamed)

    def changed(self) -> tuple[FailureRate, ...]:
        """Since the last time that somebody asked."""
        touched, self._touched = self._touched, set()
        return tuple(FailureRate(route, *typed, *self._of(route, typed)) for route, typed in touched)

    def _of(self, route: Importer, typed: Typed) -> tuple[float, float]:
        numbers = self.numbers.get((route, typed.op))
        if numbers is None:
            return 0.0, 0.0
        place = _NUMBERS[typed.dtype]
        return numbers[place], numbers[place + 1]

    def _set(self, route: Importer, typed: Typed, met: float, blamed: float) -> None:
        numbers = self.numbers.setdefault((route, typed.op), array("d", bytes(16 * len(_NUMBERS))))
        place = _NUMBERS[typed.dtype]
        numbers[place], numbers[place + 1] = met, blamed


def ended_well(outcomes: Outcomes, found: Sequence[Finding]) -> dict[Importer, float]:
    """By route, the share of its lanes that came to an end where no oracle objects."""
    failing = {finding.lane for finding in found if finding.component is Component.TVM}
    ends: dict[Importer, list[bool]] = defaultdict(list)
    for lane, outcome in outcomes.items():
        if lane.engine is Engine.TVM:
            well = isinstance(outcome, Ran | Built) and lane not in failing
            ends[SAME_ROUTE.get(lane.importer, lane.importer)].append(well)
    return {route: sum(each) / len(each) for route, each in ends.items()}
