"""An exported ONNX file says what the model says. Its readers are onnxruntime and, where that disagrees with PyTorch,
onnxruntime at its other optimisation level and the interpreter of the onnx package: a third opinion.

If any reader agrees with PyTorch, the file is right and onnxruntime's result is onnxruntime's fault. If none does, the
exporter wrote something else. What TVM makes of a wrong file is not judged: nobody knows what it should be.
"""

from __future__ import annotations

from collections.abc import Iterator

from generators.graph import Case
from oracles.against_torch import judge
from oracles.finding import Component, Finding, Kind, Mismatch, reads_onnx_only
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Outcomes, Ran, Stage
from oracles.reference import expected


def against_onnxruntime(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    verdicts = _verdicts(outcomes)
    good_file = None in verdicts.values()
    component = Component.ONNXRUNTIME if good_file else Component.EXPORTER
    for lane, found in verdicts.items():
        if found and lane.engine is Engine.ONNXRUNTIME:
            kind, evidence = found
            yield Finding(kind, component, lane, Stage.RUN, evidence)


def in_doubt(outcomes: Outcomes) -> bool:
    """Whether the other readers of the file should be asked: onnxruntime alone has spoken, and not as PyTorch."""
    verdicts = _verdicts(outcomes)
    asked = any(lane.engine is Engine.ONNX_REFERENCE for lane in outcomes)
    return not asked and any(verdicts.values())


def _verdicts(outcomes: Outcomes) -> dict[LaneSpec, tuple[Kind, Mismatch] | None]:
    """What is wrong with each reader's result; empty where PyTorch cannot judge."""
    right = expected(outcomes)
    readers = {lane: out.outputs for lane, out in outcomes.items() if isinstance(out, Ran) and reads_onnx_only(lane)}
    return {lane: judge(outputs, right) for lane, outputs in readers.items()} if right is not None else {}
