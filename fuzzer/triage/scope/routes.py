"""What other lanes do with the reduced case: a line for each importer, pipeline and target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fuzzer.isolate.fleet import Runner
from fuzzer.lanes import EVERY_TVM_LANE
from fuzzer.lanes.base.availability import Runnable, availability
from fuzzer.triage.scope.asking import answer_of
from fuzzer.triage.scope.statement import Answer
from generators.graph import Case
from oracles.finding import Finding
from oracles.lane import LaneSpec, is_relax

ROUTES = {
    "from_exported_program": "relax-export-llvm",
    "from_exported_program, not decomposed": "relax-export-raw-llvm",
    "from_fx": "relax-fx-llvm",
    "from_onnx": "relax-onnx-llvm",
    "from_onnx of torch.export": "relax-onnx-dynamo-llvm",
    "torch.compile": "relax-dynamo-llvm",
    "pipeline zero": "relax-export-zero",
    "pipeline cpu_generic": "relax-export-cpu",
    "compiled virtual machine": "relax-export-compiled",
    "target c": "relax-export-c",
    "parameters as inputs": "relax-export-inputs",
}
"""The lane of each route of a case of PyTorch, under the name that a report gives it."""

ROUTES_OF_ONNX = {
    "from_onnx": "relax-onnx-model-llvm",
    "converted to opset 13": "relax-onnx-model-llvm-opset13",
    "converted to opset 18": "relax-onnx-model-llvm-opset18",
    "converted to opset 21": "relax-onnx-model-llvm-opset21",
    "pipeline zero": "relax-onnx-model-zero",
    "pipeline cpu_generic": "relax-onnx-model-cpu",
    "compiled virtual machine": "relax-onnx-model-compiled",
    "target c": "relax-onnx-model-c",
    "parameters as inputs": "relax-onnx-model-inputs",
}
"""The same for a case of ONNX."""

_BY_NAME = {lane.name: lane for lane in EVERY_TVM_LANE}


def routes(
    runner: Runner, case: Case, finding: Finding, has_time: Callable[[], bool]
) -> tuple[tuple[str, Answer], ...]:
    """Return what each route does with the case, as long as there is time. Only a finding in Relax has routes."""
    if not is_relax(finding.lane):
        return ()
    known = ROUTES_OF_ONNX if finding.lane.dialect == "onnx" else ROUTES
    lanes = {name: _beside(_BY_NAME[lane], finding.lane) for name, lane in known.items()}
    return tuple(
        (name, answer_of(runner, finding, case, lane))
        for name, lane in lanes.items()
        if isinstance(availability(lane), Runnable) and has_time()
    )


def _beside(lane: LaneSpec, other: LaneSpec) -> LaneSpec:
    """Return the lane in the toolchain of another lane, with open sizes where that one has them."""
    return replace(lane, toolchain=other.toolchain, symbolic=other.symbolic)
