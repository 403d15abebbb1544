"""Decide which exported ONNX files are right, and for which findings about them TVM is at fault.

No importer can correct a file that is wrong. So TVM is at fault only for a file that another reader has confirmed:
onnxruntime runs it, or the interpreter of the onnx package gives PyTorch's result. Only the interpreter accepts inputs
and outputs of bfloat16. It is as strict as the package's checker and onnxruntime together
(`fuzzer/lanes/onnx/other_readers.py`).

TVM is not at fault either for a wrong result that another reader gives too. A file in float16 prescribes where results
are rounded; onnxruntime computes such a file in float32, and so comes nearer to PyTorch than the file itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from generators.graph import Array
from oracles.compare import judge
from oracles.finding import Component, Finding, Kind, Mismatch, OnnxFile, is_other_reader, onnx_file_of
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Outcomes, Raised, Ran, why_no_result
from oracles.reference import Expected, expected, witness_of

INTERPRETER = "interpreter"
"""The variant of the reader that runs the onnx package's interpreter. The other reader is onnxruntime, optimising."""

_COSTS = (Kind.BLOAT, Kind.SLOW)
_WRONG_RESULTS = (Kind.WRONG_ARITY, Kind.WRONG_SHAPE, Kind.WRONG_DTYPE, Kind.WRONG_VALUE)


def blames_tvm_for_a_file(finding: Finding) -> bool:
    """Whether the finding blames TVM for what it does with an ONNX file."""
    return finding.component is Component.TVM and finding.lane.importer.row.reads.is_exported_file


def is_justified(finding: Finding, outcomes: Outcomes) -> bool:
    """Whether the finding is reported.

    It is, unless it blames TVM for an ONNX file that no other reader has confirmed, for a wrong result that another
    reader of the file gives too, or for the costs of a file that is another function than the model. The file of a case
    of ONNX is confirmed by onnxruntime and the witness together, whatever numbers they give.
    """
    if finding.component is Component.TVM and witness_of(outcomes) is not None:
        return isinstance(witness_of(outcomes), Ran)
    if not blames_tvm_for_a_file(finding):
        return True
    if finding.kind in _COSTS and _is_another_function(finding.lane, outcomes):
        return False
    return onnx_file_of(finding.lane) in confirmed_files(outcomes) and not _another_reader_agrees(finding, outcomes)


def confirmed_files(outcomes: Outcomes) -> frozenset[OnnxFile]:
    """Return the files that onnxruntime runs, or for which the onnx package's interpreter gives PyTorch's result."""
    right = expected(outcomes)
    return frozenset(
        onnx_file_of(lane)
        for lane, outputs in _readings(outcomes)
        if lane.engine is Engine.ONNXRUNTIME
        or (lane.variant == INTERPRETER and right is not None and judge(outputs, right) is None)
    )


def files_to_confirm(findings: Iterable[Finding], outcomes: Outcomes) -> tuple[LaneSpec, ...]:
    """Return one lane for each file that the other readers must run before these findings can be reported."""
    read = {onnx_file_of(lane) for lane in outcomes if lane.engine is Engine.ONNX_REFERENCE}
    known = confirmed_files(outcomes)
    lanes = {
        onnx_file_of(finding.lane): finding.lane
        for finding in findings
        if blames_tvm_for_a_file(finding)
        and (finding.kind in _WRONG_RESULTS or onnx_file_of(finding.lane) not in known)
    }
    return tuple(lane for file, lane in lanes.items() if file not in read)


def readings_of_its_file(lane: LaneSpec, outcomes: Outcomes) -> list[tuple[Array, ...]]:
    """The results of the readers that have run the ONNX file that the lane reads."""
    return [outputs for reader, outputs in _readings(outcomes) if onnx_file_of(reader) == onnx_file_of(lane)]


def refusal_of_its_file(lane: LaneSpec, outcomes: Outcomes) -> str:
    """The words of a reader that refuses the exported file on which the lane fails, where no reader runs it: TVM is not
    blamed for it. "" for all other lanes."""
    reads_file = lane.importer.row.reads.is_exported_file
    if not reads_file or not isinstance(outcomes[lane], Raised) or readings_of_its_file(lane, outcomes):
        return ""
    readers = (each for each in outcomes if is_other_reader(each) and onnx_file_of(each) == onnx_file_of(lane))
    refused = (each for each in readers if isinstance(outcomes[each], Raised))
    return next((why_no_result(outcomes[each]) for each in refused), "")


def _readings(outcomes: Outcomes) -> Iterator[tuple[LaneSpec, tuple[Array, ...]]]:
    for lane, outcome in outcomes.items():
        if is_other_reader(lane) and isinstance(outcome, Ran):
            yield lane, outcome.outputs


def _is_another_function(lane: LaneSpec, outcomes: Outcomes) -> bool:
    """Whether a reader of the lane's file gives another result than PyTorch."""
    right = expected(outcomes)
    return right is not None and any(judge(outputs, right) for outputs in readings_of_its_file(lane, outcomes))


def _another_reader_agrees(finding: Finding, outcomes: Outcomes) -> bool:
    """Whether a reader of the same file gives the lane's wrong result too."""
    right, ran = expected(outcomes), outcomes[finding.lane]
    if right is None or not isinstance(ran, Ran) or finding.kind not in _WRONG_RESULTS:
        return False
    readings = readings_of_its_file(finding.lane, outcomes)
    return any(_same_mistake(ran.outputs, outputs, right) for outputs in readings)


def _same_mistake(outputs: tuple[Array, ...], reading: tuple[Array, ...], right: tuple[Expected, ...]) -> bool:
    """Whether both results differ from PyTorch's in the same way.

    Wrong values count as the same where the reader is at least half as far off as the lane, to the same side.
    """
    found, other = judge(outputs, right), judge(reading, right)
    if found is None or other is None:
        return False
    (kind, evidence), (its_kind, its_evidence) = found, other
    if kind is not Kind.WRONG_VALUE:
        return (kind, evidence.output, evidence.actual) == (its_kind, its_evidence.output, its_evidence.actual)
    other_values = reading[evidence.output]
    same_place = its_kind is Kind.WRONG_VALUE and other_values.shape == outputs[evidence.output].shape
    return same_place and _as_far_off(evidence, other_values)


def _as_far_off(evidence: Mismatch, reading: Array) -> bool:
    worst = evidence.worst
    assert worst is not None, "a wrong value has a worst element"
    value = float(reading[worst.index])
    if not np.isfinite(worst.actual):
        return bool(np.array_equal(value, worst.actual, equal_nan=True))
    if not np.isfinite(worst.expected):
        return bool(np.isfinite(value))
    return abs(value - worst.actual) <= abs(worst.actual - worst.expected) / 2
