"""Where in a large case a lane fails: the case in windows of neighbouring nodes, whose inputs are what the reference
computed. A window compiles in a fraction of the time of a model, and several run at the same time. Windows of a given
model are parts of that model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from fuzzer.isolate.fleet import RunLanes
from fuzzer.triage.investigate import Sighting, shown_by
from fuzzer.triage.proposals import checked
from fuzzer.triage.reducers import Subject
from fuzzer.triage.reducers.keep_region import region
from generators.graph import Array, Case, Invalid
from generators.part_of_given import with_part_of_given
from oracles.lane import LaneSpec

WINDOW, OVERLAP = 64, 8
"""The nodes of a window, and how many of them it shares with the next one: a failure of at most this many neighbours is
in one of the windows."""


@dataclass(frozen=True, slots=True)
class FailingWindow:
    """A window of the case, as a case of its own, and one of the failures that it shows."""

    case: Case
    sighting: Sighting


def is_large(case: Case) -> bool:
    return len(case.graph.nodes) > 2 * WINDOW


def windows(case: Case, lane: LaneSpec, computed: Mapping[str, Array]) -> Iterator[Case]:
    """Yield the windows, in the order of the nodes. `computed` are the results of all nodes, by name. A window is left
    out whose operands are not all known, or that is no part of the given model of the case."""
    subject = Subject(case, lane, computed)
    count = len(case.graph.nodes)
    for start in range(0, max(count - OVERLAP, 1), WINDOW - OVERLAP):
        part = region(subject, start, min(start + WINDOW, count))
        if part is not None and (valid := checked(part)) is not None:
            with suppress(Invalid):
                yield with_part_of_given(case, valid.case) if case.given else valid.case


def failing_windows(
    run: RunLanes, case: Case, lanes: Sequence[LaneSpec], computed: Mapping[str, Array], width: int
) -> list[FailingWindow]:
    """Run the lanes on each window, `width` windows at a time, and return the failures in the order of the nodes."""

    def failures(window: Case) -> list[FailingWindow]:
        _, found = shown_by(run, window, lanes)
        return [FailingWindow(window, sighting) for sighting in found]

    with ThreadPoolExecutor(width, "window") as pool:
        return [each for failing in pool.map(failures, windows(case, lanes[0], computed)) for each in failing]
