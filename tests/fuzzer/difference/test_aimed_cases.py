"""The cases of a comparison that is aimed at something: the first ones, fresh ones, and when they end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from fuzzer.campaign.cases.guidance import Guidance
from fuzzer.campaign.plan.settings import Settings
from fuzzer.campaign.store.features import of_case
from fuzzer.difference.cases import LEAST, MOST, TIMES, ComparedCases
from fuzzer.difference.focus import Focus
from fuzzer.difference.near_cases import NearCases, families_of
from fuzzer.difference.reach import Reach
from generators.choice import NumpySource
from generators.graph import Case, DType
from generators.op import Op
from generators.table import TABLE
from generators.torch.random_graph import generate

SOFTMAX: Mapping[str, tuple[Op, ...]] = {"torch": (TABLE["softmax"],), "onnx": (TABLE["Softmax-13"],)}


def aimed(focus: Focus, corpus: Sequence[Case] = (), conditions: Sequence[str] = ()) -> ComparedCases:
    guidance = Guidance(Settings(Path("."), 1), 1)
    return ComparedCases(1, guidance, Reach(), [], SOFTMAX, corpus=corpus, focus=focus, conditions=conditions)


def rows_of(case: Case | None) -> frozenset[str]:
    assert case is not None
    return case.graph.rows


def test_single_calls_and_kept_cases_come_in_turns() -> None:
    kept = [generate(NumpySource(3, number), ops=[TABLE["softmax"], TABLE["relu"]]) for number in range(6)]
    with_softmax = [case for case in kept if "softmax" in case.graph.rows]
    cases = aimed(Focus(rows=SOFTMAX), corpus=kept)
    through: list[bool] = []
    cases.when_kept_are_through = lambda: through.append(True)
    first = [cases(number) for number in range(2 + len(with_softmax))]
    assert cases.kept_that_reach == len(with_softmax)
    assert "softmax" in rows_of(first[0])
    assert {name for case in first for name in rows_of(case)} >= {"softmax", "Softmax-13"}
    assert sum(case in with_softmax for case in first) == len(with_softmax)
    assert not through
    cases(len(first))
    assert through == [True]


@pytest.mark.slow
def test_fresh_cases_are_of_the_rows() -> None:
    cases = aimed(Focus(rows=SOFTMAX))
    drawn = [rows_of(cases(number)) for number in range(60)]
    assert sum("softmax" in rows for rows in drawn) > 8
    assert sum("Softmax-13" in rows for rows in drawn) > 8


@pytest.mark.slow
def test_numbers_of_the_changed_code_direct_sizes_and_attributes() -> None:
    focus = Focus(rows={"torch": (TABLE["softmax"],)}, sizes=(1021,), dtypes=frozenset((DType.FLOAT64,)))
    near = NearCases(1, Guidance(Settings(Path("."), 1), 1), focus)
    drawn = [near.near(NumpySource(1, number), focus.rows["torch"], number) for number in range(40)]
    shapes = [case.graph.inputs[0].value.type.shape for case in drawn if case and case.graph.inputs]
    assert sum(1021 in shape for shape in shapes) > 10
    dtypes = [case.graph.inputs[0].value.type.dtype for case in drawn if case and case.graph.inputs]
    assert dtypes.count(DType.FLOAT64) > len(dtypes) / 3
    assert near.classes
    assert all(name.split(" ")[1] == "softmax" for name in near.classes)


def test_the_neighbours_of_rows_are_their_families() -> None:
    names = {op.name for op in families_of([TABLE["softmax"], TABLE["Softmax-13"]])}
    assert {"softmax", "log_softmax", "Softmax-13"} <= names
    assert "conv2d" not in names


@pytest.mark.parametrize(("conditions", "fresh"), [((), LEAST), (("mine.py f if x",), MOST)])
def test_the_cases_end_when_each_class_has_run(conditions: Sequence[str], fresh: int) -> None:
    cases = aimed(Focus(rows=SOFTMAX), conditions=conditions)
    near = cases._near
    for number in range(4):
        near.near(NumpySource(1, number), SOFTMAX["torch"], number)
    cases._fresh_tests = fresh
    assert not cases.is_exhausted, "no class has run"
    cases.reach.features.update(dict.fromkeys(near.classes, TIMES))
    assert cases.is_exhausted
    assert cases(1) is None
    cases._fresh_tests = fresh - 1
    assert not cases.is_exhausted
    if conditions:
        cases.reach.by_name["mine.py f if x"] = 1
        assert cases.is_exhausted, "the condition was met"


def test_what_reached_the_change_counts_for_its_classes() -> None:
    reach, case = Reach(), generate(NumpySource(3), ops=[TABLE["softmax"]])
    reach.learn(case, [])
    assert not reach.features
    reach.learn(case, ["mine.py f"])
    assert set(reach.features) == set(of_case(case.graph))
