"""The calls that a lane refuses are found, each with its words, and the case without them is one that it takes."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from fakes import TVM, TVM_C
from graphs_by_hand import case_of
from labs import FakeLab

from fuzzer.triage.eager_values import computed_values
from fuzzer.triage.refused import only, without_refused
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Stage, Unsupported

CALLS = ("relu", "erf", "neg", "digamma", "abs", "erf", "neg", "relu")


def chain() -> Case:
    calls = [(f"v{place}", op, f"v{place - 1}" if place else "x0") for place, op in enumerate(CALLS)]
    return case_of({"x0": "float32[2]"}, calls, f"v{len(CALLS) - 1}")


class Importer:
    """Lanes that import none of some operators."""

    def __init__(self, *refused: str) -> None:
        self.refused = refused
        self.lab = FakeLab(self.outcome)

    def outcome(self, case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
        found = [op for op in dict.fromkeys(case.graph.ops) if op in self.refused]
        return Unsupported(Stage.IMPORT, f"Unsupported function types {found}") if found else None

    def outcomes(self, case: Case) -> dict[LaneSpec, Outcome]:
        return {lane: self.lab.run(case, (lane,)).outcomes[lane] for lane in (TVM, TVM_C)}


def words(op: str) -> str:
    return f"import: Unsupported function types ['{op}']"


def test_each_refused_call_is_found_with_its_own_words() -> None:
    case, importer = chain(), Importer("erf", "digamma")
    (found,) = without_refused(importer.lab.run, case, importer.outcomes(case))
    assert found.lanes == (TVM, TVM_C)
    assert found.refused == {1: words("erf"), 3: words("digamma"), 5: words("erf")}
    assert found.titles(case) == ["`erf`", "`digamma`"]
    assert found.case is not None
    assert found.case.graph.ops == ("relu", "neg", "abs", "neg", "relu")
    assert found.case.graph.outputs == ("v7", "v0", "v2", "v4"), "what the refused calls read is an output"
    assert [item.value.name for item in found.case.graph.inputs] == ["x0", "v1", "v3", "v5"]
    computed = computed_values(importer.lab.run, case)
    assert all(np.array_equal(found.case.tensors[name], computed[name]) for name in ("v1", "v3", "v5"))


def test_calls_that_are_known_are_not_looked_for() -> None:
    case, importer = chain(), Importer("erf", "digamma")
    (first,) = without_refused(importer.lab.run, case, importer.outcomes(case))
    before = len(importer.lab.ran)
    known = dict.fromkeys((TVM, TVM_C), first.refused)
    (again,) = without_refused(importer.lab.run, case, importer.outcomes(case), known)
    assert first.case is not None
    assert again.case is not None
    assert (again.refused, again.case.graph) == (first.refused, first.case.graph)
    assert len(importer.lab.ran) - before == 2 + 1 + 2, "the case and the rest on each lane, and the values"


def test_nothing_is_left_of_a_case_that_is_refused_whole() -> None:
    case, importer = chain(), Importer(*CALLS)
    (found,) = without_refused(importer.lab.run, case, importer.outcomes(case))
    assert (found.case, sorted(found.refused)) == (None, list(range(len(CALLS))))


def test_a_lane_that_runs_is_left_alone() -> None:
    case, importer = chain(), Importer()
    assert without_refused(importer.lab.run, case, importer.outcomes(case)) == []


def test_lanes_that_refuse_other_calls_have_a_case_each() -> None:
    class Two(Importer):
        def outcome(self, case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
            self.refused = ("erf",) if lane == TVM else ("abs",)
            return super().outcome(case, lane, lanes)

    case, importer = chain(), Two()
    first, second = without_refused(importer.lab.run, case, importer.outcomes(case))
    assert (first.lanes, first.titles(case)) == ((TVM,), ["`erf`"])
    assert (second.lanes, second.titles(case)) == ((TVM_C,), ["`abs`"])


@pytest.mark.parametrize("numbers", [[0], [1, 2], [3, 7], range(8)])
def test_some_calls_of_a_case_are_a_case(numbers: Sequence[int]) -> None:
    case = chain()
    part = only(case, TVM, numbers, computed_values(Importer().lab.run, case))
    assert part is not None
    assert list(part.graph.ops) == [CALLS[number] for number in numbers]
    assert all(re.fullmatch("x0|v[0-7]", name) for name in part.tensors)


def test_a_call_whose_operands_are_not_known_is_no_case() -> None:
    assert only(chain(), TVM, [3], {}) is None
