"""The lanes, as data. Importing this loads no compiler; what runs them is `fuzzer.lanes.runners`."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from oracles.lane import Engine, Importer, LaneSpec, gives_gradients

TORCH = LaneSpec("torch", Engine.TORCH, variant="eager")
TORCH_F64 = LaneSpec("torch-f64", Engine.TORCH, variant="f64")
TORCH_ENVELOPE = LaneSpec("torch-envelope", Engine.TORCH, variant="envelope")
ONNXRUNTIME = LaneSpec("onnxruntime", Engine.ONNXRUNTIME, Importer.ONNX)

REFERENCES = (TORCH, TORCH_F64, TORCH_ENVELOPE, ONNXRUNTIME)

GRADIENT_REFERENCES = (
    LaneSpec("torch-grad", Engine.TORCH, variant="gradient"),
    LaneSpec("torch-grad-f64", Engine.TORCH, variant="gradient-f64"),
    LaneSpec("torch-grad-envelope", Engine.TORCH, variant="gradient-envelope"),
)
"""What a lane that gives gradients is judged by: torch.autograd."""

ONNX_READERS = (
    LaneSpec("onnx-reference", Engine.ONNX_REFERENCE, Importer.ONNX, "interpreter"),
    LaneSpec("onnxruntime-optimised", Engine.ONNX_REFERENCE, Importer.ONNX, "optimised"),
)
"""Asked where onnxruntime disagrees with PyTorch: is the file wrong, or its reader?"""

TVM_LANES = (
    LaneSpec("relax-export-llvm", Engine.TVM, Importer.EXPORT, "relax", checked=True),
    # here for its frontend: without the kernels' argument checks, half of LLVM's work on small graphs
    LaneSpec("relax-onnx-llvm", Engine.TVM, Importer.ONNX, "relax", asserts=False, checked=True),
    LaneSpec("relax-export-c", Engine.TVM, Importer.EXPORT, "relax", target="c"),
)


def _sampled(name: str, variant: str = "relax", **more: Any) -> LaneSpec:
    return LaneSpec(f"relax-export-{name}", Engine.TVM, Importer.EXPORT, variant, asserts=False, **more)


SAMPLED_LANES = (
    _sampled("zero", pipeline="zero", checked=True),
    _sampled("script", passes=("ScriptRoundTrip",)),
    _sampled("json", passes=("JsonRoundTrip",)),
    _sampled("library", as_library=True),
    _sampled("again", fresh=True),
    _sampled("lifted", lifted=True, checked=True),
    _sampled("symbolic", symbolic=True, checked=True),
    _sampled("gradient", "gradient"),
    _sampled("mutants", "mutants"),
)
"""Dear ones: a test takes one of them, in turn. Each differs from relax-export-llvm in a thing that must not matter."""

HONEST_LANES = (
    *(LaneSpec(f"torch-{name}", Engine.HONEST, variant=name) for name in ("layout", "flush", "decomposed")),
    *(
        LaneSpec(f"onnxruntime-{level}", Engine.HONEST, Importer.ONNX, f"ort-{level}")
        for level in ("disable", "basic", "extended", "all")
    ),
    LaneSpec("torch-threads", Engine.HONEST, variant="threads", fresh=True),
    LaneSpec("torch-inductor", Engine.HONEST, variant="inductor"),
)
"""What is right by definition: these calibrate the tolerance, and are judged by `fuzz bench honesty`."""

LANES = (*REFERENCES, *TVM_LANES)


def needed(lane: LaneSpec, *, values: bool = True) -> tuple[LaneSpec, ...]:
    """The references without which a lane's outcome cannot be judged: all of them, or those for a failure to run."""
    if gives_gradients(lane) and lane.engine is Engine.TVM:
        return (TORCH, *GRADIENT_REFERENCES) if values else (TORCH,)
    torch = (TORCH, TORCH_F64, TORCH_ENVELOPE) if values else (TORCH,)
    return (*torch, ONNXRUNTIME) if lane.importer is Importer.ONNX and lane is not ONNXRUNTIME else torch


def select(globs: str) -> tuple[LaneSpec, ...]:
    """TVM lanes whose name matches one of the comma-separated globs, sampled ones too; empty where none does. All that
    every test takes, for `*`."""
    return TVM_LANES if globs == "*" else matching((*TVM_LANES, *SAMPLED_LANES), globs)


def matching(lanes: Sequence[LaneSpec], globs: str) -> tuple[LaneSpec, ...]:
    patterns = [glob.strip() for glob in globs.split(",")]
    return tuple(lane for lane in lanes if any(fnmatchcase(lane.name, pattern) for pattern in patterns))
