"""A lane as data: which road a case takes from PyTorch to arrays. What runs it lives in `fuzzer.lanes`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from oracles.trace import Tracing


class Engine(StrEnum):
    """Who computes the result."""

    TORCH = "torch"
    ONNXRUNTIME = "onnxruntime"
    ONNX_REFERENCE = "onnx-reference"  # the interpreter of the onnx package
    ONNX_FILE = "onnx-file"  # no result: the exported file itself, as data for reports
    TVM = "tvm"
    HONEST = "honest"  # other implementations that are right by definition: they calibrate the tolerance
    FAULTY = "faulty"  # the self-test's lanes, which misbehave on purpose


class Importer(StrEnum):
    """How the model reaches the engine."""

    EAGER = "eager"
    EXPORT = "export"  # torch.export's program, decomposed once for all lanes
    EXPORT_TVM = "export-tvm"  # decomposed by TVM's importer, as its users get it
    EXPORT_RAW = "export-raw"  # not decomposed
    FX = "fx"  # torch.fx.symbolic_trace
    DYNAMO = "dynamo"  # torch.compile with TVM as its backend
    ONNX = "onnx"  # the TorchScript exporter's file
    ONNX_DYNAMO = "onnx-dynamo"  # torch.export's program as a file
    TRACE = "trace"  # torch.jit.trace, which Relay reads

    @property
    def is_onnx(self) -> bool:
        return self in (Importer.ONNX, Importer.ONNX_DYNAMO)

    @property
    def is_exported(self) -> bool:
        """Whether it reads a program of torch.export's."""
        return self in (Importer.EXPORT, Importer.EXPORT_TVM, Importer.EXPORT_RAW)


class Params(StrEnum):
    """How the case's parameters and buffers reach the compiled program."""

    BOUND = "bound"  # as constants of the module
    INPUTS = "inputs"  # as inputs of main, after the model's own
    REBOUND = "rebound"  # imported as inputs, made constants by BindParams
    BUNDLED = "bundled"  # as one tuple, by BundleModelParams
    LIFTED = "lifted"  # LiftTransformParams: what they alone decide is computed first, by a function of its own
    LIFTED_SHARED = "lifted-shared"  # by one function that all entries share
    LIFTED_CONSUMING = "lifted-consuming"  # by one that frees what it was given

    @property
    def is_lifted(self) -> bool:
        return self in (Params.LIFTED, Params.LIFTED_SHARED, Params.LIFTED_CONSUMING)


class Pipeline(StrEnum):
    """The Relax passes of the compilation."""

    DEFAULT = "default_build"  # what tvm.compile takes on CPUs: it folds no constants and fuses nothing
    ZERO = "zero"  # before that one: folds constants, fuses
    CPU = "cpu_generic"  # the one that TVM has for llvm, in its place


class Execution(StrEnum):
    """What runs the compiled program."""

    BYTECODE = "bytecode"  # Relax's virtual machine
    COMPILED = "compiled"  # the same machine's steps, as native code
    GRAPH = "graph"  # Relay's graph executor
    VM = "vm"  # Relay's virtual machine


CONSUMING = "relax.lift_transform_params.consume_params"
"""PassContext's option by which what LIFTED_CONSUMING lifts frees each parameter after its last use."""

DEFAULT_OPT_LEVEL = 2
"""Of tvm.transform.PassContext."""

RELAY = "relay"
"""The variant of TVM's lanes that are written in Relay; all others are in Relax."""


@dataclass(frozen=True, slots=True)
class LaneSpec:
    """One lane. Drawn, stored in findings, reduced and bisected like a graph.

    name       short and stable, e.g. relax-export-llvm
    variant    which computation a torch or faulty lane does (eager, f64, envelope; hang, ...); of a lane of TVM's,
               which program it compiles (relax, relay, gradient, ...)
    toolchain  the interpreter, with its own torch and TVM, that it runs in
    opset      of an ONNX file; None: the exporter's own choice
    passes     names of `oracles.transforms.TRANSFORMS`, run on the imported module in this order
    pipeline   the passes of the compilation, which come after them
    disabled   passes that the pipeline leaves out (PassContext's disabled_pass)
    options    PassContext's options that are switched on, e.g. tirx.disable_vectorize
    opt_level  PassContext's
    target     a name of `oracles.targets.TARGETS`
    asserts    whether kernels check their arguments (product behaviour; most of LLVM's work on small graphs)
    checked    TVM's checker of well-formedness looks at the module after the import and after every pass
    as_library the result is written as a shared library and loaded again
    symbolic   compiled for all sizes of the case's symbolic dimensions at once, run at the case's own
    fresh      runs in a process of its own: it must not matter
    tracing    what it tells of its passes, and how many of them run: for blame alone, no finding has it
    """

    name: str
    engine: Engine
    importer: Importer = Importer.EAGER
    variant: str = "eager"
    toolchain: str = "host"
    opset: int | None = None
    params: Params = Params.BOUND
    passes: tuple[str, ...] = ()
    pipeline: Pipeline = Pipeline.DEFAULT
    disabled: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    opt_level: int = DEFAULT_OPT_LEVEL
    target: str = "llvm"
    executor: Execution = Execution.BYTECODE
    asserts: bool = True
    checked: bool = False
    as_library: bool = False
    symbolic: bool = False
    fresh: bool = False
    tracing: Tracing | None = None

    def __str__(self) -> str:
        return self.name


def is_eager(lane: LaneSpec) -> bool:
    """The lane that says whether a case is valid at all."""
    return lane.engine is Engine.TORCH and lane.variant == "eager"


CONTRADICTION = "contradiction"
"""The variant that builds, whatever the case, one Relax module that contradicts itself, in any release of TVM."""


def is_relay(lane: LaneSpec) -> bool:
    return lane.engine is Engine.TVM and lane.variant == RELAY


def default_executor(lane: LaneSpec) -> Execution:
    """What runs compiled programs unless somebody asks for another."""
    return Execution.GRAPH if is_relay(lane) else Execution.BYTECODE


def returns_gradients(lane: LaneSpec) -> bool:
    """Whether its outputs are the model's gradients, not its results."""
    return lane.variant.startswith("gradient")
