"""A model that is compiled and run in a process of its own gives the same numbers, bit for bit.

Where the numbers differ, they depend on addresses, on the order of a hash table, or on uninitialised memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from generators.graph import Case
from oracles.finding import Component, Finding, Kind
from oracles.identical import difference
from oracles.lane import LaneSpec
from oracles.outcome import Outcomes, Stage
from oracles.sibling_pairs import pairs_with_siblings
from oracles.siblings import changes_program, describe_additions


def fresh_process(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    for (lane, ran), (plain, other) in pairs_with_siblings(outcomes, _only_fresh):
        if found := difference(other.outputs, ran.outputs, plain.name):
            evidence = replace(found[1], by=describe_additions(lane))
            yield Finding(Kind.NONDETERMINISTIC, Component.TVM, lane, Stage.RUN, evidence)


def _only_fresh(lane: LaneSpec) -> bool:
    return lane.fresh and not changes_program(lane)
