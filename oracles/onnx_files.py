"""Which exported ONNX files are right, and which findings about them are TVM's.

A file can be wrong in ways that its importer cannot mend, so TVM is to blame only for a file that another reader has
confirmed: onnxruntime runs it, or the interpreter of the onnx package gives PyTorch's result. The latter alone takes
inputs and outputs of bfloat16; it is as strict as the package's checker and onnxruntime together
(`fuzzer/lanes/onnx/other_readers.py`).

A result is not wrong where another reader gives the same one: a file in float16 says where it is rounded, and
onnxruntime, which computes in float32, is nearer to PyTorch than the file is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from generators.graph import Array
from oracles.against_torch import judge
from oracles.finding import Component, Finding, Kind, Mismatch, imports_onnx, is_onnx_reader, onnx_file_of
from oracles.lane import Engine, Importer, LaneSpec
from oracles.outcome import Outcomes, Ran
from oracles.reference import Expected, expected

File = tuple[Importer, int | None]

INTERPRETER = "interpreter"
"""The variant of the lane that runs the onnx package's own; that of the other one is onnxruntime when it optimises."""

_WRONG_RESULTS = (Kind.WRONG_ARITY, Kind.WRONG_SHAPE, Kind.WRONG_DTYPE, Kind.WRONG_VALUE)


def blames_tvm_for_a_file(finding: Finding) -> bool:
    """Whether TVM is blamed for what it makes of an ONNX file."""
    return finding.component is Component.TVM and imports_onnx(finding.lane)


def is_justified(finding: Finding, outcomes: Outcomes) -> bool:
    """Whether the finding may stand: it is not about a file, or other readers have confirmed the file, and none of them
    gives the lane's wrong result."""
    if not blames_tvm_for_a_file(finding):
        return True
    return onnx_file_of(finding.lane) in confirmed_files(outcomes) and not _shared(finding, outcomes)


def confirmed_files(outcomes: Outcomes) -> frozenset[File]:
    """The files that onnxruntime runs, and those that the onnx package's interpreter reads as PyTorch's model."""
    right = expected(outcomes)
    return frozenset(
        onnx_file_of(lane)
        for lane, outputs in _readings(outcomes)
        if lane.engine is Engine.ONNXRUNTIME
        or (lane.variant == INTERPRETER and right is not None and judge(outputs, right) is None)
    )


def files_to_confirm(findings: Iterable[Finding], outcomes: Outcomes) -> tuple[LaneSpec, ...]:
    """One lane for each file about which the other readers must be asked before these findings may stand."""
    read = {onnx_file_of(lane) for lane in outcomes if lane.engine is Engine.ONNX_REFERENCE}
    known = confirmed_files(outcomes)
    lanes = {
        onnx_file_of(finding.lane): finding.lane
        for finding in findings
        if blames_tvm_for_a_file(finding)
        and (finding.kind in _WRONG_RESULTS or onnx_file_of(finding.lane) not in known)
    }
    return tuple(lane for file, lane in lanes.items() if file not in read)


def _readings(outcomes: Outcomes) -> Iterator[tuple[LaneSpec, tuple[Array, ...]]]:
    for lane, outcome in outcomes.items():
        if is_onnx_reader(lane) and isinstance(outcome, Ran):
            yield lane, outcome.outputs


def _shared(finding: Finding, outcomes: Outcomes) -> bool:
    """Whether a reader of the same file is wrong as the lane is."""
    right, ran = expected(outcomes), outcomes[finding.lane]
    if right is None or not isinstance(ran, Ran) or finding.kind not in _WRONG_RESULTS:
        return False
    readings = [outputs for lane, outputs in _readings(outcomes) if onnx_file_of(lane) == onnx_file_of(finding.lane)]
    return any(_same_mistake(ran.outputs, outputs, right) for outputs in readings)


def _same_mistake(outputs: tuple[Array, ...], reading: tuple[Array, ...], right: tuple[Expected, ...]) -> bool:
    """Whether both are wrong, in the same respect, and in values the reader at least half as far off to the same
    side."""
    found, other = judge(outputs, right), judge(reading, right)
    if found is None or other is None:
        return False
    (kind, evidence), (its_kind, its_evidence) = found, other
    if kind is not Kind.WRONG_VALUE:
        return (kind, evidence.output, evidence.actual) == (its_kind, its_evidence.output, its_evidence.actual)
    return its_kind is Kind.WRONG_VALUE and _as_far_off(evidence, reading[evidence.output])


def _as_far_off(evidence: Mismatch, reading: Array) -> bool:
    worst = evidence.worst
    if worst is None:
        return False
    value = float(reading[worst.index])
    if not np.isfinite(worst.actual):
        return bool(np.array_equal(value, worst.actual, equal_nan=True))
    return abs(value - worst.actual) <= abs(worst.actual - worst.expected) / 2
