"""Checks a toolchain: runs one small case in all of its lanes, and judges it as any case."""

from __future__ import annotations

import time
from dataclasses import dataclass

import msgspec

from fuzzer.findings.headline import headline
from fuzzer.isolate.fleet import BackendKey, Fleet
from fuzzer.lanes import EVERY_TVM_LANE, needed
from fuzzer.toolchains.lanes import in_toolchain, runs_in
from fuzzer.toolchains.toolchain import Toolchain
from fuzzer.triage.reproduce import judged_run
from generators.builder import Builder
from generators.choice import NumpySource
from generators.graph import Case, DType, TensorType
from generators.random_graph import with_values
from generators.torch.motifs import call
from oracles.judge import judge_all
from oracles.lane import LaneSpec
from oracles.outcome import Broken, Died, Outcome, Raised, Skipped, TimedOut, Unsupported


class LaneCheck(msgspec.Struct, frozen=True, rename={"reason": "told"}):
    """`reason` is the error, or why the lane does not support the case; empty where the result is right. `--json`
    prints it with the field names of earlier versions."""

    lane: str
    passed: bool
    reason: str


@dataclass(frozen=True, slots=True)
class ToolchainReport:
    """`seconds` is the time that the zygote took to start, 0 where it ran already."""

    versions: dict[str, str]
    seconds: float
    lanes: tuple[LaneCheck, ...]

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.lanes)


def check(toolchain: Toolchain, fleet: Fleet) -> ToolchainReport:
    """Raise `EnvironmentMissing` where its zygote does not start."""
    known = case()
    of_its_dialect = (lane for lane in EVERY_TVM_LANE if lane.dialect == known.graph.dialect)
    lanes = [in_toolchain(lane, toolchain.name) for lane in of_its_dialect if runs_in(lane, toolchain)]
    references = dict.fromkeys(reference for lane in lanes for reference in needed(lane))
    began = time.monotonic()
    versions = fleet.backend(BackendKey(toolchain.name)).versions
    seconds = time.monotonic() - began
    outcomes = judged_run(fleet.run, known, (*references, *lanes)).outcomes
    objections = {finding.lane: headline(finding) for finding in reversed([*judge_all(known, outcomes)])}
    return ToolchainReport(
        versions, seconds, tuple(_judged(lane, outcomes[lane], objections.get(lane)) for lane in lanes)
    )


def _judged(lane: LaneSpec, outcome: Outcome, objection: str | None) -> LaneCheck:
    match outcome:
        case _ if objection:
            return LaneCheck(lane.name, False, objection)
        case Raised() | Died() | TimedOut() | Unsupported() | Broken():
            return LaneCheck(lane.name, False, type(outcome).__name__)
        case Skipped(reason=reason):
            return LaneCheck(lane.name, True, reason)
        case _:
            return LaneCheck(lane.name, True, "")


def case() -> Case:
    """relu(x @ w + b), which every release of TVM compiles, and which has a gradient."""
    b = Builder(NumpySource(0))
    x = b.fresh_input(TensorType(DType.FLOAT32, (2, 3)))
    call(b, "relu", call(b, "linear", x, b.param(DType.FLOAT32, 4, 3), b.param(DType.FLOAT32, 4)))
    return with_values(b, "check")
