"""Values for the one part of `repro.py` that judges results: their number, shapes, dtypes and values.

Every script that has results ends with it, whatever the finding is about: what is mended may be wrong in another way.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from fuzzer.report import repro_lane
from fuzzer.report.script_source import NOTHING, Source, joined, listed, literal_of, quoted, short_number, source
from generators.dialect import dialect_named
from generators.graph import Case, DType
from generators.onnx.kernels import runs_in_evaluator, runs_in_onnxruntime
from oracles.finding import Finding, Mismatch, WorstElement
from oracles.lane import returns_gradients
from oracles.memory_access import Access, MemoryAccess
from oracles.outcome import IllFormed

TOLERANCE = {DType.FLOAT64: 1e-7, DType.FLOAT32: 1e-5, DType.FLOAT16: 1e-2, DType.BFLOAT16: 5e-2}
"""By the least precise dtype of the case: the tolerances that TVM's own tests use for operators."""


class Against(StrEnum):
    """What results are compared with: expected values, the dtypes and shapes alone, or nothing, because the script ends
    before there are results."""

    VALUES = "values"
    TYPES = "types"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Element:
    """The element that the finding is about. `differs`: whether it is wrong, as an expression of `results`. `place`:
    where it is, in words. `measured`: whether its tolerance was measured."""

    differs: Source
    place: Source
    measured: bool


@dataclass(frozen=True, slots=True)
class Judge:
    """How the script judges results.

    expected  the expression of what is expected: the values, or the list of dtypes and shapes
    differs   expressions, one of which holds where the values of `got` and `want` differ, two arrays of one shape
    whose     whose results are expected, in words
    late      whether the expected values are computed after TVM's: then a failure shows without their reference
    element   is compared on its own: its tolerance was measured, or the script has no other values
    """

    against: Against
    expected: Source = NOTHING
    differs: tuple[Source, ...] = ()
    whose: Source = NOTHING
    late: bool = False
    element: Element | None = None


NO_RESULTS = Judge(Against.NOTHING)


def judge(finding: Finding, case: Case, whose: Source) -> Judge:
    """`whose`: who computes the expected results, in words."""
    if not repro_lane.gives_results(finding):
        return NO_RESULTS
    if repro_lane.compares_two_lanes(finding):
        plain = source("{}()", repro_lane.RUN_PLAIN)
        return Judge(Against.VALUES, plain, _differs(finding, case, 0.0), source("the plain lane"))
    dialect, worst = dialect_named(finding.lane.dialect), _worst(finding)
    if dialect.module is not None:
        known = _known(worst, finding) if worst else None
        return Judge(Against.TYPES, _types(case), whose=source("the definition"), element=known)
    measured = worst is not None and worst.truth is not None and worst.tolerance > 0
    allowed = max(least_precise(case), worst.tolerance if worst and measured else 0.0)
    late = dialect.is_file and _is_late(finding)
    element = _measured(worst, finding) if worst and measured else None
    return Judge(Against.VALUES, source("expected"), _differs(finding, case, allowed), whose, late, element)


def is_evaluated(finding: Finding, case: Case) -> bool:
    """Whether the evaluator of the onnx package computes what is expected of an ONNX file, and not onnxruntime. It does
    where onnxruntime does not run the model. It also does where the script has no other need for onnxruntime, as after
    an error, unless the evaluator does not know the operators."""
    if not dialect_named(finding.lane.dialect).is_file:
        return False
    return not runs_in_onnxruntime(case.bound) or (_is_late(finding) and runs_in_evaluator(case.bound))


def least_precise(case: Case) -> float:
    """The tolerance of TVM's own tests for the least precise dtype of the case."""
    dtypes = {value.type.dtype for value in case.graph.values()}
    return max((TOLERANCE[dtype] for dtype in dtypes if dtype in TOLERANCE), default=1e-7)


def _worst(finding: Finding) -> WorstElement | None:
    return finding.evidence.worst if isinstance(finding.evidence, Mismatch) else None


def _is_late(finding: Finding) -> bool:
    """Whether the failure shows, and is printed, before results are compared."""
    match finding.evidence:
        case IllFormed(follows=follows):
            return not follows
        case MemoryAccess(access=access):
            return access is Access.WRITE
        case evidence:
            return not isinstance(evidence, Mismatch)


def _differs(finding: Finding, case: Case, allowed: float) -> tuple[Source, ...]:
    """Integers and booleans must be equal. Of an output with ill-conditioned elements, only the element that the
    finding is about is compared."""
    relative, absolute = short_number(least_precise(case) if allowed else 0.0, 6), short_number(allowed, 6)
    exact = source("not np.array_equal(got, want)")
    close = source(
        'not np.allclose(got.astype("float64"), want.astype("float64"), {}, {}, equal_nan=True)', relative, absolute
    )
    types = () if returns_gradients(finding.lane) else case.bound.output_types
    floats = {type.dtype.is_float for type in types} or {True}
    both = (source('want.dtype.kind in "biu" and {}', exact), close)
    differs = both if len(floats) > 1 else (close,) if True in floats else (exact,)
    evidence = finding.evidence
    if isinstance(evidence, Mismatch) and evidence.ill_conditioned:
        return tuple(source("place != {} and {}", evidence.output, each) for each in differs)
    return differs


def _types(case: Case) -> Source:
    return listed(source("({}, {})", quoted(type.dtype), literal_of(type.sizes)) for type in case.bound.output_types)


def _measured(worst: WorstElement, finding: Finding) -> Element:
    at = _at(worst, finding)
    differs = source("not abs(float(results{}) - float(expected{})) <= {}", at, at, short_number(worst.tolerance, 4))
    return Element(differs, quoted(_place(worst, finding)), measured=True)


def _known(worst: WorstElement, finding: Finding) -> Element:
    """The script of a module knows one number: what the definitions of the operators give there."""
    at, right = _at(worst, finding), literal_of(worst.expected)
    if worst.tolerance > 0:
        differs = source("not abs(float(results{}) - {}) <= {}", at, right, short_number(worst.tolerance, 4))
    else:
        differs = source("not np.array_equal(results{}, {}, equal_nan=True)", at, right)
    words = f"{_place(worst, finding)}: {worst.expected} is expected, by the definitions of the operators"
    return Element(differs, quoted(words), measured=worst.tolerance > 0)


def _at(worst: WorstElement, finding: Finding) -> Source:
    assert isinstance(finding.evidence, Mismatch)
    index = joined(", ", map(literal_of, worst.index)) if worst.index else source("()")
    return source("[{}][{}]", finding.evidence.output, index)


def _place(worst: WorstElement, finding: Finding) -> str:
    assert isinstance(finding.evidence, Mismatch)
    return f"result {finding.evidence.output} is wrong at {list(worst.index)}"
