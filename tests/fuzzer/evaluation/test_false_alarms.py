"""What `fuzz bench honesty` counts, on outcomes made by hand."""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import fakes
import numpy as np
import pytest

from fuzzer.commands import bench
from fuzzer.evaluation.false_alarms import EVERY, Alarm, FalseAlarmOptions, FalseAlarmReport, each_result, lanes_of, run
from fuzzer.isolate.executor import Executor
from fuzzer.lanes import HONEST_LANES, ONNX_LANES, ONNXRUNTIME, TORCH, TORCH_ENVELOPE, TORCH_F64
from generators.graph import Case, Invalid
from oracles.lane import Importer, LaneSpec
from oracles.outcome import Outcome, Ran, Result, Skipped

LAYOUT = next(lane for lane in HONEST_LANES if lane.variant == "layout")
FILES = [lane for lane in HONEST_LANES if lane.importer is Importer.ONNX]
COMPILED = [lane for lane in HONEST_LANES if lane.variant in ("decomposed", "inductor")]
RIGHT = fakes.expect([1.0, -2.0, 3.0], envelope=0.25, ill=[False, True, False])


def result(lanes: dict[LaneSpec, Outcome]) -> Result:
    return Result({**fakes.references(RIGHT), **lanes}, {}, 0.5)


def lied() -> Ran:
    return Ran((np.array([1.0, -2.0, 9.0], np.float32),))


def honest() -> Ran:
    return Ran((RIGHT.eager.copy(),))


def test_honest_results_are_counted() -> None:
    report = FalseAlarmReport()
    assert report.add(3, fakes.CASE, result({LAYOUT: honest(), FILES[0]: Skipped("no")})) == []
    assert (report.results, report.refused) == ({LAYOUT.name: 1}, {FILES[0].name: 1})
    summary = report.summary()
    assert (summary["elements"], summary["compared"], summary["alarms_against_tvm"]) == (3, 2, 0)
    assert summary["ill_conditioned_share"] == pytest.approx(1 / 3, abs=1e-5)


def test_an_alarm_names_lane_element_and_ratio() -> None:
    report = FalseAlarmReport()
    (alarm,) = report.add(3, fakes.CASE, result({LAYOUT: lied()}))
    assert (alarm.test, alarm.lane, alarm.blamed, alarm.kind) == (3, LAYOUT.name, "tvm", "wrong-value")
    assert alarm.ratio == pytest.approx(6 / 0.5, rel=1e-3)
    assert "9.0" in alarm.message
    assert report.summary()["alarm_rate"] == 1.0


def test_what_the_file_says_is_one_alarm_and_not_held_against_tvm() -> None:
    report = FalseAlarmReport()
    lanes: dict[LaneSpec, Outcome] = {ONNXRUNTIME: lied(), **{lane: lied() for lane in FILES}}
    (alarm,) = report.add(0, fakes.CASE, result(lanes))
    assert alarm.blamed == "exported file"
    assert report.against_tvm == 0


def test_an_optimiser_that_is_wrong_on_a_good_file_is() -> None:
    report = FalseAlarmReport()
    lanes: dict[LaneSpec, Outcome] = {ONNXRUNTIME: honest(), FILES[0]: honest(), FILES[1]: lied()}
    (alarm,) = report.add(0, fakes.CASE, result(lanes))
    assert (alarm.blamed, alarm.lane) == ("tvm", FILES[1].name)


def test_a_program_that_pytorch_runs_otherwise_is_one_alarm_and_not_held_against_tvm() -> None:
    report = FalseAlarmReport()
    lanes: dict[LaneSpec, Outcome] = {**{lane: lied() for lane in COMPILED}, fakes.EXPORTED: lied()}
    (alarm,) = report.add(0, fakes.CASE, result(lanes))
    assert (alarm.blamed, report.against_tvm) == ("exported program", 0)
    assert report.summary()["alarms_against_the_program"] == 1
    assert report.summary()["alarms_against_the_file"] == 0


@pytest.mark.parametrize(("says", "blamed"), [(lied(), "exported program"), (honest(), "tvm")])
def test_pytorch_runs_the_program_where_a_lane_that_decomposes_disagrees(says: Ran, blamed: str) -> None:
    runs: list[tuple[LaneSpec, ...]] = []

    class Executed:
        def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
            runs.append(tuple(lanes))
            return result({COMPILED[0]: lied()}) if len(runs) == 1 else Result({fakes.EXPORTED: says}, {}, 0.25)

    options = FalseAlarmOptions(count=1, lanes=COMPILED[0].name)
    report = run(cast(Executor, Executed()), options, lambda alarm: None, threading.Event())
    assert runs == [lanes_of(options, 0), (fakes.EXPORTED,)]
    assert [alarm.blamed for alarm in report.alarms] == [blamed]
    assert report.cpu_seconds == 0.75


def test_nothing_is_compared_without_references() -> None:
    report = FalseAlarmReport()
    assert report.add(0, fakes.CASE, Result({LAYOUT: lied()})) == []
    assert report.unjudged == 1


# --- which lanes, which cases


def test_expensive_lanes_run_few_cases_unless_they_are_requested() -> None:
    variants = {lane.variant for lane in lanes_of(FalseAlarmOptions(), 1)}
    assert not variants & set(EVERY)
    assert {lane.variant for lane in lanes_of(FalseAlarmOptions(), 0)} >= set(EVERY)
    inductor = lanes_of(FalseAlarmOptions(lanes="*inductor"), 1)
    assert {lane.variant for lane in inductor} == {
        "eager",
        "f64",
        "envelope",
        "inductor",
    }


def test_references_come_first_and_the_reader_of_the_file_where_it_is_needed() -> None:
    with_reader = lanes_of(FalseAlarmOptions(lanes="onnxruntime-all"), 0)
    assert with_reader[:4] == (
        TORCH,
        TORCH_F64,
        TORCH_ENVELOPE,
        ONNXRUNTIME,
    )
    assert ONNXRUNTIME not in lanes_of(FalseAlarmOptions(lanes="torch-*"), 0)
    with pytest.raises(Invalid, match="no honest lane matches 'x'"):
        lanes_of(FalseAlarmOptions(lanes="x"), 0)


def test_cases_of_onnx_have_lanes_of_their_own() -> None:
    lanes = lanes_of(FalseAlarmOptions(dialect="onnx"), 0)
    assert lanes[:4] == ONNX_LANES
    assert [lane.name for lane in lanes[4:]] == ["onnx-disable", "onnx-basic", "onnx-extended", "onnx-all"]
    with pytest.raises(Invalid, match="no dialect 'c'; there are torch and onnx"):
        lanes_of(FalseAlarmOptions(dialect="c"), 0)


@pytest.mark.parametrize(("witness", "disputed"), [(honest(), 0), (lied(), 1)])
def test_a_case_of_onnx_whose_witness_does_not_agree_is_counted_and_gives_no_alarm(witness: Ran, disputed: int) -> None:
    report = FalseAlarmReport()
    lane = next(each for each in HONEST_LANES if each.dialect == "onnx")
    outcomes = {**fakes.references_of_onnx(RIGHT), fakes.ONNX_WITNESS: witness, lane: lied()}
    alarms = report.add(0, fakes.CASE, Result(outcomes))
    assert [alarm.blamed for alarm in alarms] == ([] if disputed else ["tvm"])
    assert (report.unjudged, report.summary()["disputed"]) == (disputed, disputed)


class Recorder:
    """An executor that runs nothing."""

    def __init__(self) -> None:
        self.origins: list[str] = []

    def run(self, case: Case, lanes: tuple[LaneSpec, ...]) -> Result:
        self.origins.append(case.origin)
        return result({LAYOUT: lied() if len(self.origins) == 2 else honest()})


def test_a_run_tells_alarms_as_they_come_and_says_where_to_go_on() -> None:
    recorder, alarms = Recorder(), cast(list[Alarm], [])
    options = FalseAlarmOptions(count=3, seed=4, first=5, lanes="torch-layout")
    report = run(cast(Executor, recorder), options, alarms.append, threading.Event())
    assert recorder.origins == [f"seed 4 test {number}" for number in (5, 6, 7)]
    assert [alarm.test for alarm in alarms] == [6]
    assert (report.cases, report.next_test) == (3, 8)


def test_it_stops_where_it_is_and_can_be_continued() -> None:
    stop = threading.Event()
    numbers: list[int] = []

    def watch(number: int, case: Case, result: Result) -> None:
        numbers.append(number)
        if number == 1:
            stop.set()

    recorder: Any = Recorder()
    assert each_result(recorder, FalseAlarmOptions(count=9, lanes="torch-layout"), watch, stop) == 2
    assert numbers == [0, 1]
    left = each_result(
        recorder, replace(FalseAlarmOptions(count=2, lanes="torch-layout"), first=2), watch, threading.Event()
    )
    assert (numbers, left) == ([0, 1, 2, 3], 4)


def test_an_interrupt_stops_it() -> None:
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        stop = bench._stop_on_interrupt()
        assert not stop.is_set()
        signal.raise_signal(signal.SIGINT)
        assert stop.is_set()
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
