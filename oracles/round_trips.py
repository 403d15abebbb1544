"""Writing a program as TVMScript, JSON or a shared library and reading it back changes nothing.

The result equals the sibling's bit for bit. Where writing or reading raises, `crash` gives the finding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from generators.graph import Case
from oracles.finding import Component, Finding
from oracles.identical import difference
from oracles.lane import LaneSpec
from oracles.outcome import Outcomes, Stage
from oracles.sibling_pairs import pairs_with_siblings
from oracles.siblings import changes_program, describe_additions


def round_trips(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    for (lane, ran), (plain, other) in pairs_with_siblings(outcomes, _only_round_trips):
        if found := difference(other.outputs, ran.outputs, plain.name):
            kind, evidence = found
            yield Finding(kind, Component.TVM, lane, Stage.RUN, replace(evidence, by=describe_additions(lane)))


def _only_round_trips(lane: LaneSpec) -> bool:
    return not changes_program(lane) and not lane.fresh
