"""A finding: what an oracle says went wrong, whose fault it is, and the evidence, as types."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from generators.graph import Case
from oracles.lane import Engine, Importer, LaneSpec
from oracles.outcome import Died, IllFormed, Mutant, Outcomes, Raised, Stage, TimedOut


class Kind(StrEnum):
    DIED = "died"
    TIMED_OUT = "timed-out"
    OUT_OF_MEMORY = "out-of-memory"
    INTERNAL_ERROR = "internal-error"
    REJECTED = "rejected"
    WRONG_ARITY = "wrong-arity"
    WRONG_SHAPE = "wrong-shape"
    WRONG_DTYPE = "wrong-dtype"
    WRONG_VALUE = "wrong-value"
    UNSTABLE = "second-run-differs"
    NONDETERMINISTIC = "nondeterministic"  # another process, another result
    MODIFIED_INPUT = "modified-input"
    ALIASED_OUTPUT = "aliased-output"
    ILL_FORMED = "ill-formed"
    CHECKER_GAP = "checker-gap"
    BLOAT = "bloat"
    SLOW = "slow"

    @property
    def is_numeric(self) -> bool:
        """Seen by comparing arrays: nothing but the program itself tells two such bugs apart."""
        return self in _NUMERIC


_NUMERIC = frozenset(
    {
        Kind.WRONG_ARITY,
        Kind.WRONG_SHAPE,
        Kind.WRONG_DTYPE,
        Kind.WRONG_VALUE,
        Kind.UNSTABLE,
        Kind.NONDETERMINISTIC,
    }
)


class Component(StrEnum):
    TVM = "tvm"
    EXPORTER = "exporter"
    ONNXRUNTIME = "onnxruntime"
    PYTORCH = "pytorch"
    ENVIRONMENT = "environment"  # disk full, no compiler, no memory for anyone: nobody's bug


@dataclass(frozen=True, slots=True)
class WorstElement:
    """The element that is furthest outside its tolerance, and what the tolerance is made of (DESIGN section 5)."""

    index: tuple[int, ...]
    expected: float
    actual: float
    tolerance: float
    envelope: float
    truth: float | None = None


PYTORCH = "PyTorch"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One output that is not what it is held against. `expected` and `actual` are for people: types, or counts.

    against  whose result was expected: PyTorch's, the lane's own first run's, a sibling lane's
    by       what the lane does that its sibling does not: "pipeline zero", "ScriptRoundTrip", "library"
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


@dataclass(frozen=True, slots=True)
class SideEffect:
    """What the lane does to its caller's memory and PyTorch does not: inputs changed, outputs that share memory."""

    modified: tuple[str, ...] = ()
    aliases: tuple[tuple[int, str], ...] = ()


class Quantity(StrEnum):
    CONSTANTS = "bytes of constants"
    LIBRARY = "bytes of library"
    MEMORY = "bytes of memory"
    TIME = "CPU seconds of compilation"


@dataclass(frozen=True, slots=True)
class Excess:
    """More than a lane may need. `allowed` is what was measured of `against`, with room to spare."""

    quantity: Quantity
    measured: float
    allowed: float
    against: str


Evidence = Raised | Died | TimedOut | Mismatch | IllFormed | Mutant | SideEffect | Excess


@dataclass(frozen=True, slots=True)
class Finding:
    kind: Kind
    component: Component
    lane: LaneSpec
    stage: Stage
    evidence: Evidence


Oracle = Callable[[Case, Outcomes], Iterator[Finding]]


def component_of(lane: LaneSpec, stage: Stage) -> Component:
    """Whose code runs in a stage of a lane. `verify` folds the constants of an exported ONNX file."""
    if stage in (Stage.EXPORT, Stage.VERIFY):
        return Component.EXPORTER
    if lane.engine is Engine.TORCH or stage in (Stage.START, Stage.RENDER):
        return Component.PYTORCH
    return Component.ONNXRUNTIME if is_onnx_reader(lane) else Component.TVM


def imports_onnx(lane: LaneSpec) -> bool:
    return lane.importer.is_onnx


def onnx_file_of(lane: LaneSpec) -> tuple[Importer, int | None]:
    """Which exported file the lane reads."""
    return lane.importer, lane.opset


def exported_program_of(lane: LaneSpec) -> Importer | None:
    """Which of torch.export's programs the lane reads: the decomposed one, the raw one, or none."""
    if not lane.importer.is_exported:
        return None
    return Importer.EXPORT_RAW if lane.importer is Importer.EXPORT_RAW else Importer.EXPORT


def runs_exported_program(lane: LaneSpec) -> bool:
    """PyTorch's own run of an exported program, whose word says whether the program is right."""
    return lane.engine is Engine.TORCH and exported_program_of(lane) is not None


def is_onnx_reader(lane: LaneSpec) -> bool:
    """A lane whose word says whether an exported file is right."""
    return lane.engine in (Engine.ONNXRUNTIME, Engine.ONNX_REFERENCE)
