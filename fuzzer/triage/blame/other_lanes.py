"""Blame by comparison with other lanes: the plain sibling of the lane, and the same lane for another target."""

from __future__ import annotations

from dataclasses import replace

from fuzzer.lanes import plain_sibling
from fuzzer.signature.blame import Blame, Place
from fuzzer.triage.blame.context import BlameContext, LaneObservation
from oracles.lane import DEFAULT_OPT_LEVEL, LaneSpec, Params, Pipeline, default_executor, returns_gradients
from oracles.siblings import additions
from oracles.targets import family_of
from oracles.transforms import ROUND_TRIPS

_OTHER = {"llvm": "c", "c": "llvm"}
"""For each target, another one that runs on every machine and has another code generator."""


def blame_lane_feature(context: BlameContext, whole: LaneObservation, operator: str) -> Blame | None:
    """Blame the only feature that the lane adds to its plain sibling, if the sibling is right."""
    lane = context.lane
    found = _gradient(lane, operator) or _only_addition(lane, operator)
    plain = _forward(lane) if returns_gradients(lane) else plain_sibling(lane)
    if found is None or plain is None or not context.observe(plain, fully=True).is_right:
        return None
    return found


def _gradient(lane: LaneSpec, operator: str) -> Blame | None:
    if not returns_gradients(lane) or additions(lane):
        return None
    evidence = "The program's results are right, its gradients are not, whichever passes after Gradient are left out"
    return Blame(Place.PASS, operator, "Gradient", evidence)


def _forward(lane: LaneSpec) -> LaneSpec:
    return replace(lane, variant="relax", name="relax-export-forward")


def _only_addition(lane: LaneSpec, operator: str) -> Blame | None:
    round_trips = [name for name in lane.passes if name in ROUND_TRIPS]
    added = additions(replace(lane, passes=tuple(round_trips), pipeline=Pipeline.DEFAULT))
    if len(added) != 1:
        return None
    place, culprit = Place.PASS, added[0]
    if lane.given_sizes:
        place, culprit = Place.FRONTEND, "from_onnx(shape_dict=...)"
    elif lane.params is not Params.BOUND:
        culprit = "keep_params_in_input" if _keeps_in_onnx(lane) else _PARAMS[lane.params]
    elif lane.target != family_of(lane.target):
        place, culprit = Place.CODEGEN, lane.target
    elif lane.executor is not default_executor(lane):
        place, culprit = Place.CODEGEN, "VMTIRCodeGen"
    elif lane.as_library or lane.fresh:
        place, culprit = Place.RUNTIME, "export_library" if lane.as_library else ""
    elif not (round_trips or lane.disabled or lane.options or lane.opt_level != DEFAULT_OPT_LEVEL):
        return None  # open sizes concern every part of the compiler
    return Blame(
        place, operator, culprit, f"The result is right on {_plain(lane)}, and wrong when only {added[0]} is added"
    )


_PARAMS = {
    Params.INPUTS: "keep_params_as_input",
    Params.REBOUND: "BindParams",
    Params.BUNDLED: "BundleModelParams",
    Params.LIFTED: "LiftTransformParams",
    Params.LIFTED_SHARED: "LiftTransformParams",
    Params.LIFTED_CONSUMING: "LiftTransformParams",
}


def _keeps_in_onnx(lane: LaneSpec) -> bool:
    """Whether the lane adds an option of `from_onnx`, whose name differs from that of other importers."""
    return lane.params is Params.INPUTS and lane.importer.row.reads.is_file


def _plain(lane: LaneSpec) -> str:
    return f"relax-{lane.importer}-{family_of(lane.target)}"


def blame_code_generator(context: BlameContext, whole: LaneObservation, operator: str) -> Blame | None:
    """Blame the code generator if another target gives the right result from the same kernels."""
    other = _on_other_target(context) if whole.trace.passes else None
    if other is None or not other.is_right:
        return None
    evidence = (
        f"The same passes give the right result for target {other.lane.target}, and not for {context.lane.target}"
    )
    return Blame(Place.CODEGEN, operator, f"target.build.{family_of(context.lane.target)}", evidence)


def fails_on_other_target(context: BlameContext) -> bool:
    """Return whether the lane also fails for the other target, which has another code generator."""
    other = _on_other_target(context)
    return other is not None and other.observation.finding is not None


def _on_other_target(context: BlameContext) -> LaneObservation | None:
    lane = context.lane
    other = _OTHER.get(family_of(lane.target))
    if other is None or returns_gradients(lane):
        return None
    return context.observe(replace(lane, target=other, name=f"{lane.name}-on-{other}"), fully=True)
