"""A whole campaign, as a user runs it: two tests, triage on demand, one more test, and replays of what was found."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fuzzer.findings import finding_file
from fuzzer.findings.replay import load, replay
from fuzzer.isolate.fleet import Fleet
from fuzzer.lanes import LANES, SAMPLED_LANES
from fuzzer.system.exit_codes import Exit
from oracles.importers import drawn_importers
from oracles.outcome import Stage

pytestmark = [pytest.mark.tvm, pytest.mark.long]

SEED = 3


def fuzz(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fuzzer.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def run(folder: Path, tests: int, *more: object) -> tuple[dict[str, Any], str]:
    """The summary, and the messages on stderr."""
    done = fuzz("run", "--tests", tests, "--seed", SEED, "--workers", 1, "--json", "--campaign", folder, *more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("campaign")


@pytest.fixture(scope="module")
def first(folder: Path) -> tuple[dict[str, Any], str]:
    """A run without triage."""
    return run(folder, 2, "--triage-share", 0, "--drain", 0)


@dataclass(frozen=True)
class Waiting:
    """What three commands say of the sightings that the first run left."""

    sightings: list[Path]
    status: dict[str, Any]
    listed: str
    replayed: int


@pytest.fixture(scope="module")
def waiting(folder: Path, first: tuple[dict[str, Any], str]) -> Waiting:
    sightings = sorted((folder / "waiting").iterdir())
    return Waiting(
        sightings,
        json.loads(fuzz("status", "--campaign", folder, "--json").stdout),
        fuzz("triage", "--campaign", folder).stdout,
        fuzz("--replay", sightings[0]).returncode,
    )


@pytest.fixture(scope="module")
def worked(folder: Path, waiting: Waiting) -> dict[str, Any]:
    """The summary of triage on demand, before which the commands about waiting sightings have run."""
    done = fuzz("triage", "--work", "--campaign", folder, "--json")
    assert done.returncode == 0, done.stderr
    assert list((folder / "waiting").iterdir()) == []
    assert fuzz("triage", "--work", "--campaign", folder).stdout.startswith("no sighting waits for triage; next: ")
    return dict(json.loads(done.stdout))


@pytest.fixture(scope="module")
def second(folder: Path, worked: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """A run with triage. Its summary covers both runs."""
    return run(folder, 1, "--scope-share", 0)


def test_the_summary(first: tuple[Mapping[str, Any], str]) -> None:
    summary, messages = first
    assert f"seed {SEED}, from test 0" in messages
    assert summary["tests"] == 2
    assert 0 <= summary["invalid"] <= 2
    assert 2 <= summary["lane_results"] <= 2 * 8
    assert summary["cpu_seconds"] > 0
    assert summary["wall_seconds"] > 0
    assert set(summary["stage_cpu_seconds"]) <= set(Stage)
    assert 0 < sum(summary["stage_cpu_seconds"].values()) <= summary["cpu_seconds"]
    names = {lane.name for lane in (*LANES, *SAMPLED_LANES)} | {
        f"relax-{importer}-drawn" for importer in drawn_importers("torch")
    }
    unsupported = {name for name in summary["unsupported"] if not name.startswith("onnxruntime")}
    assert unsupported <= names
    assert all(count > 0 for count in summary["unsupported"].values())
    assert (summary["findings"], summary["parked"]) == ([], 0)


def test_sightings_wait_and_are_replayed(folder: Path, first: tuple[Mapping[str, Any], str], waiting: Waiting) -> None:
    assert len(waiting.sightings) == first[0]["waiting"] == waiting.status["waiting"] > 0
    assert " waiting for triage; `" in waiting.listed
    assert f" triage --work --campaign {folder}` investigates them" in waiting.listed
    assert waiting.replayed == Exit.SAME


def test_sightings_are_investigated_on_demand(worked: Mapping[str, Any]) -> None:
    assert (worked["waiting"], worked["parked"]) == (0, 0)
    assert worked["investigated"] >= len(worked["new"]) > 0


def test_a_second_run_goes_on(
    first: tuple[Mapping[str, Any], str], worked: Mapping[str, Any], second: tuple[Mapping[str, Any], str]
) -> None:
    (before, _), (after, messages) = first, second
    assert f"seed {SEED}, from test 2" in messages
    assert after["tests"] == 3
    assert all(after[key] > before[key] for key in ("lane_results", "cpu_seconds", "wall_seconds"))
    assert set(worked["new"]) <= {finding["slug"] for finding in after["findings"]}
    for finding in after["findings"]:
        assert set(finding) == {"slug", "signature", "kind", "component", "lanes", "ops", "flaky"}
        assert finding["lanes"]
        assert finding["ops"]


def test_findings_on_disk_are_those_listed(folder: Path, second: tuple[Mapping[str, Any], str]) -> None:
    listed = {finding["slug"]: finding for finding in second[0]["findings"]}
    assert {path.name for path in (folder / "crashes").iterdir()} == set(listed)
    for slug, finding in listed.items():
        doc, case = finding_file.read_with_case(folder / "crashes" / slug)
        assert [doc.slug, doc.signature, doc.kind, doc.component, doc.lanes, doc.ops, doc.flaky] == [
            *(finding[key] for key in ("slug", "signature", "kind", "component", "lanes", "ops", "flaky")),
        ]
        assert list(case.graph.ops) == doc.ops
        assert doc.versions["tvm"]


def test_nothing_else_is_left(folder: Path, second: tuple[Mapping[str, Any], str]) -> None:
    left = {"campaign.json", "campaign.lock", "crashes", "fuzz_stats", "index.sqlite", "last-run.json", "plot_data"}
    left |= {"waiting"}
    assert {path.name for path in folder.iterdir()} == left
    assert json.loads((folder / "campaign.json").read_bytes())["next_test"] == 3


def test_a_tvm_finding_replays(folder: Path, fleet: Fleet, second: tuple[Mapping[str, Any], str]) -> None:
    of_tvm = [f for f in second[0]["findings"] if f["component"] == "tvm" and not f["flaky"]]
    assert of_tvm, f"3 tests of seed {SEED} met no bug of TVM: take another seed"
    doc, case = load(folder / "crashes" / of_tvm[0]["slug"])
    assert replay(fleet.run_fresh, doc, case, (doc.lane,), 1).exit is Exit.SAME
