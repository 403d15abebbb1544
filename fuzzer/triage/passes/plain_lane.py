"""The plainest lane that still shows it: each thing that it does on top of its sibling is left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fuzzer.lanes import EVERY_TVM_LANE
from fuzzer.triage.passes.base import Subject
from oracles.lane import DEFAULT_OPT_LEVEL, Engine, Importer, LaneSpec, Params, Pipeline, default_executor, is_relay
from oracles.siblings import additions, essential
from oracles.targets import family_of


def plain_lane(subject: Subject) -> Iterator[Subject]:
    lane = subject.lane
    if lane.engine is not Engine.TVM:
        return
    for smaller in _smaller(lane):
        yield replace(subject, lane=_known(smaller))


def _smaller(lane: LaneSpec) -> Iterator[LaneSpec]:
    """One thing less, or all passes but a half: those that go together go first."""
    count = len(lane.passes)
    for size in (count, count // 2, 1):
        for start in range(0, count, size) if size else ():
            yield replace(lane, passes=lane.passes[:start] + lane.passes[start + size :])
    plain: dict[str, Any] = {
        "pipeline": Pipeline.DEFAULT,
        "params": Params.BOUND,
        "disabled": (),
        "options": (),
        "opt_level": DEFAULT_OPT_LEVEL,
        "executor": default_executor(lane),
        "target": family_of(lane.target),
        "as_library": False,
        "fresh": False,
        "asserts": True,  # as TVM's users have it
    }
    for name, value in plain.items():
        if getattr(lane, name) != value:
            yield replace(lane, **{name: value})
    if additions(lane) and not has_usual_importer(lane):  # what is wrong by a pass is wrong by it on the usual road
        yield replace(lane, importer=Importer.EXPORT, opset=None, name=f"relax-{Importer.EXPORT}-drawn")


def has_usual_importer(lane: LaneSpec) -> bool:
    """Whether the model comes in by the usual importer: what the importer is not to blame for shows there too."""
    return is_relay(lane) or lane.importer is Importer.EXPORT or lane.variant != "relax"


def _known(lane: LaneSpec) -> LaneSpec:
    """The lane under its own name where it is one of those that campaigns take anyway. Whether the checker looks on
    stays as it was: some failures are seen by it alone."""
    roads = (replace(road, toolchain=lane.toolchain, checked=lane.checked) for road in EVERY_TVM_LANE)
    same = (road for road in roads if essential(road) == essential(lane))
    return next((road for road in same if road.asserts == lane.asserts), lane)
