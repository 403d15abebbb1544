"""A campaign that is watched, on an executor made by hand: its files, and counters over a restart."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import count, repeat
from pathlib import Path

import fakes
import pytest
from test_metrics import scraped

from fuzzer.campaign.plan.settings import LaneMix, RunLimits, Settings
from fuzzer.campaign.run.loop import Campaign
from fuzzer.campaign.store.index import NAME, Index
from fuzzer.campaign.store.state import State
from fuzzer.campaign.store.store import Store
from fuzzer.isolate.reports import SHOWS, SanitizerReport, ScriptRun
from fuzzer.lanes import TVM_LANES
from fuzzer.system.process_tree import descendants
from fuzzer.system.processes import resident_bytes
from fuzzer.watching.held import Cached, Rates
from fuzzer.watching.resources import Resources, resources
from fuzzer.watching.snapshot import Observer
from fuzzer.watching.stats_files import PLOT, STATS
from fuzzer.watching.watch import watched
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Result, Stage


class Honest:
    versions = {"tvm": "0"}  # noqa: RUF012 - as backends have it
    cpu_seconds = 0.0

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        known = fakes.references(*fakes.TWO_OUTPUTS)
        outcomes = {lane: known.get(lane, fakes.correct(fakes.TWO_OUTPUTS)) for lane in lanes}
        return Result(outcomes, {Stage.COMPILE: 0.5})

    run_fresh = run

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        return ScriptRun(SHOWS)

    def examine(self, case: Case, lane: LaneSpec) -> tuple[SanitizerReport, ...]:
        return ()


def campaign(store: Store, tests: int) -> Campaign:
    settings = Settings(store.folder, 1, LaneMix(TVM_LANES), RunLimits(tests=tests))
    return Campaign(settings, store, Honest(), lambda index: fakes.CASE)


def facts(folder: Path) -> dict[str, str]:
    pairs = (line.split(": ", 1) for line in (folder / STATS).read_text().splitlines())
    return {key.strip(): value for key, value in pairs}


@pytest.mark.slow
def test_files_and_metrics_go_on_where_the_last_run_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for run in (1, 2):
        with Store(tmp_path, 1) as store:
            task = campaign(store, 3)
            with watched(task, 0) as observer:
                port = int(capsys.readouterr().err.rpartition(":")[2].partition("/")[0])
                task.run()
                samples = scraped(port)
                snapshot = observer.snapshot()
        assert samples[("difftvm_tests_total", ())] == 3 * run
        assert samples[("difftvm_stage_cpu_seconds_total", ("compile",))] == 1.5 * run
        assert (snapshot.tests, snapshot.run_tests, snapshot.tasks) == (3 * run, 3, ())
        assert snapshot.lane_results == run * snapshot.run_lane_results > 0
        assert {lane.lane: lane.results for lane in snapshot.lanes}[TVM_LANES[0].name] == 3 * (run - 1) + 3
        assert facts(tmp_path)["execs_done"] == str(3 * run)
        assert int(facts(tmp_path)["fuzzer_pid"]) == os.getpid()
    with (tmp_path / PLOT).open() as file:
        assert {int(row["tests"]) for row in csv.DictReader(file)} >= {3, 6}, "what each run ended with"


def test_the_last_snapshot_is_that_of_the_end(tmp_path: Path) -> None:
    """The last snapshot is new even if another was taken just before, because no later one corrects it."""
    with Store(tmp_path, 1) as store:
        task = campaign(store, 3)
        with watched(task) as observer:
            assert (observer.snapshot().features, observer.snapshot().lanes) == (0, ())
            task.run()
            last = observer.snapshot()
        features = store.ask(lambda index: index.features)
    assert last.features == features > 0
    assert facts(tmp_path)["features"] == str(features)
    assert {lane.lane: lane.results for lane in last.lanes}[TVM_LANES[0].name] == 3


@pytest.mark.slow
def test_counters_are_what_a_kill_leaves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A campaign that is killed and started again goes on with the values that Prometheus has read."""
    with Store(tmp_path, 1) as store, watched(campaign(store, 1), 0):
        port = int(capsys.readouterr().err.rpartition(":")[2].partition("/")[0])
        counters = store.state.counters
        for counted in (3, 7):
            counters.tests, counters.stage_cpu, store.state.known = counted, {"compile": 2.0 * counted}, {"x": counted}
            before, left = scraped(port), state_left_by_a_kill(tmp_path)
            assert before[("difftvm_tests_total", ())] == left.counters.tests < counted
            assert before[("difftvm_known_sightings_total", ())] == sum(left.known.values())
            store.save_state()
            assert scraped(port)[("difftvm_tests_total", ())] == counted
            assert scraped(port)[("difftvm_stage_cpu_seconds_total", ("compile",))] == 2.0 * counted


def state_left_by_a_kill(folder: Path) -> State:
    if not (folder / NAME).exists():
        return State(1)
    with Index(folder, writes=False) as read:
        return read.state() or State(1)


def test_expensive_measurements_are_made_seldom(
    tmp_path: Path, saved: Path, made_at: Callable[[Path, float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fuzzer.watching.held.MOST_COST", 1.0)  # this process does nothing else
    now, measured = [1000.0], []

    def measure(folder: Path, pid: int) -> Resources:
        measured.append(now[0])
        return Resources(1, 2, 3, 4, 5)

    made_at(saved, 400.0)
    with Store(tmp_path, 1) as store:
        observer = Observer(campaign(store, 1), lambda: now[0], measure)
        for seconds in (1000, 1029, 1030, 90_000):
            now[0] = seconds
            snapshot = observer.snapshot()
            assert (snapshot.last, snapshot.last_found) == (saved.name, 400.0)
            assert snapshot.today == (seconds < 86_400)
    assert measured == [1000, 1030, 90_000]


def cached(monkeypatch: pytest.MonkeyPatch, took: float, stamps: Iterator[int]) -> Callable[[float, float], int]:
    """What asks for a value that takes this many CPU seconds: at a time, and at a CPU time of the process. It returns
    how often the value has been computed."""
    used, computed = [0.0], list[float]()

    def compute() -> None:
        used[0] += took
        computed.append(used[0])

    monkeypatch.setattr("fuzzer.watching.held.time.thread_time", lambda: used[0])
    monkeypatch.setattr("fuzzer.watching.held.time.process_time", lambda: used[0])
    value = Cached(10.0, compute, lambda: next(stamps))

    def computations(now: float, cpu: float) -> int:
        used[0] = max(used[0], cpu)
        value.value(now, False)
        return len(computed)

    return computations


def test_what_takes_long_is_computed_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    computations = cached(monkeypatch, 0.1, repeat(0))
    assert computations(0, 0.0) == 1
    assert computations(20, 5.0) == 1, "it took two per cent of 5 CPU seconds, which this process has not used since"
    assert computations(30, 5.2) == 2
    assert computations(35, 50.0) == 2, "it is held for 10 seconds"
    assert computations(40, 50.0) == 3
    assert computations(99, 50.2) == 3
    assert computations(100, 50.2) == 4, "nothing is held for more than a minute"


def test_news_are_computed_sooner_and_take_a_small_part_of_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    computations = cached(monkeypatch, 0.1, count())
    assert computations(0.0, 0.0) == 1
    assert computations(1.0, 2.0) == 1
    assert computations(1.1, 2.2) == 2, "0.1 s are five per cent of 2 s"


def test_rates_are_of_the_last_minute() -> None:
    rates = Rates()
    assert rates.of(0.0, 100) == (0.0,)
    assert rates.of(10.0, 120) == (2.0,)
    assert rates.of(70.0, 120) == (0.0,)
    assert rates.of(130.0, 150) == (0.5,)


def test_memory_of_children_and_of_theirs(tmp_path: Path) -> None:
    program = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1, flush=True); input()'])"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        below = list(descendants(os.getpid()))
        used = resources(tmp_path, os.getpid())
        assert len(list(descendants(child.pid))) == 1
        assert {child.pid, *descendants(child.pid)} <= set(below)
        child.communicate(b"\n")
    assert used.processes >= 2
    assert 4_000_000 < used.children < used.free
    assert abs(used.supervisor - resident_bytes(os.getpid())) < 50_000_000
    assert used.disk > 0
    assert list(descendants(child.pid)) == []
