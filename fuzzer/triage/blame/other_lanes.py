"""What other lanes say: the lane's plain sibling, and other targets."""

from __future__ import annotations

from dataclasses import replace

from fuzzer.lanes import EVERY_TVM_LANE
from fuzzer.signature.blame import Blame, Place
from fuzzer.triage.blame.context import BlameContext, LaneObservation
from fuzzer.triage.reproduce import in_toolchain_of
from oracles.lane import DEFAULT_OPT_LEVEL, LaneSpec, Params, Pipeline, default_executor, returns_gradients
from oracles.siblings import additions, sibling
from oracles.targets import family_of
from oracles.transforms import ROUND_TRIPS

_OTHER = {"llvm": "c", "c": "llvm"}
"""The target of a machine's own that another code generator writes for."""


def blame_lane_feature(asked: BlameContext, whole: LaneObservation, operator: str) -> Blame | None:
    """The one thing that it does beside its plain sibling, which is right."""
    lane = asked.lane
    found = _gradient(lane, operator) or _one_thing(lane, operator)
    plain = _forward(lane) if returns_gradients(lane) else sibling(lane, in_toolchain_of(EVERY_TVM_LANE, lane))
    if found is None or plain is None or not asked.observe(plain, fully=True).is_right:
        return None
    return found


def _gradient(lane: LaneSpec, operator: str) -> Blame | None:
    if not returns_gradients(lane) or additions(lane):
        return None
    told = "The program's results are right, its gradients are not, whatever passes behind Gradient are left out"
    return Blame(Place.PASS, operator, "Gradient", told)


def _forward(lane: LaneSpec) -> LaneSpec:
    return replace(lane, variant="relax", name="relax-export-forward")


def _one_thing(lane: LaneSpec, operator: str) -> Blame | None:
    trips = [name for name in lane.passes if name in ROUND_TRIPS]
    things = additions(replace(lane, passes=tuple(trips), pipeline=Pipeline.DEFAULT))
    if len(things) != 1:
        return None
    place, culprit = Place.PASS, things[0]
    if lane.params is not Params.BOUND:
        culprit = _PARAMS[lane.params]
    elif lane.target != family_of(lane.target):
        place, culprit = Place.CODEGEN, lane.target
    elif lane.executor is not default_executor(lane):
        place, culprit = Place.CODEGEN, "VMTIRCodeGen"
    elif lane.as_library or lane.fresh:
        place, culprit = Place.RUNTIME, "export_library" if lane.as_library else ""
    elif not (trips or lane.disabled or lane.options or lane.opt_level != DEFAULT_OPT_LEVEL):
        return None  # open sizes go through all of the compiler
    return Blame(place, operator, culprit, f"It is right on {_plain(lane)}, and wrong with {things[0]} alone added")


_PARAMS = {
    Params.INPUTS: "keep_params_as_input",
    Params.REBOUND: "BindParams",
    Params.BUNDLED: "BundleModelParams",
    Params.LIFTED: "LiftTransformParams",
    Params.LIFTED_SHARED: "LiftTransformParams",
    Params.LIFTED_CONSUMING: "LiftTransformParams",
}


def _plain(lane: LaneSpec) -> str:
    return f"relax-{lane.importer}-{family_of(lane.target)}"


def blame_code_generator(asked: BlameContext, whole: LaneObservation, operator: str) -> Blame | None:
    """Another code generator makes it right of the very same kernels."""
    seen = _elsewhere(asked) if whole.trace.passes else None
    if seen is None or not seen.is_right:
        return None
    told = f"The same passes give the right result for target {seen.lane.target}, and not for {asked.lane.target}"
    return Blame(Place.CODEGEN, operator, f"target.build.{family_of(asked.lane.target)}", told)


def fails_on_other_target(asked: BlameContext) -> bool:
    """Whether it fails for the other target too, whose code generator is another."""
    seen = _elsewhere(asked)
    return seen is not None and seen.observation.finding is not None


def _elsewhere(asked: BlameContext) -> LaneObservation | None:
    lane = asked.lane
    other = _OTHER.get(family_of(lane.target))
    if other is None or returns_gradients(lane):
        return None
    return asked.observe(replace(lane, target=other, name=f"{lane.name}-on-{other}"), fully=True)
