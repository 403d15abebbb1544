"""A whole campaign, as a user runs it: six tests, then two more, then a replay of what was found."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fuzzer.campaign.drawn_lanes import IMPORTERS
from fuzzer.findings import finding_file
from fuzzer.lanes import LANES, SAMPLED_LANES
from oracles.outcome import Stage

pytestmark = pytest.mark.tvm

SAME = 77
SEED = 3


def fuzz(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fuzzer.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def run(folder: Path, tests: int) -> tuple[dict[str, Any], str]:
    """The summary, and the messages on stderr."""
    done = fuzz("run", "--tests", tests, "--seed", SEED, "--workers", 1, "--json", "--campaign", folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("campaign")


@pytest.fixture(scope="module")
def six(folder: Path) -> tuple[dict[str, Any], str]:
    return run(folder, 6)


@pytest.fixture(scope="module")
def eight(folder: Path, six: tuple[dict[str, Any], str]) -> tuple[dict[str, Any], str]:
    """The summary of the second run, which covers both."""
    return run(folder, 2)


def test_the_summary(six: tuple[Mapping[str, Any], str]) -> None:
    summary, messages = six
    assert f"seed {SEED}, from test 0" in messages
    assert summary["tests"] == 6
    assert 0 <= summary["invalid"] <= 6
    assert 6 <= summary["lane_results"] <= 6 * 8
    assert summary["cpu_seconds"] > 0
    assert summary["wall_seconds"] > 0
    assert set(summary["stage_cpu_seconds"]) <= set(Stage)
    assert 0 < sum(summary["stage_cpu_seconds"].values()) <= summary["cpu_seconds"]
    names = {lane.name for lane in (*LANES, *SAMPLED_LANES)} | {f"relax-{importer}-drawn" for importer in IMPORTERS}
    assert all(name in names and count > 0 for name, count in summary["unsupported"].items())
    for finding in summary["findings"]:
        assert set(finding) == {"slug", "signature", "kind", "component", "lanes", "ops", "flaky"}
        assert finding["lanes"]
        assert finding["ops"]


def test_a_second_run_goes_on(six: tuple[Mapping[str, Any], str], eight: tuple[Mapping[str, Any], str]) -> None:
    (before, _), (after, messages) = six, eight
    assert f"seed {SEED}, from test 6" in messages
    assert after["tests"] == 8
    assert all(after[key] > before[key] for key in ("lane_results", "cpu_seconds", "wall_seconds"))
    assert {f["slug"] for f in before["findings"]} <= {f["slug"] for f in after["findings"]}


def test_findings_on_disk_are_those_listed(folder: Path, eight: tuple[Mapping[str, Any], str]) -> None:
    listed = {finding["slug"]: finding for finding in eight[0]["findings"]}
    assert {path.name for path in (folder / "crashes").iterdir()} == set(listed)
    for slug, finding in listed.items():
        doc, case = finding_file.read_with_case(folder / "crashes" / slug)
        assert [doc.slug, doc.signature, doc.kind, doc.component, doc.lanes, doc.ops, doc.flaky] == [
            *(finding[key] for key in ("slug", "signature", "kind", "component", "lanes", "ops", "flaky")),
        ]
        assert list(case.graph.ops) == doc.ops
        assert doc.versions["tvm"]


def test_nothing_else_is_left(folder: Path, eight: tuple[Mapping[str, Any], str]) -> None:
    left = {"campaign.json", "campaign.lock", "crashes", "fuzz_stats", "index.sqlite", "plot_data", "waiting"}
    assert {path.name for path in folder.iterdir()} == left
    assert json.loads((folder / "campaign.json").read_bytes())["next_test"] == 8


def test_a_tvm_finding_replays(folder: Path, eight: tuple[Mapping[str, Any], str]) -> None:
    of_tvm = [f for f in eight[0]["findings"] if f["component"] == "tvm" and not f["flaky"]]
    assert of_tvm, f"8 tests of seed {SEED} met no bug of TVM: take another seed"
    done = fuzz("--replay", folder / "crashes" / of_tvm[0]["slug"], "--json")
    assert done.returncode == SAME, done.stderr
    report = json.loads(done.stdout)
    assert (report["slug"], report["exit"]) == (of_tvm[0]["slug"], SAME)
    assert [run["verdict"] for run in report["runs"]] == ["same"]


def test_sightings_wait_are_replayed_and_investigated_on_demand(tmp_path: Path) -> None:
    options = ("--tests", 4, "--seed", SEED, "--random", "--triage-share", 0, "--drain", 0, "--json")
    done = fuzz("run", *options, "--campaign", tmp_path)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["findings"], summary["parked"]) == ([], 0)
    waiting = sorted(path for path in (tmp_path / "waiting").iterdir())
    assert len(waiting) == summary["waiting"] > 0
    assert json.loads(fuzz("status", "--campaign", tmp_path, "--json").stdout)["waiting"] == len(waiting)
    listed = fuzz("triage", "--campaign", tmp_path).stdout
    assert " waiting for triage; `" in listed
    assert f" triage --work --campaign {tmp_path}` investigates them" in listed
    assert fuzz("--replay", waiting[0]).returncode == SAME
    done = fuzz("triage", "--work", "--campaign", tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    worked = json.loads(done.stdout)
    assert (worked["waiting"], worked["parked"]) == (0, 0)
    assert worked["investigated"] >= len(worked["new"]) > 0
    assert list((tmp_path / "waiting").iterdir()) == []
    assert {path.name for path in (tmp_path / "crashes").iterdir()} == set(worked["new"])
    again = fuzz("triage", "--work", "--campaign", tmp_path)
    assert again.stdout.startswith("no sighting waits for triage; next: ")
