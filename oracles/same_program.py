"""Compare lanes that transform the program with their plain siblings.

Both are compared with PyTorch within the measured tolerance, because an optimiser may change the rounding. Where the
sibling is right and the lane is wrong, what the lane adds is at fault, and the evidence names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from oracles.finding import Component, Finding
from oracles.lane import LaneSpec
from oracles.outcome import Outcomes, Stage
from oracles.reference import difference
from oracles.sibling_pairs import pairs_with_siblings
from oracles.siblings import describe_additions


def wrong_where_sibling_is_right(outcomes: Outcomes, which: Callable[[LaneSpec], bool]) -> Iterator[Finding]:
    """Yield a finding for each lane that `which` selects and that is wrong where its plain sibling is right."""
    for (lane, ran), (plain, _) in pairs_with_siblings(outcomes, which):
        if found := difference(lane, ran.outputs, outcomes):
            kind, evidence = found
            evidence = replace(evidence, against=plain.name, by=describe_additions(lane))
            yield Finding(kind, Component.TVM, lane, Stage.RUN, evidence)
