"""How likely an operator stops a road: learnt from how lanes came out, as in group testing.

A lane that does not end well says that one of the graph's operators stops its importer, not which one. The blame is
shared out by what is known of each; a lane that ends well acquits them all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fuzzer.campaign.rows import Hazard
from fuzzer.support import SAME_ROAD
from generators.graph import Graph
from oracles.finding import Component, Finding
from oracles.lane import Engine, Importer
from oracles.outcome import Built, Outcomes, Ran

DOUBT = 0.05
"""How often an operator that nobody has met is expected to stop a road."""

MOST = 0.98
"""Nothing is given up for good."""

ANY = ""
"""Stands for every dtype of an operator."""


class Typed(NamedTuple):
    """An operator, and the dtype of its first operand."""

    op: str
    dtype: str


def typed_operators(graph: Graph) -> frozenset[Typed]:
    types = graph.types
    return frozenset(Typed(node.op, types[node.args[0]].dtype if node.args else "-") for node in graph.nodes)


@dataclass(slots=True)
class Record:
    """Lanes that met it; how much of their failing was laid to it."""

    met: float = 0.0
    blamed: float = 0.0


@dataclass(slots=True)
class Hazards:
    records: dict[tuple[Importer, Typed], Record] = field(default_factory=lambda: defaultdict(Record))
    _touched: set[tuple[Importer, Typed]] = field(default_factory=set)

    def of(self, road: Importer, typed: Typed) -> float:
        """How likely it stops the road: by its dtype as far as that was met, else by what the operator does."""
        every, own = (self.records.get((road, each), _NEVER) for each in (Typed(typed.op, ANY), typed))
        usual = (every.blamed + DOUBT) / (every.met + 1)
        return min(MOST, (own.blamed + usual) / (own.met + 1))

    def passable(self, road: Importer, operators: Collection[Typed]) -> float:
        """How likely a graph of these goes all the way."""
        through = 1.0
        for typed in operators:
            through *= 1 - self.of(road, typed)
        return through

    def learn(self, operators: Collection[Typed], ended_well: Mapping[Importer, float]) -> None:
        """`ended_well`: the share of each road's lanes that did."""
        for road, share in ended_well.items():
            risks = {typed: self.of(road, typed) for typed in operators}
            total = sum(risks.values())
            for typed, risk in risks.items():
                for each in (Typed(typed.op, ANY), typed):
                    record = self.records[road, each]
                    self._touched.add((road, each))
                    record.met += 1
                    record.blamed += (1 - share) * risk / total

    def recall(self, hazards: Iterable[Hazard]) -> None:
        for each in hazards:
            self.records[each.road, Typed(each.op, each.dtype)] = Record(each.met, each.blamed)

    def changed(self) -> tuple[Hazard, ...]:
        """Since the last time that somebody asked."""
        touched, self._touched = self._touched, set()
        held = ((road, typed, self.records[road, typed]) for road, typed in touched)
        return tuple(Hazard(road, *typed, record.met, record.blamed) for road, typed, record in held)


_NEVER = Record()


def ended_well(outcomes: Outcomes, found: Sequence[Finding]) -> dict[Importer, float]:
    """By road, the share of its lanes that came to an end where no oracle objects."""
    failing = {finding.lane for finding in found if finding.component is Component.TVM}
    ends: dict[Importer, list[bool]] = defaultdict(list)
    for lane, outcome in outcomes.items():
        if lane.engine is Engine.TVM:
            well = isinstance(outcome, Ran | Built) and lane not in failing
            ends[SAME_ROAD.get(lane.importer, lane.importer)].append(well)
    return {road: sum(each) / len(each) for road, each in ends.items()}
