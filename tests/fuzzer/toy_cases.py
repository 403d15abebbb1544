"""What becomes of fifty cases of the toy and of as many mutants, as JSON. With `--tvm`, TVM compiles ten cases. It runs
in a copy of difftvm that has this dialect (`test_adding_dialect.py`)."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from records import record

from fuzzer.campaign.cases.cases import random_cases
from fuzzer.campaign.plan.settings import LaneMix, Settings
from fuzzer.children.validity import verdict
from fuzzer.findings.record import FindingRecord
from fuzzer.lanes import lanes_of
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.runners import runner_of
from fuzzer.report import issue, regression_test, repro
from fuzzer.report.area import area
from fuzzer.triage.eager_values import computed_values
from fuzzer.triage.reduce import reduce
from fuzzer.triage.reducers import Subject
from fuzzer.triage.reproduce import Reproduction
from generators import case_file
from generators.choice import NumpySource
from generators.dialect import dialect_named
from generators.graph import Array, Case
from generators.mutate import mutate
from oracles.finding import Finding, Kind
from oracles.judge import judge_all
from oracles.lane import LaneSpec
from oracles.outcome import Raised, Ran, Result, Stage

OWN = lanes_of("toy")
LANE = OWN.screening[0]


def drawn(count: int) -> list[Case]:
    settings = Settings(Path(), 1, LaneMix(), ops={"toy": dialect_named("toy").drawn()})
    return [case for case in map(random_cases(settings, 1), range(count)) if case is not None]


def run(case: Case, lanes: Sequence[LaneSpec]) -> Result:
    prepared = PreparedCase(case, Quiet())
    return Result({lane: runner_of(lane).run(prepared, lane, Quiet()) for lane in lanes})


def findings(case: Case, outcome: Ran | None = None) -> list[Finding]:
    """What the oracles find where the lane ends with this outcome; if None, as TVM does."""
    outcomes = run(case, (*OWN.references, *(() if outcome else (LANE,)))).outcomes
    return list(judge_all(case, {**outcomes, **({LANE: outcome} if outcome else {})}))


def with_a_bug(case: Case) -> Ran:
    """The results of a compiler that adds 1 to each total."""
    totals = {node.results[0].name for node in case.graph.nodes if node.op == "toy.total"}
    right = run(case, OWN.references[:1]).outcomes[OWN.references[0]]
    assert isinstance(right, Ran)
    named = zip(case.graph.outputs, right.outputs, strict=True)
    return Ran(tuple(array + (name in totals) for name, array in named))


def values_of(case: Case) -> Mapping[str, Array]:
    return computed_values(run, case)


def without_tvm() -> dict[str, object]:
    cases = drawn(50)
    mutants = [mutate(NumpySource(2, number), case) for number, case in enumerate(cases)]
    for case in (*cases, *mutants):
        assert case_file.decode(*case_file.encode(case)).graph == case.graph
    wrong = [case for case in cases if findings(case, with_a_bug(case))]
    large = max(wrong, key=lambda case: len(case.graph.nodes))
    small = reduce(
        Subject(large, LANE, values_of(large)),
        lambda case, lane: Reproduction(bool(findings(case, with_a_bug(case)))),
        values_of,
    )
    return {
        "verdicts": Counter(verdict(each)[0] for case in (*cases, *mutants) for each in case.instances()),
        "operators": sorted({op for case in (*cases, *mutants) for op in case.graph.ops}),
        "calls before": len(large.graph.nodes),
        "calls after": list(small.case.graph.ops),
        "kinds": sorted({each.kind for case in wrong for each in findings(case, with_a_bug(case))}),
        **reported(record(large, Kind.INTERNAL_ERROR, LANE, Raised(Stage.IMPORT, "ValueError", "no"))),
    }


def reported(found: FindingRecord) -> dict[str, object]:
    """What reports say of a failed import."""
    labels = [line for line in issue.text(found).splitlines() if line.startswith("* frontend:")]
    return {"tags": area(found), "labels": labels, "TVM's tests": regression_test.place(found)}


def with_tvm() -> dict[str, object]:
    cases = drawn(10)
    case = next(case for case in cases if findings(case, with_a_bug(case)))
    (wrong,) = findings(case, with_a_bug(case))
    return {
        "lane": LANE.name,
        "findings": [repr(each) for case in cases for each in findings(case)],
        "script": repro.script(record(case, wrong.kind, LANE, wrong.evidence)),
    }


if __name__ == "__main__":
    print(json.dumps(with_tvm() if "--tvm" in sys.argv else without_tvm()))
