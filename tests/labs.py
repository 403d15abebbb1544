"""A lab for tests: it runs lanes without any compiler. All lanes are honest, except where the test says otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import fakes
import numpy as np

from fuzzer.isolate.reports import SHOWS, SanitizerReport, ScriptRun
from generators.graph import Case
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Outcome, Ran, Result

Lie = Callable[[Case, LaneSpec, Sequence[LaneSpec]], Outcome | None]
"""What a lane of TVM does with a case, in the company of these lanes; None where it is honest."""


class LyingLab:
    """`ran` are the runs: the operators of each case, and its lanes of TVM. `file` is the ONNX file of every case."""

    def __init__(self, lie: Lie, file: bytes = b"", reports: tuple[SanitizerReport, ...] = ()) -> None:
        self._lie, self._file, self._reports = lie, file, reports
        self.versions = {"tvm": "0.27.0"}
        self.cpu_seconds = 0.0
        self.ran: list[tuple[tuple[str, ...], tuple[LaneSpec, ...]]] = []
        self.examined: list[tuple[tuple[str, ...], LaneSpec]] = []

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        right = tuple(fakes.expect([1.0, -2.0]) for _ in case.graph.outputs)
        outcomes: dict[LaneSpec, Outcome] = dict(fakes.references(*right))
        outcomes |= {lane: fakes.correct(right) for lane in lanes if lane not in outcomes}
        self.ran.append((case.graph.ops, tuple(lane for lane in lanes if lane.engine is Engine.TVM)))
        for lane in lanes:
            if lane.engine is Engine.ONNX_FILE:
                outcomes[lane] = Ran((np.frombuffer(self._file, np.uint8),))
            if lane.engine is Engine.TVM and (lie := self._lie(case, lane, lanes)):
                outcomes[lane] = lie
        return Result({lane: outcomes[lane] for lane in lanes}, cpu_seconds=1.0)

    run_fresh = run

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        return ScriptRun(SHOWS)

    def examine(self, case: Case, lane: LaneSpec) -> tuple[SanitizerReport, ...]:
        self.examined.append((case.graph.ops, lane))
        return self._reports
