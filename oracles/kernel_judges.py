"""Decide who is at fault where a driver for the processor runs TVM's kernels and something is wrong.

A driver has bugs of its own, and its language permits other rounding than a processor's. So before TVM is blamed:

- Numbers are judged with an envelope for the language of the target (`fuzzer.lanes.envelope.devices`).
- A second judge must confirm the failure: the same lane for llvm, for c, or on another driver, fails in the same way;
  or the scheduled kernels, with their threads as loops, compute something else on llvm. TVM's generators of OpenCL C
  and of C share most of their code.

Otherwise the driver is at fault. These lanes run only where a lane fails that a driver runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from oracles.finding import Component, Finding, Kind
from oracles.lane import SCHEDULES, Engine, LaneSpec, is_reference
from oracles.outcome import Died, Outcomes, Raised, Stage, TimedOut
from oracles.reference import PROCESSOR, expected
from oracles.siblings import essential
from oracles.targets import TARGETS, Runs, family_of, target_named

WRONG_SCHEDULE = "WrongSchedule"
"""The exception of a lane that compares schedules with the kernels before them."""


def runs_kernels(lane: LaneSpec) -> bool:
    """Whether a driver for this processor runs the kernels of the lane."""
    row = target_named(lane.target)
    return lane.engine is Engine.TVM and lane.variant != SCHEDULES and row.runs is Runs.BY_KERNELS


def needs_judges(finding: Finding) -> bool:
    """Whether the driver may be at fault: a kernel runs, or the process ends or hangs while the driver compiles it."""
    if finding.component is not Component.TVM or not runs_kernels(finding.lane):
        return False
    in_driver = finding.stage is Stage.LOAD and isinstance(finding.evidence, Died | TimedOut)
    return finding.stage is Stage.RUN or in_driver


def second_judges(lane: LaneSpec) -> tuple[LaneSpec, ...]:
    """Return the lanes that may confirm a failure: for llvm, for c, on each other driver, and the comparison of
    schedules."""
    own = family_of(lane.target)
    others = [row.name for row in TARGETS if row.runs is Runs.BY_KERNELS and row.name != own]
    at = [replace(lane, name=_name(lane, target), target=target) for target in (PROCESSOR, "c", *others)]
    return (*at, replace(lane, name=_name(lane, f"{SCHEDULES}-{own}"), variant=SCHEDULES))


def _name(lane: LaneSpec, instead: str) -> str:
    """The name of the lane with something else in place of its target: that of a lane of the table, if there is one."""
    head, own, tail = lane.name.rpartition(family_of(lane.target))
    return f"{head}{instead}{tail}" if own else f"{lane.name}-{instead}"


def kernel_judges(findings: Iterable[Finding], outcomes: Outcomes) -> tuple[LaneSpec, ...]:
    """Return the lanes that must run before these findings can be reported."""
    wanted = [lane for finding in findings if needs_judges(finding) for lane in _judges(finding, outcomes)]
    there = set(map(essential, outcomes))
    return tuple(dict.fromkeys(lane for lane in wanted if essential(lane) not in there))


def blamed(finding: Finding, objections: Sequence[Finding], outcomes: Outcomes) -> Finding | None:
    """Return the finding as it is reported: of TVM where a second judge confirms it, otherwise of the driver.

    None where judges have not run yet. `objections` are those of all oracles."""
    if not needs_judges(finding):
        return finding
    if kernel_judges([finding], outcomes):
        return None
    if finding.kind is Kind.WRONG_VALUE and _lacks_envelope(finding.lane, outcomes):
        return None
    if _is_confirmed(finding, objections, outcomes):
        return finding
    return replace(finding, component=Component(target_named(finding.lane.target).device))


def _judges(finding: Finding, outcomes: Outcomes) -> Iterator[LaneSpec]:
    seconds = second_judges(finding.lane)
    yield from seconds
    if finding.kind is Kind.WRONG_VALUE:
        for lane in (finding.lane, *filter(runs_kernels, seconds)):
            yield from _envelopes(family_of(lane.target), outcomes)


def _envelopes(target: str, outcomes: Outcomes) -> Iterator[LaneSpec]:
    """The reference that measures the envelope for a target, beside the one for the processor."""
    for lane in outcomes:
        if is_reference(lane) and lane.variant == "envelope" and lane.target == PROCESSOR:
            yield replace(lane, name=f"{lane.name}-{target}", target=target)


def _lacks_envelope(lane: LaneSpec, outcomes: Outcomes) -> bool:
    return expected(outcomes) is not None and expected(outcomes, target=family_of(lane.target)) is None


def _is_confirmed(finding: Finding, objections: Sequence[Finding], outcomes: Outcomes) -> bool:
    judges = set(map(essential, second_judges(finding.lane)))
    if any(other.kind is finding.kind and essential(other.lane) in judges for other in objections):
        return True
    return any(
        isinstance(outcome, Raised) and outcome.type.endswith(WRONG_SCHEDULE)
        for lane, outcome in outcomes.items()
        if lane.variant == SCHEDULES and essential(lane) in judges
    )
