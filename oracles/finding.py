"""The types of a finding: the kind of failure, the component at fault, and the evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from generators.graph import Case
from oracles.importers import Importer
from oracles.lane import Engine, LaneSpec, is_reference, is_reference_of_file
from oracles.memory_access import MemoryAccess
from oracles.outcome import Died, IllFormed, Mutant, Outcomes, Raised, Stage, TimedOut


class Kind(StrEnum):
    """What went wrong in a lane."""

    DIED = "died"
    TIMED_OUT = "timed-out"
    OUT_OF_MEMORY = "out-of-memory"
    INTERNAL_ERROR = "internal-error"
    REJECTED = "rejected"
    WRONG_ARITY = "wrong-arity"
    WRONG_SHAPE = "wrong-shape"
    WRONG_DTYPE = "wrong-dtype"
    WRONG_VALUE = "wrong-value"
    OUT_OF_BOUNDS_WRITE = "out-of-bounds-write"
    OUT_OF_BOUNDS_READ = "out-of-bounds-read"
    UNINITIALISED_READ = "uninitialised-read"
    SECOND_RUN_DIFFERS = "second-run-differs"
    NONDETERMINISTIC = "nondeterministic"  # the result depends on the process
    MODIFIED_INPUT = "modified-input"
    ALIASED_OUTPUT = "aliased-output"
    ILL_FORMED = "ill-formed"
    CHECKER_GAP = "checker-gap"
    BLOAT = "bloat"
    SLOW = "slow"

    @property
    def is_numeric(self) -> bool:
        """Whether arrays were compared: only the program tells two such bugs apart, because there is no message."""
        return self in _NUMERIC


_NUMERIC = frozenset(
    {
        Kind.WRONG_ARITY,
        Kind.WRONG_SHAPE,
        Kind.WRONG_DTYPE,
        Kind.WRONG_VALUE,
        Kind.SECOND_RUN_DIFFERS,
        Kind.NONDETERMINISTIC,
    }
)


class Component(StrEnum):
    """The component at fault."""

    TVM = "tvm"
    EXPORTER = "exporter"
    ONNXRUNTIME = "onnxruntime"
    PYTORCH = "pytorch"
    POCL = "pocl"  # the drivers have the names of `fuzzer.system.devices.KINDS`
    LAVAPIPE = "lavapipe"
    ENVIRONMENT = "environment"  # the machine failed: full disk, no compiler, no memory; no component is at fault


@dataclass(frozen=True, slots=True)
class WorstElement:
    """The element that is furthest outside its tolerance, with the terms of the tolerance (`oracles.tolerance`).

    `index` is its position in the output. `truth` is None for integers, booleans and comparisons bit for bit.
    """

    index: tuple[int, ...]
    expected: float
    actual: float
    tolerance: float
    envelope: float
    truth: float | None = None


PYTORCH, OTHER_LANES, BASE = "PyTorch", "the other lanes", "the base"
"""Values of `against`."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One output that differs from the output it is compared with. `expected` and `actual` are text for a reader.

    output           the position of the output
    elements         how many elements the output has
    wrong            how many of them differ by more than is allowed
    ill_conditioned  how many of them are not compared
    wide             how many of the others have a tolerance that reaches the size of the number
    against          whose result was expected: PyTorch's, that of the lane's first run, that of the plain sibling
    by               what the lane does and its sibling does not: "pipeline zero", "ScriptRoundTrip", "library"
    also             what else is wrong with the output: "float32 instead of int64". Where the shape is wrong,
                     `elements` and `wrong` are of the part that both shapes have
    """

    output: int
    expected: str
    actual: str
    worst: WorstElement | None = None
    elements: int = 0
    wrong: int = 0
    ill_conditioned: int = 0
    against: str = PYTORCH
    by: str = ""
    wide: int = 0
    also: str = ""


@dataclass(frozen=True, slots=True)
class SideEffect:
    """What the lane does to its caller's memory, and PyTorch does not.

    modified  the inputs that it changed
    aliases   outputs (by position) that share memory with an input (by name)
    """

    modified: tuple[str, ...] = ()
    aliases: tuple[tuple[int, str], ...] = ()


class Quantity(StrEnum):
    """What a lane may need too much of."""

    CONSTANTS = "bytes of constants"
    LIBRARY = "bytes of library"
    MEMORY = "bytes of memory"
    TIME = "CPU seconds of compilation"


@dataclass(frozen=True, slots=True)
class Excess:
    """A quantity that is larger than a lane may need. `allowed` is derived from what was measured of `against`."""

    quantity: Quantity
    measured: float
    allowed: float
    against: str


Evidence = Raised | Died | TimedOut | Mismatch | IllFormed | Mutant | SideEffect | Excess | MemoryAccess


@dataclass(frozen=True, slots=True)
class Finding:
    """What an oracle reports: a kind of failure of one component in one lane, the stage, and the evidence."""

    kind: Kind
    component: Component
    lane: LaneSpec
    stage: Stage
    evidence: Evidence


Oracle = Callable[[Case, Outcomes], Iterator[Finding]]


def component_of(lane: LaneSpec, stage: Stage) -> Component:
    """Return the component whose code runs in a stage of a lane.

    The stage `verify` folds the constants of an exported ONNX file, so it belongs to the exporter.
    """
    if is_reference_of_file(lane):
        return Component.ONNXRUNTIME
    if stage in (Stage.EXPORT, Stage.VERIFY):
        return Component.EXPORTER
    if is_reference(lane) or stage in (Stage.START, Stage.RENDER):
        return Component.PYTORCH
    return Component.ONNXRUNTIME if is_other_reader(lane) else Component.TVM


OnnxFile = tuple[Importer, int | None, bool]
"""An exported file: its exporter, its opset, None where the exporter chooses it, and whether it leaves sizes open."""


def onnx_file_of(lane: LaneSpec) -> OnnxFile:
    """Which exported file the lane reads. The exporter may be wrong in the one with open sizes alone."""
    return lane.importer, lane.opset, lane.symbolic


def exported_program_of(lane: LaneSpec) -> Importer | None:
    """Which program of torch.export the lane reads: the decomposed one, the raw one, or None."""
    return lane.importer.program


def runs_exported_program(lane: LaneSpec) -> bool:
    """Whether the lane is PyTorch's own run of an exported program, which decides whether the program is right."""
    return is_reference(lane) and exported_program_of(lane) is not None


def is_other_reader(lane: LaneSpec) -> bool:
    """Whether the lane is a reader other than TVM, which decides whether an exported file is right."""
    return lane.engine in (Engine.ONNXRUNTIME, Engine.ONNX_REFERENCE)
