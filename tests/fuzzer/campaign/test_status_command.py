"""`fuzz status` and `fuzz merge`, as a user calls them."""

from __future__ import annotations

import json
import os
from pathlib import Path

from typer.testing import CliRunner

from fuzzer.campaign.index import row_of
from fuzzer.campaign.store import Store
from fuzzer.cli import app
from fuzzer.lanes import TORCH
from oracles.outcome import Ran


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
    assert fuzz("status", "--campaign", tmp_path).splitlines() == [
        f"{tmp_path}: seed 1, 0 tests done, nobody runs it",
        f"findings: 1 tvm; 0 flaky; latest: {saved.name}",
        f"next: fuzz triage --campaign {tmp_path}",
    ]


def test_status_while_it_runs(tmp_path: Path) -> None:
    with Store(campaign(tmp_path), 1):
        told = json.loads(fuzz("status", "--campaign", tmp_path, "--json"))
    assert (told["holder"], told["next_test"], told["lanes"]) == (os.getpid(), 1, {"torch": {"ran": 1}})
    assert told["books"]["tests"] == 1


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
