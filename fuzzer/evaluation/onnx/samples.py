"""ONNX's own node tests."""

from __future__ import annotations

from pathlib import Path

from fuzzer.cases import expected_results
from fuzzer.evaluation.onnx.allow_list import compared
from fuzzer.evaluation.sample_source import SampleSource
from fuzzer.evaluation.status import Status, Verdict, by_oracles
from oracles.finding import Finding
from oracles.lane import LaneSpec
from oracles.outcome import FAILURES, Outcomes, Ran, why_no_result

WHY_LENGTH = 300


def _judge(folder: Path, lane: LaneSpec, outcomes: Outcomes, finding: Finding | None) -> Verdict:
    """The results that the test has are right, and its file is valid: a lane that does not run it has failed."""
    outcome = outcomes[lane]
    if isinstance(outcome, Ran):
        why = expected_results.difference(outcome.outputs, expected_results.read(folder))
        return (Status.WRONG, why) if why else (Status.SUPPORTED, "")
    if isinstance(outcome, FAILURES):
        return Status.FAILED, why_no_result(outcome)[:WHY_LENGTH]
    return by_oracles(outcome, finding, judged=True)


SAMPLES = SampleSource(
    title="ONNX's node tests",
    owner="ONNX",
    package="onnx",
    right="the results that the test expects",
    lasts="half a minute for all operators",
    child="fuzzer.children.node_tests",
    most=None,
    which=1,
    lanes="relax-onnx-model-llvm",
    judge=_judge,
    own_results=True,
    allow_list=compared,
)
