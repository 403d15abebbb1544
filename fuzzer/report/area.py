"""The tags of a title, as TVM's issues have them, and the names of components."""

from __future__ import annotations

from fuzzer.findings.record import FindingRecord
from fuzzer.signature.blame import Place
from generators.dialect import dialect_named
from oracles.finding import Component
from oracles.lane import LaneSpec, is_relay
from oracles.outcome import IllFormed, Raised, Stage
from oracles.targets import target_named

KINDS = {"llvm": "LLVM", "c": "C", "cuda": "CUDA", "opencl": "OpenCL", "webgpu": "WebGPU", "metal": "Metal",
         "vulkan": "Vulkan", "rocm": "ROCm", "hip": "ROCm"}  # fmt: skip
"""Targets, as TVM's issues call them."""


OTHERS = {
    Component.ONNXRUNTIME: "onnxruntime",
    Component.PYTORCH: "PyTorch",
    Component.POCL: "PoCL",
    Component.LAVAPIPE: "lavapipe",
    Component.ENVIRONMENT: "environment",
}
"""The components other than TVM and the exporter."""


_LANGUAGES = ("tirx.", "tir.", "s_tir.")
"""Prefixes of the names of passes that work on TIR."""


def area(record: FindingRecord) -> str:
    """Tags as TVM's issues have them: [Relax][Frontend][ONNX]."""
    doc, lane = record.doc, record.doc.lane
    if doc.component is not Component.TVM:
        return f"[{other(doc.component, lane)}]"
    language = "[Relay]" if is_relay(lane) else "[Relax]"
    match place_of(record):
        case Place.FRONTEND:
            return f"{language}{lane.importer.row.function.tag}"
        case Place.CODEGEN:
            return f"[Codegen][{target_tag(lane)}]"
        case Place.RUNTIME:
            return f"{language}[VM]"
        case Place.PASS if doc.blame.culprit.startswith(_LANGUAGES):
            return "[TIR]"
        case _:
            return language


def other(component: Component, lane: LaneSpec) -> str:
    """The name of a component other than TVM."""
    return dialect_named(lane.dialect).words.exporter if component is Component.EXPORTER else OTHERS[component]


def place_of(record: FindingRecord) -> Place | None:
    """The place that blame found; if it found none, the frontend for a failed import, whichever step has imported."""
    doc = record.doc
    imported = doc.identity.stage is Stage.IMPORT or _after(record) == "import" or _raised_by_an_importer(record)
    return doc.blame.place or (Place.FRONTEND if imported and doc.component is Component.TVM else None)


def _raised_by_an_importer(record: FindingRecord) -> bool:
    """Whether the innermost frame of TVM is in a file of an importer: torch.compile calls one when it compiles."""
    evidence = record.doc.evidence.evidence
    frames = evidence.frames if isinstance(evidence, Raised) else ()
    return bool(frames) and "tvm/relax/frontend/" in frames[-1].file


def target_tag(lane: LaneSpec) -> str:
    kind = str(target_named(lane.target).config["kind"])
    return KINDS.get(kind, kind)


def _after(record: FindingRecord) -> str:
    evidence = record.doc.evidence.evidence
    return evidence.after if isinstance(evidence, IllFormed) else ""
