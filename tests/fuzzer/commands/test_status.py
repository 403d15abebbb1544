"""`fuzz status` and `fuzz merge`, as a user calls them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import fakes
import pytest
from typer.testing import CliRunner

from fuzzer.campaign.plan import aim
from fuzzer.campaign.store.counters import Counters
from fuzzer.campaign.store.index import Index
from fuzzer.campaign.store.judged_counts import JudgedCounts
from fuzzer.campaign.store.layout import WAITING
from fuzzer.campaign.store.rows import Observations, index_row
from fuzzer.campaign.store.state import State
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.triage.waiting import Queue
from fuzzer.cli import app
from fuzzer.findings.headline import headline
from fuzzer.lanes import ONNXRUNTIME, TORCH, TVM_LANES
from fuzzer.system.terminal import command, program
from fuzzer.triage.investigate import Investigated, Sighting
from fuzzer.watching.cause_lines import short_name
from generators.graph import Invalid
from oracles.outcome import Raised, Ran, Stage


def campaign(folder: Path) -> Path:
    with Store(folder, 1) as store:
        store.record(index_row(0, 0.5, {TORCH: Ran(())}))
        store.finished(1)
        store.state.counters.tests = 1
    return folder


def fuzz(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(each) for each in arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_status_says_what_the_last_run_was_aimed_at(tmp_path: Path) -> None:
    """Rows that other configurations have are not counted."""
    covering = aim.Covering(2, [(0, 0), (1, 1), (0, 1)], 4, f"{aim.FEATURE} 0123-1 ")
    aim.write(campaign(tmp_path), aim.Aim(covering=covering))
    names = (f"{aim.FEATURE} 0123-1 0", f"{aim.FEATURE} 0123-1 2", f"{aim.FEATURE} 4567-1 1", "op relu float32 2")
    with Index(tmp_path) as index:
        index.write(State(1), observations=Observations(dict.fromkeys(names, 1), dict.fromkeys(names, 0)))
    line = "2 of 4 pairs of values of the configurations covered"
    assert f"aim: {line}" in fuzz("status", "--campaign", tmp_path).splitlines()
    assert json.loads(fuzz("status", "--campaign", tmp_path, "--json"))["aim"] == line


def test_status_of_a_campaign_with_a_finding(
    tmp_path: Path, saved: Path, made_at: Callable[[Path, float], None]
) -> None:
    made_at(saved, time.time() - 3600.5)
    assert fuzz("status", "--campaign", tmp_path).splitlines() == [
        f"{tmp_path}: seed 1, 0 tests done, not running",
        "0 s: 0 tests, 0 lane results; rates are not known yet",
        "1 confirmed cause: 1 high; 1 finding",
        "  high      Compiling `torch.relu` fails: no layout for it",
        f"latest finding, 1 h 00 min ago: Compiling `torch.relu` fails: no layout for it  {saved.name}",
        "findings over time ▁█",
        f"next: {program()} triage --campaign {tmp_path}",
    ]


def test_status_says_what_waits_and_what_triage_has_had(
    tmp_path: Path, make: Callable[..., tuple[Investigated, Sighting]]
) -> None:
    with Store(tmp_path, 1) as store:
        store.state.counters = Counters(test_cpu_seconds=30, triage_cpu_seconds=10)
        store.save_state()
    found, sighting = make()
    Queue(tmp_path).add(found.case, sighting, {"tvm": "0.27.0"})
    (name,) = os.listdir(tmp_path / WAITING)
    *lines, last = fuzz("status", "--campaign", tmp_path).splitlines()[2:-1]
    replays = command("--replay", short_name(name), "--campaign", tmp_path)
    assert lines == [
        "no cause is confirmed yet",
        "not confirmed yet: 1 cause, seen in 1 sighting",
        "  1 sighting: `relu` fails: no layout for it",
        f"      {replays}",
    ]
    work = command("triage", "--work", "--campaign", tmp_path)
    waits = f"1 sighting waiting for triage; `{work}` investigates them"
    assert last == f"{waits}; triage has had 25% of the CPU of lanes"
    status = json.loads(fuzz("status", "--campaign", tmp_path, "--json"))
    assert (status["books"]["triage_used"], status["waiting"], status["other_waiting"]) == (0.25, 1, 0)
    (row,) = status["causes"]["provisional"]
    assert (row["message"], row["suspect"]) == (headline(sighting.finding), "no suspect")
    assert (row["sightings"], row["members"], row["replay"]) == (1, [name], replays)


def test_status_while_it_runs(tmp_path: Path) -> None:
    with Store(campaign(tmp_path), 1):
        found = json.loads(fuzz("status", "--campaign", tmp_path, "--json"))
    assert (found["holder"], found["next_test"], found["lanes"]) == (os.getpid(), 1, {"torch": {"ran": 1}})
    assert found["books"]["tests"] == 1


def test_status_shows_speed_costs_and_failing_lanes(tmp_path: Path) -> None:
    with Store(tmp_path, 1) as store:
        counters = store.state.counters
        for number in range(200):
            outcome = Raised(Stage.RUN, "E", "no") if number >= 160 else Ran(())
            store.record(index_row(number, 0.5, {TORCH: Ran(()), ONNXRUNTIME: outcome}))
        for seconds in (0, 600, 1200, 1500):
            counters.wall_seconds, counters.tests, counters.lane_results = seconds, seconds // 10, seconds
            store.save_state()
        counters.stage_cpu = {"compile": 3.0, "export": 1.0}
    with Store(tmp_path, 1):
        lines = fuzz("status", "--campaign", tmp_path).splitlines()
    assert lines[0].startswith(f"{tmp_path}: seed 1, 150 tests done, process ")
    assert lines[1:3] == [
        "25 min 00 s: 150 tests, 1,500 lane results; lately 0.10 tests and 1.0 lane results a second",
        "no cause is confirmed yet",
    ]
    assert lines[3].startswith("memory: supervisor ")
    assert lines[4:] == [
        "time goes to compile 75%, export 25%",
        "2 of 2 lanes give results; 1 far fewer than before",
        "!! onnxruntime                results in 160 of 200: 40 raised",
        f"next: {program()} triage --campaign {tmp_path}",
    ]


def test_merge_and_status_of_the_result(tmp_path: Path) -> None:
    a, into = campaign(tmp_path / "a"), tmp_path / "c"
    assert fuzz("merge", a, "--into", into).splitlines() == [
        f"{a}: 1 test and 0 findings added; 0 findings already known",
        f"next: {program()} status --campaign {into}",
    ]
    assert json.loads(fuzz("merge", a, "--into", into, "--json")) == [
        {"source": str(a), "tests": 0, "new": 0, "known": 0}
    ]
    assert [origin[1:] for origin in json.loads(fuzz("status", "--campaign", into, "--json"))["origins"]] == [[1, 1]]


def test_features_are_data_and_no_line(tmp_path: Path) -> None:
    with Store(campaign(tmp_path), 1) as store:
        store.save_state(Observations({"a": 1, "b": 1}, {"a": 0, "b": 0}))
    assert not any(line.startswith("features") for line in fuzz("status", "--campaign", tmp_path).splitlines())
    assert json.loads(fuzz("status", "--campaign", tmp_path, "--json"))["features"] == 2


def test_tests_that_difftvm_could_not_do_are_reported(tmp_path: Path) -> None:
    with Store(tmp_path, 1) as store:
        folder = store.keep_failed_test(0, None, "why", 1).parent
    assert f"!! 1 test could not be done by difftvm itself: {folder}" in fuzz("status", "--campaign", tmp_path)


def test_wrong_evaluations_are_reported(tmp_path: Path) -> None:
    with Store(tmp_path, 1) as store:
        store.keep_disagreement(3, fakes.CASE, TVM_LANES[:2])
    line = f"!! 2 imported modules evaluated wrongly by difftvm itself: {tmp_path / 'errors'}"
    assert line in fuzz("status", "--campaign", tmp_path).splitlines()


def test_status_repairs(tmp_path: Path) -> None:
    campaign(tmp_path)
    (tmp_path / "index.sqlite").write_bytes(b"garbage" * 999)
    found = json.loads(fuzz("status", "--repair", "--campaign", tmp_path, "--json"))
    assert (found["next_test"], found["books"]["tests"]) == (1, 1)
    assert (tmp_path / "index.sqlite.damaged-1").exists()


def test_the_tests_of_a_share_are_counted_not_their_numbers(tmp_path: Path) -> None:
    with Store(tmp_path, 1) as store:
        store.finished(801)
        store.state.counters.tests = 100
    assert fuzz("status", "--campaign", tmp_path).startswith(f"{tmp_path}: seed 1, 100 tests done, not running\n")


def test_a_damaged_finding_is_reported(tmp_path: Path, saved: Path) -> None:
    damaged = tmp_path / "crashes" / "damaged" / "finding.json"
    damaged.parent.mkdir()
    damaged.write_text("[" * 9999)
    lines = fuzz("status", "--campaign", tmp_path).splitlines()
    assert lines[2] == "1 confirmed cause: 1 high; 1 finding"
    assert lines[5].startswith(f"!! 1 finding that cannot be read: {damaged}: ")


@pytest.mark.parametrize("command", ["status", "dashboard"])
def test_an_index_without_counters_is_reported(command: str, tmp_path: Path) -> None:
    """The campaign was killed right after its start."""
    Index(tmp_path).close()
    with pytest.raises(Invalid, match=r"it has no counters yet; `fuzz run --campaign .*` writes them$"):
        fuzz(command, "--campaign", tmp_path)


def merged(folder: Path, count: int) -> Path:
    """Campaigns of 1, 2, 3, ... tests, merged into one that ran none itself, like the driver of a cluster."""
    with Store(folder, 1) as store:
        for number in range(1, count + 1):
            with Store(folder / f"from-{number}", 1) as other:
                counters = other.state.counters
                counters.tests, counters.lane_results = number, 10 * number
                counters.wall_seconds, counters.cpu_seconds, counters.stage_cpu = (
                    60.0,
                    30.0,
                    {"compile": 3.0, "run": 1.0},
                )
                counters.judged = JudgedCounts(100, {"rounding decides it": 1}, with_floats=20, equal_floats=1)
                other.state.known["known"] = 2
            with Index(folder / f"from-{number}", writes=False) as books:
                store.adopt(books)
    return folder


@pytest.mark.slow
def test_status_shows_the_sums_of_merged_campaigns_and_the_largest_ones(tmp_path: Path) -> None:
    lines = fuzz("status", "--campaign", merged(tmp_path, 12)).splitlines()
    assert lines[:2] == [
        f"{tmp_path}: seed 1, 0 tests done here, not running",
        "12 min 00 s: 78 tests, 780 lane results of 12 campaigns together",
    ]
    assert lines[3:7] == [
        "time goes to compile 75%, run 25%",
        "1,188 of 1,200 elements are judged; 1.00% not: rounding decides it",
        "240 tests with floats in their results: in 12 all judged ones are equal",
        "known behaviour met in 24 tests",
    ]
    assert [line.split(" (")[0] for line in lines[7:17]] == [
        f"merged: {tests} tests of seed 1" for tests in range(12, 2, -1)
    ]
    assert lines[17] == "merged: and 2 more (--json)"
    shown = json.loads(fuzz("status", "--campaign", tmp_path, "--json"))
    assert len(shown["origins"]) == 12
    assert shown["books"]["judged"] == {
        "elements": 1200,
        "unjudged": {"rounding decides it": 12},
        "with_floats": 240,
        "no_float": 0,
        "few_floats": 0,
        "equal_floats": 12,
    }


@pytest.mark.slow
def test_the_dashboard_shows_the_sums_too(tmp_path: Path) -> None:
    data = json.loads(fuzz("dashboard", "--campaign", merged(tmp_path, 12), "--json"))
    shown = {key: data[key] for key in ("tests", "lane_results", "wall_seconds", "cpu_seconds", "campaigns")}
    assert shown == {"tests": 78, "lane_results": 780, "wall_seconds": 720, "cpu_seconds": 360, "campaigns": 12}
    assert data["stage_cpu"] == {"compile": 36, "run": 12}
    assert [tests for *_, tests in data["origins"]] == list(range(12, 2, -1))
    assert data["more_origins"] == 2
