"""PyTorch's own samples (OpInfo)."""

from __future__ import annotations

from pathlib import Path

from fuzzer.evaluation.sample_source import SampleSource
from fuzzer.evaluation.status import Verdict, by_oracles
from oracles.against_torch import comparable_results
from oracles.finding import Finding
from oracles.lane import LaneSpec
from oracles.outcome import Outcomes


def _judge(folder: Path, lane: LaneSpec, outcomes: Outcomes, finding: Finding | None) -> Verdict:
    """The samples have no results of their own: PyTorch's are right."""
    return by_oracles(outcomes[lane], finding, judged=lane in comparable_results(outcomes))


SAMPLES = SampleSource(
    title="PyTorch's samples",
    owner="PyTorch",
    package="torch",
    right="PyTorch's result",
    lasts="a minute for all operators",
    child="fuzzer.children.samples",
    most=2,
    which=2,
    lanes="*",
    judge=_judge,
    own_results=False,
)
