"""The false alarm rate of the numeric comparison: how often it calls right implementations wrong (`fuzz bench
honesty`).

Random cases run in lanes that are right by definition, and are judged as TVM's lanes are. Each alarm is an error of the
comparison, or a bug of the implementation. docs/tolerance.md lists the alarms that were investigated.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
import numpy as np

from fuzzer.campaign.cases.cases import random_cases
from fuzzer.campaign.plan.settings import Settings
from fuzzer.isolate.executor import Executor
from fuzzer.lanes import HONEST_LANES, ONNXRUNTIME, matching, readers_of
from fuzzer.lanes import lanes_of as dialect_lanes
from generators.dialect import dialect_named
from generators.dialect_names import DEFAULT, NAMES
from generators.graph import Case, Invalid, holds_floats
from oracles.against_export import disputed_programs
from oracles.against_torch import comparable_results, judge
from oracles.finding import Mismatch
from oracles.lane import LaneSpec
from oracles.outcome import Outcomes, Ran, Result
from oracles.reference import Expected, expected, witnesses_disagree

TVM, FILE, PROGRAM = "tvm", "exported file", "exported program"
"""What a campaign would blame for an alarm. Only the first would be a finding of TVM."""

EVERY = {"threads": 10, "decomposed": 20, "inductor": 200}
"""Expensive lanes run every n-th case only, unless they are named on the command line. The others run all cases."""


@dataclass(frozen=True, slots=True)
class FalseAlarmOptions:
    count: int = 200
    seed: int = 0
    first: int = 0
    lanes: str = "*"
    workers: int = 1
    dialect: str = DEFAULT


class Alarm(msgspec.Struct, frozen=True, rename={"message": "told"}):
    """`ratio` is the error in tolerances; None where it is not defined. `blamed` is what a campaign would blame.
    `fuzz bench honesty --json` prints it with the field names of earlier versions."""

    test: int
    lane: str
    blamed: str
    kind: str
    ops: tuple[str, ...]
    dtype: str
    message: str
    ratio: float | None


@dataclass(slots=True)
class FalseAlarmReport:
    """The alarms and counts of a run. `next_test` is the test at which another run continues."""

    cases: int = 0
    unjudged: int = 0
    disputed: int = 0
    """The cases of ONNX among the unjudged ones whose witness does not agree."""
    next_test: int = 0
    alarms: list[Alarm] = field(default_factory=list)
    results: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    elements: int = 0
    ill_conditioned: int = 0
    compared: int = 0
    """The number of comparisons over all lanes. `elements` counts elements of the references, `ill_conditioned` those
    that are not compared."""
    cpu_seconds: float = 0.0

    @property
    def against_tvm(self) -> int:
        return self._against(TVM)

    def _against(self, blamed: str) -> int:
        return sum(alarm.blamed == blamed for alarm in self.alarms)

    def add(self, number: int, case: Case, result: Result) -> list[Alarm]:
        """Take in the result of a test; return its alarms."""
        self.cases += 1
        self.cpu_seconds += result.cpu_seconds
        right = expected(result.outcomes)
        if right is None:
            self.unjudged += 1
            self.disputed += witnesses_disagree(result.outcomes)
            return []
        self.elements += sum(r.eager.size for r in right)
        self.ill_conditioned += sum(int(np.count_nonzero(r.ill)) for r in right)
        for lane, outcome in result.outcomes.items():
            if lane in HONEST_LANES:
                (self.results if isinstance(outcome, Ran) else self.refused)[lane.name] += 1
                self.compared += isinstance(outcome, Ran) * sum(int(np.count_nonzero(~r.ill)) for r in right)
        alarms = list(alarms_of(number, case, result.outcomes, right))
        self.alarms += alarms
        return alarms

    def summary(self) -> dict[str, object]:
        lanes = sum(self.results.values())
        return {
            "cases": self.cases,
            "unjudged": self.unjudged,
            "disputed": self.disputed,
            "results": dict(self.results),
            "refused": dict(self.refused),
            "elements": self.elements,
            "compared": self.compared,
            "ill_conditioned_share": round(self.ill_conditioned / max(self.elements, 1), 6),
            "alarms_against_tvm": self.against_tvm,
            "alarms_against_the_file": self._against(FILE),
            "alarms_against_the_program": self._against(PROGRAM),
            "alarm_rate": round(self.against_tvm / max(lanes, 1), 8),
            "cpu_seconds": round(self.cpu_seconds, 1),
            "next_test": self.next_test,
        }


def alarms_of(number: int, case: Case, outcomes: Outcomes, right: tuple[Expected, ...]) -> Iterator[Alarm]:
    """The alarms of a test. TVM is blamed where a TVM lane with the same result would be. Where several lanes read the
    same wrong file or program, only the first gives an alarm."""
    held_against_tvm = comparable_results(outcomes)
    done: set[str] = set()
    for lane, outcome in outcomes.items():
        if lane not in HONEST_LANES or not isinstance(outcome, Ran):
            continue
        if found := judge(outcome.outputs, right):
            kind, evidence = found
            blamed = TVM if lane in held_against_tvm else FILE if lane.importer.row.reads.is_exported_file else PROGRAM
            if blamed in done and blamed != TVM:
                continue
            done.add(blamed)
            dtype = str(right[evidence.output].eager.dtype) if evidence.output < len(right) else ""
            what = f"output {evidence.output}: {evidence.actual} instead of {evidence.expected}"
            ratio = _ratio(evidence, right)
            yield Alarm(number, lane.name, blamed, str(kind), case.graph.ops, dtype, what, ratio)


def _ratio(evidence: Mismatch, right: tuple[Expected, ...]) -> float | None:
    """The error of the worst element, in tolerances; None where it is not defined."""
    worst = evidence.worst
    if worst is None or worst.tolerance <= 0 or not np.isfinite(worst.actual):
        return None
    want = right[evidence.output]
    truth = float(want.truth[worst.index])
    return abs(worst.actual - truth) / worst.tolerance if holds_floats(want.eager) else None


def lanes_of(options: FalseAlarmOptions, number: int) -> tuple[LaneSpec, ...]:
    """The references and the lanes of a test. Raise `Invalid` where no lane matches."""
    if options.dialect not in NAMES:
        raise Invalid(f"no dialect {options.dialect!r}; there are {' and '.join(NAMES)}")
    of_dialect = [lane for lane in HONEST_LANES if lane.dialect == options.dialect]
    chosen: Sequence[LaneSpec] = matching(of_dialect, options.lanes)
    if not chosen:
        raise Invalid(f"no honest lane matches {options.lanes!r}: {', '.join(lane.name for lane in of_dialect)}")
    if options.lanes == "*":
        chosen = [lane for lane in chosen if number % EVERY.get(lane.variant, 1) == 0]
    reader = (ONNXRUNTIME,) if any(lane.importer.row.reads.is_exported_file for lane in chosen) else ()
    return (*dialect_lanes(options.dialect).judges, *reader, *chosen)


OnResult = Callable[[int, Case, Result], None]


def each_result(executor: Executor, options: FalseAlarmOptions, on_result: OnResult, stop: threading.Event) -> int:
    """Runs the options's cases, `on_result` one at a time; gives the number of the first test that was not run."""
    draw = random_cases(_drawn_from(options), options.seed)
    numbers, lock = itertools.count(options.first), threading.Lock()
    end = options.first + options.count
    left = end

    def work() -> None:
        nonlocal left
        while True:
            with lock:
                number = next(numbers)
            if number >= end:
                return
            if stop.is_set():
                with lock:
                    left = min(left, number)
                return
            case = draw(number)
            assert case is not None, "random cases do not end"
            result = _judged(executor, case, lanes_of(options, number))
            with lock:
                on_result(number, case, result)

    with ThreadPoolExecutor(options.workers, "honest") as pool:
        for worker in [pool.submit(work) for _ in range(options.workers)]:
            worker.result()
    return left


def _drawn_from(options: FalseAlarmOptions) -> Settings:
    return Settings(Path(), options.seed, ops={options.dialect: dialect_named(options.dialect).drawn()})


def _judged(executor: Executor, case: Case, lanes: tuple[LaneSpec, ...]) -> Result:
    """Run a case as a campaign does: where a lane that decomposes disagrees, PyTorch also runs the exported program.
    ONNX files get no further readers, because the lanes here are their readers."""
    result = executor.run(case, lanes)
    if doubts := disputed_programs(result.outcomes):
        more = executor.run(case, [reader for doubt in doubts for reader in readers_of(doubt)])
        spent = result.cpu_seconds + more.cpu_seconds
        result = replace(result, outcomes={**result.outcomes, **more.outcomes}, cpu_seconds=spent)
    return result


def run(
    executor: Executor, options: FalseAlarmOptions, tell: Callable[[Alarm], None], stop: threading.Event
) -> FalseAlarmReport:
    """Run the cases. It ends early, with the results so far, when `stop` is set."""
    report = FalseAlarmReport()

    def on_result(number: int, case: Case, result: Result) -> None:
        for alarm in report.add(number, case, result):
            tell(alarm)

    report.next_test = each_result(executor, options, on_result, stop)
    return report
