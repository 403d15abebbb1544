"""How likely each operator makes a route fail, estimated from the outcomes of lanes, as in group testing.

The failure of a lane shows that one of the graph's operators makes the route fail, but not which one. The failure is
divided among the operators in proportion to their current rates. A lane that succeeds lowers the rates of all of them.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fuzzer.campaign.store.rows import FailureRate
from generators.graph import DType, Graph
from oracles.finding import Component, Finding
from oracles.importers import Importer
from oracles.lane import Engine
from oracles.outcome import Built, Outcomes, Ran

UNKNOWN = 0.05
"""The rate of an operator that no lane has run yet."""

MOST = 0.98
"""The highest rate. It is below 1, so that no operator is excluded for good."""

ANY, NO_OPERAND = "", "-"
"""Used in place of a dtype: `ANY` for all dtypes of an operator together, `NO_OPERAND` for a call without operands."""


class Typed(NamedTuple):
    """An operator, and the dtype of its first operand."""

    op: str
    dtype: str


def typed_operators(graph: Graph) -> tuple[Typed, ...]:
    """The operators of a graph, each once, in a fixed order: a sum of rates depends on it in its last bits."""
    types = graph.types
    typed = (Typed(node.op, types[node.args[0]].dtype if node.args else NO_OPERAND) for node in graph.nodes)
    return tuple(dict.fromkeys(typed))


_NUMBERS = {dtype: 2 * place for place, dtype in enumerate((ANY, NO_OPERAND, *DType))}
"""By dtype, the place of its two numbers in the array of an operator."""

_OF_ANY = _NUMBERS[ANY]


@dataclass(slots=True)
class FailureRates:
    """`numbers` has an array for each route and operator. For each dtype it contains two numbers: how many lanes met
    the operator, and how many failures were attributed to it. Each array has room for every dtype from the start, so
    that memory does not grow over weeks."""

    numbers: dict[tuple[Importer, str], array[float]] = field(default_factory=dict)
    _touched: set[tuple[Importer, Typed]] = field(default_factory=set)

    def of(self, route: Importer, typed: Typed) -> float:
        """How likely the operator makes the route fail. The less often it was met with this dtype, the more its rate
        over all dtypes counts."""
        numbers = self.numbers.get((route, typed.op))
        if numbers is None:
            return UNKNOWN
        met, blamed = numbers[_OF_ANY], numbers[_OF_ANY + 1]
        usual = (blamed + UNKNOWN) / (met + 1)
        place = _NUMBERS[typed.dtype]
        met, blamed = numbers[place], numbers[place + 1]
        return min(MOST, (blamed + usual) / (met + 1))

    def passable(self, route: Importer, operators: Collection[Typed]) -> float:
        """The probability that a graph of these operators passes the route."""
        through = 1.0
        for typed in operators:
            through *= 1 - self.of(route, typed)
        return through

    def learn(self, operators: Collection[Typed], ended_well: Mapping[Importer, float]) -> None:
        """Take in a test. `ended_well` has the share of successful lanes of each route."""
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
        """The rates that have changed since the last call."""
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
    """By route, the share of its lanes that gave a result to which no oracle objects."""
    failing = {finding.lane for finding in found if finding.component is Component.TVM}
    ends: dict[Importer, list[bool]] = defaultdict(list)
    for lane, outcome in outcomes.items():
        if lane.engine is Engine.TVM:
            well = isinstance(outcome, Ran | Built) and lane not in failing
            ends[lane.importer.route].append(well)
    return {route: sum(each) / len(each) for route, each in ends.items()}
