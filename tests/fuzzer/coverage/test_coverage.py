"""`fuzz ops --coverage`: keys are merged and explained correctly, a child that dies costs one answer, and real
programs reach their keys."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from fuzzer.coverage import measure, reasons, report
from fuzzer.coverage.measure import Coverage, CoverageOptions, Trial
from fuzzer.coverage.question import Answer, Question, Table, Way
from fuzzer.coverage.reasons import Reason, ReasonKind
from fuzzer.coverage.worker import Worker
from fuzzer.system.environment import EnvironmentMissing
from generators.choice import NumpySource
from generators.graph import Case, Form
from generators.table import TABLE
from generators.torch.random_graph import generate

pytestmark = pytest.mark.slow

TABLES = {
    Table.EXPORT: frozenset({"relu.default", "softmax.int", "_softmax.default", "lost.default"}),
    Table.FX: frozenset({"relu", "nn.ReLU"}),
    Table.ONNX: frozenset({"Relu", "Loop"}),
}


def small_case() -> Case:
    return generate(NumpySource(0), ops=(TABLE["relu"],))


def trial(place: int, op: str) -> Trial:
    return Trial(place, op, small_case(), [])


@pytest.fixture
def coverage() -> Coverage:
    made = Coverage(TABLES)
    made.add(trial(7, "softmax"), Question(Way.EXPORT, 0), Answer(("softmax.int", "relu.default")))
    made.add(trial(3, "relu"), Question(Way.EXPORT, 0), Answer(("relu.default", "in_no_table.default")))
    made.add(trial(9, "gelu"), Question(Way.DECOMPOSED, 0), Answer(("relu.default",)))
    return made


@pytest.fixture
def because(monkeypatch: pytest.MonkeyPatch) -> None:
    table = (
        Reason(Table.EXPORT, ReasonKind.IMPOSSIBLE, "a mistake", ("lost.default", "gone.default")),
        Reason(Table.FX, ReasonKind.LEFT_OUT, "nobody writes it", ("relu",)),
        Reason(Table.ONNX, ReasonKind.LEFT_OUT, "not yet", ("Relu",)),
    )
    monkeypatch.setattr(reasons, "REASONS", table)


def test_the_first_operator_that_reaches_a_key_is_named_whatever_order_they_come_in(coverage: Coverage) -> None:
    assert coverage.reached[Table.EXPORT] == {"relu.default": "relu", "softmax.int": "softmax"}
    assert coverage.reached[Table.FX] == {}
    assert coverage.unreached(Table.EXPORT) == ["_softmax.default", "lost.default"]


def test_keys_that_were_reached_before_an_exporter_refused_count(coverage: Coverage) -> None:
    for number in range(2):
        coverage.add(trial(number, "relu"), Question(Way.FX, 0), Answer(("relu",), f"TraceError: {number}"))
    coverage.add(trial(2, "relu"), Question(Way.ONNX, 11), "SIGSEGV")
    assert coverage.reached[Table.FX] == {"relu": "relu"}
    assert [(f.way, f.died, f.message, f.count) for f in coverage.failures.values()] == [
        (Way.FX, False, "TraceError: 0", 2),
        (Way.ONNX, True, "SIGSEGV", 1),
    ]


@pytest.mark.usefixtures("because")
def test_a_key_is_reached_or_explained_or_a_gap(coverage: Coverage) -> None:
    export, fx, onnx = report.rows(coverage)
    assert (export.impossible, export.left_out, export.gaps) == (
        {"lost.default": "a mistake"},
        {},
        ("_softmax.default",),
    )
    assert (export.percent, export.percent_of_possible) == (50.0, 66.7)
    assert (fx.left_out, fx.gaps, fx.percent_of_possible) == ({"relu": "nobody writes it"}, ("nn.ReLU",), 0.0)
    assert (onnx.left_out, onnx.gaps) == ({"Relu": "not yet"}, ("Loop",))


@pytest.mark.usefixtures("because")
def test_stale_reasons_are_reported(coverage: Coverage) -> None:
    coverage.add(trial(1, "relu"), Question(Way.DYNAMO, 18), Answer(("Relu",)))
    assert list(reasons.stale(coverage.tables, coverage.reached)) == [
        "exported program: gone.default is in no table any more",
        "onnx: Relu is reached by relu",
    ]
    assert "stale reason: onnx: Relu is reached by relu" in list(report.text(coverage))
    assert report.document(coverage)["stale_reasons"] == list(reasons.stale(coverage.tables, coverage.reached))


def test_each_key_has_one_reason() -> None:
    keys = [(reason.table, key) for reason in reasons.REASONS for key in reason.keys]
    assert len(keys) == len(set(keys))
    assert all(reason.text and reason.keys for reason in reasons.REASONS)


def test_cases_take_turns_in_forms_and_opsets_and_are_the_same_again() -> None:
    options = CoverageOptions((TABLE["clamp"],), count=8, workers=1)
    trials, again = ([trial for trials in measure._works(options, {}) for trial in trials] for _ in range(2))
    assert [t.case.graph for t in trials] == [t.case.graph for t in again]
    assert {Form.PLAIN, *TABLE["clamp"].forms} <= {node.form for t in trials for node in t.case.graph.nodes}
    assert any(t.case.graph.symbols for t in trials)
    questions = [question for t in trials for question in t.questions]
    assert {question.way for question in questions} == set(Way)
    assert len({question.opset for question in questions if question.way is Way.ONNX}) > 4
    assert len(trials) <= measure.number_of_trials(options)


def test_an_operator_is_decomposed_until_two_cases_in_a_row_say_nothing_new() -> None:
    question = Question(Way.DECOMPOSED, 0)
    trials = [Trial(number, "relu", small_case(), [Question(Way.EXPORT, 0), question]) for number in range(6)]
    decompositions, requested = measure.Decompositions(), []
    for trial, keys in zip(trials, (("a",), ("a",), ("b",), ("a", "b"), "SIGSEGV", ("c",)), strict=True):
        wanted = decompositions.wanted(trial)
        assert wanted[0].way is Way.EXPORT
        requested.append(question in wanted)
        answer = keys if isinstance(keys, str) else Answer(tuple(keys))
        decompositions.learn(trial, [(each, answer) for each in wanted])
    assert requested == [True, True, True, True, True, False]
    drawn = (generate(NumpySource(seed), ops=(TABLE["relu"],), symbolic=True) for seed in range(20))
    symbolic = next(case for case in drawn if case.graph.symbols)
    assert decompositions.wanted(Trial(7, "relu", symbolic, [question])) == [question]


CHILD = """
import os, sys, time
from multiprocess.connection import Connection
connection = Connection(int(sys.argv[1]))
connection.send_bytes(b'{"tables": {"fx": ["relu"]}}')
while True:
    way = eval(connection.recv_bytes())["way"]
    connection.recv_bytes(), connection.recv_bytes()
    if way == "torch.export":
        os.abort()
    if way == "symbolic_trace":
        time.sleep(60)
    connection.send_bytes(b'{"keys": ["relu"], "error": ""}' if way != "decompositions" else b"!")
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "a_child.py").write_text(CHILD)
    (tmp_path / "no_child.py").write_text("raise SystemExit('no torch here')")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    return "a_child"


def test_a_child_that_dies_hangs_or_babbles_costs_the_one_answer(module: str) -> None:
    with Worker(seconds=0.2, module=module) as worker:
        assert worker.tables == {Table.FX: {"relu"}}
        for way, end in (
            (Way.EXPORT, "SIGABRT"),
            (Way.FX, "no answer in 0.2 s"),
            (Way.DECOMPOSED, "JSON is malformed: invalid character (byte 0)"),
        ):
            assert worker.ask(Question(way, 0), small_case()) == end
            assert worker.ask(Question(Way.ONNX, 11), small_case()) == Answer(("relu",))


@pytest.mark.usefixtures("module")
def test_a_child_that_does_not_start_is_a_missing_environment() -> None:
    with pytest.raises(EnvironmentMissing, match="no torch here"), Worker(module="no_child"):
        pass


@pytest.mark.tvm
@pytest.mark.long
def test_the_keys_of_real_programs() -> None:
    counts: list[int] = []
    options = CoverageOptions((TABLE["softmax"], TABLE["relu"]), count=4, workers=2)
    coverage = measure.measure(options, lambda progress: counts.append(progress.trials))
    assert counts == list(range(1, len(counts) + 1))
    assert {"softmax.int", "_softmax.default", "relu.default"} <= coverage.reached[Table.EXPORT].keys()
    assert {"softmax", "relu"} <= coverage.reached[Table.FX].keys()
    assert {"Softmax", "Relu"} <= coverage.reached[Table.ONNX].keys()
    assert coverage.reached[Table.ONNX]["Softmax"] == "softmax"
    assert not any(failure.died for failure in coverage.failures.values())
    assert {key for key in coverage.tables[Table.FX] if key.startswith("nn.")} >= {"nn.Conv2d", "nn.Embedding"}
    assert len(coverage.tables[Table.EXPORT]) > 300
