"""A lab for tests: it runs lanes without any compiler. All results are right, except where a test gives others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import fakes
import numpy as np

from fuzzer.isolate.reports import SHOWS, SanitizerReport, ScriptRun
from generators.graph import Case
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Outcome, Ran, Result

WrongOutcome = Callable[[Case, LaneSpec, Sequence[LaneSpec]], Outcome | None]
"""The outcome of a TVM lane for a case, when it runs together with these lanes; None: its result is right."""


class FakeLab:
    """A lab whose TVM lanes have the outcomes that `wrong_outcome` gives.

    file      the ONNX file of every case
    ran       the runs, in order: the operators of the case, and the TVM lanes as they are named
    fresh     the numbers of the runs in fresh children
    examined  the sanitizer runs, in order: the operators of the case, and the lane
    """

    def __init__(
        self, wrong_outcome: WrongOutcome, file: bytes = b"", reports: tuple[SanitizerReport, ...] = ()
    ) -> None:
        self._wrong_outcome, self._file, self._reports = wrong_outcome, file, reports
        self.versions = {"tvm": "0.27.0"}
        self.cpu_seconds = 0.0
        self.ran: list[tuple[tuple[str, ...], tuple[LaneSpec, ...]]] = []
        self.fresh: list[int] = []
        self.examined: list[tuple[tuple[str, ...], LaneSpec]] = []

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        right = tuple(fakes.expect([1.0, -2.0]) for _ in case.graph.outputs)
        outcomes: dict[LaneSpec, Outcome] = {**fakes.references(*right), **fakes.references_of_onnx(*right)}
        outcomes |= {lane: fakes.correct(right) for lane in lanes if lane not in outcomes}
        named = [fakes.as_named(lane) for lane in lanes]
        self.ran.append((case.graph.ops, tuple(dict.fromkeys(lane for lane in named if lane.engine is Engine.TVM))))
        for lane in lanes:
            if lane.engine is Engine.ONNX_FILE:
                outcomes[lane] = Ran((np.frombuffer(self._file, np.uint8),))
            if lane.engine is Engine.TVM and (wrong := self._wrong_outcome(case, fakes.as_named(lane), named)):
                outcomes[lane] = wrong
        return Result({lane: outcomes[lane] for lane in lanes}, cpu_seconds=1.0)

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        self.fresh.append(len(self.ran))
        return self.run(case, lanes)

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        return ScriptRun(SHOWS)

    def examine(self, case: Case, lane: LaneSpec) -> tuple[SanitizerReport, ...]:
        self.examined.append((case.graph.ops, lane))
        return self._reports
