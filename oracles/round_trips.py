"""Writing a program down and reading it again changes nothing: TVMScript, JSON, a shared library.

The result equals the sibling's bit for bit. Where the way there raises, `crash` has the finding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from generators.graph import Case
from oracles.finding import Component, Finding
from oracles.identical import difference
from oracles.lane import LaneSpec
from oracles.outcome import Outcomes, Stage
from oracles.siblings import pairs, transforms, what_it_adds


def round_trips(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    for (lane, ran), (plain, other) in pairs(outcomes, _written_down):
        if found := difference(other.outputs, ran.outputs, plain.name):
            kind, evidence = found
            yield Finding(kind, Component.TVM, lane, Stage.RUN, replace(evidence, by=what_it_adds(lane)))


def _written_down(lane: LaneSpec) -> bool:
    return not transforms(lane) and not lane.fresh
