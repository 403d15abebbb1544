"""A fake compiler whose lanes are wrong where a test says so, for the search for blame without TVM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import fakes
import numpy as np
from graphs_by_hand import Call, case_of

from fuzzer.signature import signature_of
from fuzzer.triage.blame.context import BlameContext
from generators.graph import Array, Case
from oracles.finding import Finding
from oracles.judge import judge_all
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Facts, Outcome, Ran, Result
from oracles.trace import PassRun, Trace

LANE = fakes.TVM
PASSES = [PassRun("LegalizeOps", False, True, True), PassRun("FuseOps", True, True, True)]
CHAIN: list[Call] = [("v0", "neg", "x0"), ("v1", "exp", "v0"), ("v2", "neg", "v1"), ("v3", "tanh", "v2")]

Sins = Callable[[LaneSpec, tuple[str, ...]], set[str]]
"""(lane, names of the outputs) -> those of them that it gets wrong."""


def chain(count: int = 4) -> Case:
    return case_of({"x0": "float32[2]"}, CHAIN[:count], CHAIN[count - 1][0])


@dataclass
class Compiler:
    """`passes` are those of its pipeline. What PyTorch gives is always [1, -2]."""

    sins: Sins
    passes: Sequence[PassRun] = ()
    ran: list[LaneSpec] = field(default_factory=list)

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        names = case.graph.outputs
        right = tuple(fakes.expect([1.0, -2.0]) for _ in names)
        outcomes: dict[LaneSpec, Outcome] = {}
        for lane in lanes:
            if lane.engine is Engine.TORCH:
                outcomes[lane] = dict(fakes.references(*right)).get(lane, Ran(tuple(r.eager for r in right)))
            else:
                self.ran.append(lane)
                outcomes[lane] = self._compiled(lane, names)
        return Result(outcomes)

    def _compiled(self, lane: LaneSpec, names: tuple[str, ...]) -> Outcome:
        wrong = self.sins(lane, names)
        outputs: tuple[Array, ...] = tuple(
            np.array([5.0, 5.0] if name in wrong else [1.0, -2.0], np.float32) for name in names
        )
        return Ran(outputs, outputs, Facts(trace=self._trace(lane)) if lane.tracing else Facts())

    def _trace(self, lane: LaneSpec) -> Trace:
        assert lane.tracing is not None
        limit, count, entries = lane.tracing.limit, 0, []
        for each in self.passes:
            runs = not each.optional or limit is None or count < limit
            count += each.optional
            entries.append(replace(each, ran=runs, changed=each.changed and runs))
        return Trace(tuple(entries))

    def finding(self, case: Case) -> Finding:
        lanes = (fakes.TORCH, fakes.TORCH_F64, fakes.TORCH_ENVELOPE, LANE)
        found = list(judge_all(case, self.run(case, lanes).outcomes))
        self.ran.clear()
        return found[0]

    def context(self, case: Case, most: int = 25) -> BlameContext:
        finding = self.finding(case)
        return BlameContext(self.run, case, finding, signature_of(finding), most)


def runs(lane: LaneSpec, number: int) -> bool:
    """Whether more than `number` of the passes that can be left out run."""
    return lane.tracing is None or lane.tracing.limit is None or lane.tracing.limit > number
