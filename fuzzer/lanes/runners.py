"""The code that runs a lane. Imported in children only.

`runner_of` loads only the engine of the lane, so that a toolchain needs only what its own lanes use."""

from __future__ import annotations

import functools

from fuzzer.lanes.base.lane import Lane
from generators.dialect import part_of
from oracles.lane import CONTRADICTION, RELAY, Engine, LaneSpec, returns_gradients


def runner_of(spec: LaneSpec) -> Lane:
    return _runner(spec.engine, spec.variant, returns_gradients(spec))


@functools.cache
def _runner(engine: Engine, variant: str, gradients: bool) -> Lane:
    match engine:
        case Engine.ONNXRUNTIME:
            from fuzzer.lanes.onnx.runtime import OnnxRuntimeLane

            return OnnxRuntimeLane()
        case Engine.ONNX_REFERENCE:
            from fuzzer.lanes.onnx.other_readers import OnnxReferenceLane

            return OnnxReferenceLane()
        case Engine.ONNX_FILE:
            from fuzzer.lanes.onnx.description import OnnxFileLane

            return OnnxFileLane()
        case Engine.TVM if variant == RELAY:
            from fuzzer.lanes.relay.lane import RelayLane

            return RelayLane()
        case Engine.TVM if variant == CONTRADICTION:
            from fuzzer.lanes.relax.contradiction import ContradictionLane

            return ContradictionLane()
        case Engine.TVM:
            from fuzzer.lanes.relax_lane import RelaxLane

            return RelaxLane()
        case Engine.HONEST:
            from fuzzer.lanes.honest import HonestLane

            return HonestLane()
        case Engine.FAULTY:
            from fuzzer.lanes.faulty import FaultyLane

            return FaultyLane()
        case _:  # the references of a dialect, which has the name of their engine
            lane: Lane = part_of(str(engine), "fuzzer.lanes.{}.references").lane(gradients)
            return lane
