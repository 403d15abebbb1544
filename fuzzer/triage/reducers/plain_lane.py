"""Use a plainer lane: leave out each feature that the lane has beyond its plain sibling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fuzzer.lanes import EVERY_TVM_LANE
from fuzzer.triage.reducers.base import Subject
from generators.dialect import dialect_named
from oracles.importers import plain_importer
from oracles.lane import DEFAULT_OPT_LEVEL, Engine, LaneSpec, Params, Pipeline, converts, default_executor, is_relay
from oracles.siblings import additions, essential
from oracles.targets import family_of
from oracles.transforms import have_what_they_require, not_disabled_alone


def plain_lane(subject: Subject) -> Iterator[Subject]:
    """Propose plainer lanes of TVM for the same case."""
    lane = subject.lane
    if lane.engine is not Engine.TVM:
        return
    for smaller in _smaller(lane):
        yield replace(subject, lane=with_known_name(smaller))


def _smaller(lane: LaneSpec) -> Iterator[LaneSpec]:
    """Yield the lane without all, half or one of its passes, of its disabled passes and of its options, and then
    without each other feature. No pass loses one that it requires."""
    for passes in _shorter(lane.passes):
        if have_what_they_require(passes) or not have_what_they_require(lane.passes):
            yield replace(lane, passes=passes)
    for disabled in _shorter(lane.disabled):
        if not_disabled_alone(lane.disabled) or not not_disabled_alone(disabled):
            yield replace(lane, disabled=disabled)
    for options in _shorter(lane.options):
        yield replace(lane, options=options)
    plain: dict[str, Any] = {
        "pipeline": Pipeline.DEFAULT,
        "params": Params.BOUND,
        "opt_level": DEFAULT_OPT_LEVEL,
        "executor": default_executor(lane),
        "target": family_of(lane.target),
        "as_library": False,
        "given_sizes": False,
        "fresh": False,
        "asserts": True,  # the default of TVM
    }
    for name, value in plain.items():
        if getattr(lane, name) != value:
            yield replace(lane, **{name: value})
    if not has_usual_target(lane):
        yield replace(lane, target=USUAL_TARGET, name=f"relax-{lane.importer}-drawn")
    if converts(lane):  # the model as it is, not converted
        yield replace(lane, opset=None)
    elif additions(lane) and not has_usual_importer(lane):  # a fault of a pass shows with the usual importer too
        usual = plain_importer(lane.dialect)
        yield replace(lane, importer=usual, opset=None, name=f"relax-{usual}-drawn")


USUAL_TARGET = "llvm"


def has_usual_target(lane: LaneSpec) -> bool:
    """Return whether the lane compiles for llvm, or for a variant of it."""
    return family_of(lane.target) == USUAL_TARGET


def _shorter(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the names without all, half or one of them."""
    count = len(names)
    for size in (count, count // 2, 1):
        for start in range(0, count, size) if size else ():
            yield names[:start] + names[start + size :]


def has_usual_importer(lane: LaneSpec) -> bool:
    """Return whether the lane uses the usual importer of its dialect, or has no other choice."""
    if dialect_named(lane.dialect).opsets:
        return not converts(lane)
    return is_relay(lane) or lane.importer is plain_importer(lane.dialect) or lane.variant != "relax"


def with_known_name(lane: LaneSpec) -> LaneSpec:
    """Return the lane under its usual name if campaigns have such a lane.

    `checked` does not change, because only the checker finds some failures.
    """
    named = (replace(each, toolchain=lane.toolchain, checked=lane.checked) for each in EVERY_TVM_LANE)
    same = (each for each in named if essential(each) == essential(lane))
    return next((each for each in same if each.asserts == lane.asserts), lane)
