"""A lane as data: one way from a case to arrays. The code that runs lanes is in `fuzzer.lanes`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from generators.dialect import dialect_named
from generators.dialect_names import DEFAULT, NAMES
from oracles.importers import Importer as Importer
from oracles.stage import Stage
from oracles.trace import Tracing


class Engine(StrEnum):
    """Who computes the result. The engine of the references of a dialect has the name of the dialect."""

    TORCH = "torch"
    ONNX = "onnx"  # the references of a case of ONNX: onnxruntime and the interpreter of the onnx package, on its file
    RELAX = "relax"  # the references of a case of Relax: the definitions of its operators. TVM has no part in them
    ONNXRUNTIME = "onnxruntime"
    ONNX_REFERENCE = "onnx-reference"  # the interpreter of the onnx package
    ONNX_FILE = "onnx-file"  # computes nothing: gives the exported file itself, for reports
    TVM = "tvm"
    HONEST = "honest"  # implementations other than TVM that are right by definition: they calibrate the tolerance
    FAULTY = "faulty"  # the lanes of the self-test, which misbehave on purpose


class Params(StrEnum):
    """How the case's parameters and buffers reach the compiled program."""

    BOUND = "bound"  # as constants of the module
    INPUTS = "inputs"  # as inputs of main, after the model's own
    REBOUND = "rebound"  # imported as inputs, then made constants by BindParams
    BUNDLED = "bundled"  # as one tuple, made by BundleModelParams
    LIFTED = "lifted"  # LiftTransformParams: a function of its own computes what depends on parameters alone
    LIFTED_SHARED = "lifted-shared"  # the same, with one such function for all entry functions
    LIFTED_CONSUMING = "lifted-consuming"  # the same, with a function that frees its arguments

    @property
    def is_lifted(self) -> bool:
        return self in (Params.LIFTED, Params.LIFTED_SHARED, Params.LIFTED_CONSUMING)


class Pipeline(StrEnum):
    """The Relax passes of the compilation."""

    DEFAULT = "default_build"  # the one that tvm.compile uses on CPUs: it folds no constants and fuses nothing
    ZERO = "zero"  # folds constants and fuses, then runs default_build
    CPU = "cpu_generic"  # TVM's pipeline for llvm, in place of default_build


class Execution(StrEnum):
    """What runs the compiled program."""

    BYTECODE = "bytecode"  # Relax's virtual machine
    COMPILED = "compiled"  # Relax's virtual machine, with its instructions compiled to native code
    GRAPH = "graph"  # Relay's graph executor
    VM = "vm"  # Relay's virtual machine


CONSUMING = "relax.lift_transform_params.consume_params"
"""PassContext's option that makes the lifted function free each parameter after its last use."""

DEFAULT_OPT_LEVEL = 2
"""The default opt_level of tvm.transform.PassContext."""

RELAY = "relay"
"""The variant of the TVM lanes that use Relay. All other TVM lanes use Relax."""


@dataclass(frozen=True, slots=True)
class LaneSpec:
    """One lane. A lane is drawn, stored in findings, reduced and bisected, as a graph is.

    name        short and stable, e.g. relax-export-llvm
    variant     which computation a reference or faulty lane does (eager, witness, f64, envelope; hang, ...); for a TVM
                lane, which program it compiles (relax, relay, gradient, ...)
    toolchain   the interpreter, with its own torch and TVM, that the lane runs in
    opset       the opset of the ONNX file; None: the exporter chooses, and a case of ONNX has its own. Another opset
                than the case's: onnx.version_converter converts the file
    passes      names of rows of `oracles.transforms.TRANSFORMS`, run on the imported module in this order
    pipeline    the passes of the compilation, which run after `passes`
    disabled    passes that the pipeline leaves out (disabled_pass of PassContext)
    options     options of PassContext that are switched on, e.g. tirx.disable_vectorize
    opt_level   opt_level of PassContext
    target      a row of `oracles.targets.TARGETS`, or a kind with attributes: `oracles.targets.target_named` reads it
    asserts     whether kernels check their arguments: TVM's default; on small graphs most of LLVM's time
    checked     whether TVM's checker of well-formedness checks the module after the import and after every pass
    as_library  whether the result is written as a shared library and loaded again
    symbolic    whether the module is compiled for all sizes of the case's symbolic dimensions; it runs at the case's
    given_sizes whether a file of ONNX leaves its sizes open, and the importer gets them (shape_dict of from_onnx)
    fresh       whether the lane runs in a process of its own, which must not change the result
    tracing     what the lane records of its passes, and how many of them run; only blame sets it, no finding has it
    until       the last stage that runs: the lane ends there as `Built`; only triage sets it, no finding has it
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
    given_sizes: bool = False
    fresh: bool = False
    tracing: Tracing | None = None
    until: Stage | None = None

    def __str__(self) -> str:
        return self.name

    @property
    def dialect(self) -> str:
        """The dialect of the cases that the lane runs: that of its importer, or without one that of its engine."""
        return self.importer.row.dialect or (str(self.engine) if self.engine in NAMES else DEFAULT)


def is_reference(lane: LaneSpec) -> bool:
    """Whether the lane runs the case as its dialect means it. All other lanes are judged by what such lanes return."""
    return lane.engine in NAMES


def is_reference_of_file(lane: LaneSpec) -> bool:
    """Whether the lane is a reference of a dialect whose models are files: onnxruntime computes its result."""
    return is_reference(lane) and dialect_named(lane.engine).is_file


def converts(lane: LaneSpec) -> bool:
    """Whether the lane converts the model to another opset than its own."""
    return lane.opset is not None and dialect_named(lane.dialect).opsets is not None


def is_eager(lane: LaneSpec) -> bool:
    """Whether the lane decides whether a case is valid: eager PyTorch, or for ONNX onnxruntime without optimisers."""
    return is_reference(lane) and lane.variant == "eager"


WITNESS = "witness"
"""The variant of the reference of ONNX that must agree with `eager`: the interpreter of the onnx package."""


def is_witness(lane: LaneSpec) -> bool:
    """Whether the lane decides whether the eager result of a case of ONNX can be relied on."""
    return is_reference(lane) and lane.variant == WITNESS


CONTRADICTION = "contradiction"
"""The variant that builds one fixed, self-contradictory Relax module for every case, in any release of TVM."""


EVALUATED = "evaluated"
"""The variant of the lanes of tier 1: they import a model, check the module and evaluate it, and compile nothing."""


SCHEDULES = "schedules"
"""The variant of the lanes that schedule kernels for a GPU, and compare them with the kernels before. They need no GPU
and no code generator for it."""


def is_tier_1(lane: LaneSpec) -> bool:
    """Whether the lane evaluates the imported module and compiles nothing."""
    return lane.variant == EVALUATED


def is_relay(lane: LaneSpec) -> bool:
    """Whether the lane compiles a Relay module."""
    return lane.engine is Engine.TVM and lane.variant == RELAY


def is_relax(lane: LaneSpec) -> bool:
    """Whether the lane compiles a Relax module."""
    return lane.engine is Engine.TVM and not is_relay(lane)


def default_executor(lane: LaneSpec) -> Execution:
    """Return what runs the lane's compiled program where the lane names no other executor."""
    return Execution.GRAPH if is_relay(lane) else Execution.BYTECODE


def returns_gradients(lane: LaneSpec) -> bool:
    """Whether the lane's outputs are the model's gradients, not its results."""
    return lane.variant.startswith("gradient")
