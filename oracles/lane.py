"""A lane as data: which road a case takes from PyTorch to arrays. What runs it lives in `fuzzer.lanes`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Engine(StrEnum):
    """Who computes the result."""

    TORCH = "torch"
    ONNXRUNTIME = "onnxruntime"
    ONNX_REFERENCE = "onnx-reference"  # the interpreter of the onnx package
    TVM = "tvm"
    HONEST = "honest"  # other implementations that are right by definition: they calibrate the tolerance
    FAULTY = "faulty"  # the self-test's lanes, which misbehave on purpose


class Importer(StrEnum):
    """How the model reaches the engine."""

    EAGER = "eager"
    EXPORT = "export"
    ONNX = "onnx"


DEFAULT_OPT_LEVEL = 2
"""Of tvm.transform.PassContext."""


@dataclass(frozen=True, slots=True)
class LaneSpec:
    """One lane. Drawn, stored in findings, reduced and bisected like a graph.

    name       short and stable, e.g. relax-export-llvm
    variant    which computation a torch or faulty lane does (eager, f64, envelope; hang, ...)
    target     what TVM compiles for: llvm, c
    passes     Relax passes run on the imported module, in order
    pipeline   a Relax pipeline run after them, e.g. "zero" (folds constants, fuses); "" for none. The one that
               tvm.compile takes for the target always comes last
    opt_level  PassContext's
    llvm_opt   LLVM's own optimisation level, None for its default
    asserts    whether kernels check their arguments (product behaviour; most of LLVM's work on small graphs)
    checked    TVM's checker of well-formedness looks at the module after the import and after every pass
    as_library the result is written as a shared library and loaded again
    lifted     parameters stay inputs; what can be computed from them alone is lifted out, and run first
    symbolic   compiled for all sizes of the case's symbolic dimensions at once, run at the case's own
    fresh      runs in a process of its own: it must not matter
    """

    name: str
    engine: Engine
    importer: Importer = Importer.EAGER
    variant: str = "eager"
    toolchain: str = "host"
    target: str = "llvm"
    passes: tuple[str, ...] = ()
    pipeline: str = ""
    opt_level: int = DEFAULT_OPT_LEVEL
    llvm_opt: int | None = None
    asserts: bool = True
    checked: bool = False
    as_library: bool = False
    lifted: bool = False
    symbolic: bool = False
    fresh: bool = False

    def __str__(self) -> str:
        return self.name


def is_eager(lane: LaneSpec) -> bool:
    """The lane that says whether a case is valid at all."""
    return lane.engine is Engine.TORCH and lane.variant == "eager"


def gives_gradients(lane: LaneSpec) -> bool:
    """Whether its outputs are the model's gradients, not its results."""
    return lane.variant.startswith("gradient")
