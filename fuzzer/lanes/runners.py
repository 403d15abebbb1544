"""Which class runs a lane. Imported in children only: this loads torch, onnxruntime and TVM."""

from __future__ import annotations

from fuzzer.lanes.base import Lane
from fuzzer.lanes.faulty import FaultyLane
from fuzzer.lanes.honest import HonestLane
from fuzzer.lanes.onnx_reference import OnnxReferenceLane
from fuzzer.lanes.onnxruntime import OnnxRuntimeLane
from fuzzer.lanes.relax import RelaxLane
from fuzzer.lanes.torch_eager import TorchLane
from fuzzer.lanes.torch_gradient import TorchGradientLane
from oracles.lane import Engine, LaneSpec, gives_gradients

RUNNERS: dict[Engine, Lane] = {
    Engine.TORCH: TorchLane(),
    Engine.ONNXRUNTIME: OnnxRuntimeLane(),
    Engine.ONNX_REFERENCE: OnnxReferenceLane(),
    Engine.TVM: RelaxLane(),
    Engine.HONEST: HonestLane(),
    Engine.FAULTY: FaultyLane(),
}


_GRADIENTS = TorchGradientLane()


def runner_of(spec: LaneSpec) -> Lane:
    return _GRADIENTS if spec.engine is Engine.TORCH and gives_gradients(spec) else RUNNERS[spec.engine]
