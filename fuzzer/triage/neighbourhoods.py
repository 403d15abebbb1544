"""Where in a large case a lane fails: the case in windows of neighbouring nodes, whose inputs are what the reference
computed. A window compiles in a fraction of the time of a model, and several run at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from fuzzer.triage.investigate import Sighting, shown_by
from fuzzer.triage.passes import Subject
from fuzzer.triage.passes.keep_region import region
from fuzzer.triage.proposals import checked
from fuzzer.triage.reproduce import RunLanes
from generators.graph import Array, Case
from oracles.lane import LaneSpec

WINDOW, OVERLAP = 64, 8
"""The nodes of a window, and how many of them it shares with the next one: a failure of at most so many neighbours is
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
    out whose operands are not all known."""
    subject = Subject(case, lane, computed)
    count = len(case.graph.nodes)
    for start in range(0, max(count - OVERLAP, 1), WINDOW - OVERLAP):
        part = region(subject, start, min(start + WINDOW, count))
        if part is not None and (valid := checked(part)) is not None:
            yield valid.case


def failing_windows(
    run: RunLanes, case: Case, lanes: Sequence[LaneSpec], computed: Mapping[str, Array], width: int
) -> list[FailingWindow]:
    """Run the lanes on each window, `width` windows at a time, and return the failures in the order of the nodes."""

    def failures(window: Case) -> list[FailingWindow]:
        _, found = shown_by(run, window, lanes)
        return [FailingWindow(window, sighting) for sighting in found]

    with ThreadPoolExecutor(width, "window") as pool:
        return [each for failing in pool.map(failures, windows(case, lanes[0], computed)) for each in failing]
