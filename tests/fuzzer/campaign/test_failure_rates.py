"""FailureRates: who was there each time is blamed, who came through is acquitted, and nothing learnt is lost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzer.campaign.cases.failure_rates import ANY, MOST, UNKNOWN, FailureRates, Typed, ended_well, typed_operators
from fuzzer.lanes import ONNXRUNTIME
from generators.choice import NumpySource
from generators.torch.random_graph import generate
from oracles.finding import Component, Finding, Kind
from oracles.lane import Engine, Importer, LaneSpec
from oracles.outcome import Built, Outcome, Raised, Ran, Stage, Unsupported

EXPORT, ONNX = Importer.EXPORT, Importer.ONNX
RAISED = Raised(Stage.IMPORT, "E", "no")
BAD, GOOD = Typed("bad", "float32"), [Typed(f"good{number}", "float32") for number in range(6)]


def test_nobody_is_suspected_of_much() -> None:
    assert FailureRates().of(EXPORT, BAD) == UNKNOWN
    assert FailureRates().passable(EXPORT, []) == 1.0
    assert FailureRates().passable(EXPORT, [BAD, GOOD[0]]) == pytest.approx((1 - UNKNOWN) ** 2)


def test_who_was_there_each_time_is_blamed() -> None:
    failure_rates = FailureRates()
    for number in range(20):
        good = GOOD[number % 6]
        failure_rates.learn([BAD, good], {EXPORT: 0.0})
        failure_rates.learn([good, GOOD[(number + 1) % 6]], {EXPORT: 1.0})
    assert failure_rates.of(EXPORT, BAD) > 0.8
    assert max(failure_rates.of(EXPORT, good) for good in GOOD) < 0.15
    assert failure_rates.of(ONNX, BAD) == UNKNOWN, "nothing was learnt about the other importer"


def test_another_dtype_is_suspected_until_it_comes_through() -> None:
    failure_rates, other = FailureRates(), Typed(BAD.op, "int8")
    for _ in range(9):
        failure_rates.learn([BAD], {EXPORT: 0.0})
    assert failure_rates.of(EXPORT, other) > 0.8
    for _ in range(9):
        failure_rates.learn([other], {EXPORT: 1.0})
    assert failure_rates.of(EXPORT, other) < 0.1 < 0.7 < failure_rates.of(EXPORT, BAD)


TYPED = st.tuples(st.sampled_from("abcde"), st.sampled_from(["float32", "int8"])).map(lambda pair: Typed(*pair))
Lesson = tuple[frozenset[Typed], dict[Importer, float]]
LESSONS: st.SearchStrategy[list[Lesson]] = st.lists(
    st.tuples(
        st.frozensets(TYPED, min_size=1, max_size=4),
        st.dictionaries(st.sampled_from((EXPORT, ONNX)), st.floats(0, 1), max_size=2),
    ),
    max_size=12,
)


@pytest.mark.slow
@given(LESSONS)
def test_blame_is_shared_out_whole_and_can_be_written_and_read(
    lessons: list[Lesson],
) -> None:
    failure_rates = FailureRates()
    for operators, shares in lessons:
        failure_rates.learn(operators, shares)
    learnt = failure_rates.changed()
    for importer in (EXPORT, ONNX):
        failed = sum(1 - shares[importer] for _, shares in lessons if importer in shares)
        of_importer = [hazard for hazard in learnt if hazard.route is importer]
        for every in (True, False):
            laid = sum(hazard.blamed for hazard in of_importer if (hazard.dtype == ANY) is every)
            assert laid == pytest.approx(failed)
        assert all(0 < failure_rates.of(importer, Typed(hazard.op, hazard.dtype)) <= MOST for hazard in of_importer)
    again = FailureRates()
    again.recall(learnt)
    assert again.numbers == failure_rates.numbers
    assert failure_rates.changed() == (), "nothing since"


def test_the_share_of_the_lanes_of_an_importer_that_gave_a_result() -> None:
    ran = Ran((np.zeros(1),))
    export, more, decomposed, fx, dynamo = (
        LaneSpec(importer.value, Engine.TVM, importer, variant)
        for importer, variant in (
            (EXPORT, "relax"),
            (EXPORT, "more"),
            (Importer.EXPORT_TVM, "relax"),
            (Importer.FX, "relax"),
            (Importer.DYNAMO, "relax"),
        )
    )
    outcomes: dict[LaneSpec, Outcome] = {
        export: ran,
        more: Built(),
        decomposed: RAISED,
        fx: Unsupported(Stage.IMPORT, "no"),
        dynamo: Unsupported(Stage.IMPORT, "no"),
        ONNXRUNTIME: ran,
    }
    assert ended_well(outcomes, ()) == {EXPORT: 2 / 3, Importer.FX: 0.0}
    objection = Finding(Kind.WRONG_VALUE, Component.TVM, export, Stage.RUN, RAISED)
    assert ended_well(outcomes, (objection,)) == {EXPORT: 1 / 3, Importer.FX: 0.0}
    of_pytorch = Finding(Kind.WRONG_VALUE, Component.PYTORCH, export, Stage.RUN, RAISED)
    assert ended_well(outcomes, (of_pytorch,)) == {EXPORT: 2 / 3, Importer.FX: 0.0}


def test_operators_with_the_dtype_of_what_they_read() -> None:
    graph = next(case.graph for index in range(99) if len((case := generate(NumpySource(9, index))).graph.nodes) > 3)
    typed = typed_operators(graph)
    assert {each.op for each in typed} == set(graph.ops)
    reading = next(node for node in graph.nodes if node.args)
    assert Typed(reading.op, graph.types[reading.args[0]].dtype) in typed
