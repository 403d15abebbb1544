"""An exported ONNX file gives the model's results.

onnxruntime reads every file. Where it disagrees with PyTorch, two more readers run the file: onnxruntime at its other
optimisation level, and the interpreter of the onnx package.

If any reader agrees with PyTorch, the file is right, and a wrong result of onnxruntime is onnxruntime's fault. If none
does, the exporter wrote another function. What TVM computes from a wrong file is not judged: no right result is known
for it.
"""

from __future__ import annotations

from collections.abc import Iterator

from generators.graph import Case
from oracles.compare import judge
from oracles.finding import Component, Finding, Kind, Mismatch, is_other_reader, onnx_file_of
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Outcomes, Ran, Stage
from oracles.reference import expected


def against_onnxruntime(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    verdicts = _verdicts(outcomes)
    good_files = {onnx_file_of(lane) for lane, found in verdicts.items() if found is None}
    for lane, found in verdicts.items():
        component = Component.ONNXRUNTIME if onnx_file_of(lane) in good_files else Component.EXPORTER
        if found and lane.engine is Engine.ONNXRUNTIME:
            kind, evidence = found
            yield Finding(kind, component, lane, Stage.RUN, evidence)


def disputed_files(outcomes: Outcomes) -> tuple[LaneSpec, ...]:
    """Return the lanes of onnxruntime that disagree with PyTorch and whose file no other reader has run yet."""
    read = {onnx_file_of(lane) for lane in outcomes if lane.engine is Engine.ONNX_REFERENCE}
    return tuple(lane for lane, found in _verdicts(outcomes).items() if found and onnx_file_of(lane) not in read)


def _verdicts(outcomes: Outcomes) -> dict[LaneSpec, tuple[Kind, Mismatch] | None]:
    """What is wrong with each reader's result, None where it is right; empty where there is no full reference."""
    right = expected(outcomes)
    readers = {lane: out.outputs for lane, out in outcomes.items() if isinstance(out, Ran) and is_other_reader(lane)}
    return {lane: judge(outputs, right) for lane, outputs in readers.items()} if right is not None else {}
