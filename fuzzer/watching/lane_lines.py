"""The lanes of a campaign in words: first those that fail, then those that give few results, and why that is normal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from fuzzer.system.terminal import number_of
from fuzzer.watching.formatting import counted
from fuzzer.watching.health import LaneHealth, results_of

NORMAL = frozenset({"unsupported", "skipped"})
"""The ways to end without a result that say nothing against a lane: its importer does not support an operator of the
case, or the lane cannot take the case."""


class LaneCounts(NamedTuple):
    """How the outcomes of a lane ended. `fails`: it suddenly gives far fewer results than before."""

    name: str
    counts: Mapping[str, int]
    fails: bool

    @property
    def outcomes(self) -> int:
        return sum(self.counts.values())

    @property
    def results(self) -> int:
        return results_of(self.counts)

    @property
    def is_idle(self) -> bool:
        """Whether it gave no result, and nothing failed."""
        return bool(self.counts) and NORMAL.issuperset(self.counts)


def newest(lanes: Sequence[LaneHealth]) -> list[LaneCounts]:
    """The newest outcomes of each lane."""
    return [LaneCounts(lane.lane, lane.recent, lane.fails) for lane in lanes]


def summary(lanes: Sequence[LaneCounts]) -> str:
    """All lanes in one line."""
    failing = sum(lane.fails for lane in lanes)
    idle = sum(lane.is_idle for lane in lanes)
    parts = [
        f"{sum(lane.results > 0 for lane in lanes)} of {number_of(len(lanes), 'lane')} give results",
        f"{failing} far fewer than before" if failing else "",
        f"{idle} had only unsupported cases, which is normal" if idle else "",
    ]
    return "; ".join(filter(None, parts)) if lanes else ""


def failing_lines(lanes: Sequence[LaneHealth]) -> Iterator[str]:
    """A line for each lane that fails."""
    for lane in lanes:
        if lane.fails and lane.before is not None:
            now = f"{number_of(lane.results, 'result')} in its newest {lane.outcomes} runs"
            yield f"!! {lane.lane}: {now}, {lane.before:.0%} before; {counted(without_results(lane.recent))}"


def lines(lanes: Sequence[LaneCounts], most: int) -> Iterator[str]:
    """A line for each of the first `most` lanes that did not always give a result: the failing ones, then those with
    the smallest part of results. More of them are counted."""
    worst = sorted((lane for lane in lanes if lane.results < lane.outcomes), key=_share)
    explained = False
    for lane in worst[:most]:
        yield f"{'!!' if lane.fails else '  '} {lane.name:26} {_ended(lane)}"
        if not explained and _only_raises(lane):
            explained = True
            yield f"{'':29} (such failures are looked for)"
    if more := len(worst[most:]):
        yield f"   and {number_of(more, 'more lane')} without a result now and then; --json has all"


def _share(lane: LaneCounts) -> tuple[bool, bool, float, int]:
    return not lane.fails, lane.is_idle, lane.results / lane.outcomes, -lane.outcomes


OF_TVM = ("relax-", "relay-")
"""How the names of TVM's lanes begin."""


def _ended(lane: LaneCounts) -> str:
    if lane.is_idle:
        return f"results in 0 of {lane.outcomes}: {counted(lane.counts)} (normal)"
    raised = lane.counts.get("raised", 0)
    if _only_raises(lane):
        return f"TVM raised an error for {raised} of {number_of(raised, 'model')}"
    if raised == lane.outcomes:
        return f"raised an error for {raised} of {number_of(raised, 'model')}, without TVM"
    return f"results in {lane.results} of {lane.outcomes}: {counted(without_results(lane.counts))}"


def _only_raises(lane: LaneCounts) -> bool:
    """Whether each model made TVM raise an error."""
    return lane.counts.get("raised", 0) == lane.outcomes and lane.name.startswith(OF_TVM)


def without_results(counts: Mapping[str, int]) -> dict[str, int]:
    return {how: count for how, count in counts.items() if how not in ("ran", "built")}
