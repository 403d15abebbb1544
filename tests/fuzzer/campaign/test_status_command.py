"""`fuzz status` and `fuzz merge`, as a user calls them."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from typer.testing import CliRunner

from fuzzer.campaign.rows import row_of
from fuzzer.campaign.store import Store
from fuzzer.cli import app
from fuzzer.lanes import ONNXRUNTIME, TORCH
from oracles.outcome import Raised, Ran, Stage


def campaign(folder: Path) -> Path:
    with Store(folder, 1) as store:
        store.record(row_of(0, 0.5, {TORCH: Ran(())}))
        store.finished(1)
        store.state.tally.tests = 1
    return folder


def fuzz(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(each) for each in arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_status_of_a_campaign_with_a_finding(tmp_path: Path, saved: Path) -> None:
    os.utime(saved / "finding.json", (time.time() - 3600.5,) * 2)
    assert fuzz("status", "--campaign", tmp_path).splitlines() == [
        f"{tmp_path}: seed 1, 0 tests done, nobody runs it",
        "0 s: 0 tests, 0 lane results; rates are not known yet",
        "findings: 1 tvm; 0 flaky; 1 in 24 h",
        f"latest: {saved.name}, 1 h 00 min ago",
        f"next: fuzz triage --campaign {tmp_path}",
    ]


def test_status_while_it_runs(tmp_path: Path) -> None:
    with Store(campaign(tmp_path), 1):
        told = json.loads(fuzz("status", "--campaign", tmp_path, "--json"))
    assert (told["holder"], told["next_test"], told["lanes"]) == (os.getpid(), 1, {"torch": {"ran": 1}})
    assert told["books"]["tests"] == 1


def test_status_says_how_fast_it_is_what_it_costs_and_what_fails(tmp_path: Path) -> None:
    with Store(tmp_path, 1) as store:
        tally = store.state.tally
        for number in range(200):
            outcome = Raised(Stage.RUN, "E", "no") if number >= 160 else Ran(())
            store.record(row_of(number, 0.5, {TORCH: Ran(()), ONNXRUNTIME: outcome}))
        for seconds in (0, 600, 1200, 1500):
            tally.wall_seconds, tally.tests, tally.lane_results = seconds, seconds // 10, seconds
            store.save_state()
        tally.stage_cpu = {"compile": 3.0, "export": 1.0}
    with Store(tmp_path, 1):
        lines = fuzz("status", "--campaign", tmp_path).splitlines()
    assert lines[1:3] == [
        "25 min 00 s: 150 tests, 1500 lane results; lately 0.10 tests and 1.0 lane results a second",
        "findings: none yet; 0 flaky; 0 in 24 h",
    ]
    assert lines[3].startswith("memory: supervisor ")
    assert lines[4:] == [
        "time goes to compile 75%, export 25%",
        "!! onnxruntime                160 ran, 40 raised",
        "   torch                      200 ran",
        "!! these lanes suddenly give far fewer results than before",
        f"next: fuzz triage --campaign {tmp_path}",
    ]


def test_merge_and_status_of_the_result(tmp_path: Path) -> None:
    a, into = campaign(tmp_path / "a"), tmp_path / "c"
    assert fuzz("merge", a, "--into", into).splitlines() == [
        f"{a}: 1 tests and 0 findings are new, 0 findings were there",
        f"next: fuzz status --campaign {into}",
    ]
    assert json.loads(fuzz("merge", a, "--into", into, "--json")) == [
        {"source": str(a), "tests": 0, "new": 0, "known": 0}
    ]
    assert [origin[1:] for origin in json.loads(fuzz("status", "--campaign", into, "--json"))["origins"]] == [[1, 1]]


def test_status_repairs(tmp_path: Path) -> None:
    campaign(tmp_path)
    (tmp_path / "index.sqlite").write_bytes(b"garbage" * 999)
    told = json.loads(fuzz("status", "--repair", "--campaign", tmp_path, "--json"))
    assert (told["next_test"], told["books"]["tests"]) == (1, 1)
    assert (tmp_path / "index.sqlite.damaged-1").exists()
