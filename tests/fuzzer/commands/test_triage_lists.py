"""`fuzz triage` lists what a campaign has, and refuses a folder that is none."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from fuzz_called import DONE, Fuzz, refused

from fuzzer.campaign.store.counters import Counters
from fuzzer.campaign.store.state import State
from fuzzer.campaign.store.store import Store
from fuzzer.signature.known import known_issues

pytestmark = pytest.mark.slow


def test_triage_lists_findings(fuzz: Fuzz, saved: Path) -> None:
    done = fuzz("triage", "--json", "--campaign", saved.parents[1])
    assert (done.returncode, done.stderr) == (DONE, "")
    (listed,) = json.loads(done.stdout)["causes"]
    assert (listed["slug"], listed["kind"], listed["component"]) == (saved.name, "internal-error", "tvm")
    plain = fuzz("triage", "--campaign", saved.parents[1])
    assert saved.name in plain.stdout
    counted = "1 confirmed cause: 1 high; 1 finding"
    assert plain.stdout.splitlines()[-1] == f"{counted}; next: python -m fuzzer.cli show 1"


def test_triage_of_a_folder_that_is_no_campaign(fuzz: Fuzz, tmp_path: Path) -> None:
    refused(fuzz("triage", "--campaign", "k9"), "k9: no campaign; `fuzz run --campaign k9` starts one")
    assert not (tmp_path / "k9").exists()


@pytest.mark.parametrize("verb", ["status", "triage", "dashboard"])
def test_a_broken_campaign_is_the_same_error_for_each_verb(fuzz: Fuzz, tmp_path: Path, verb: str) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "campaign.json").write_text("{")
    says = "c/campaign.json: Input data was truncated; move it away to start afresh (findings stay)"
    refused(fuzz(verb, "--campaign", "c"), says)


def test_triage_of_an_empty_campaign(fuzz: Fuzz, tmp_path: Path) -> None:
    with Store(tmp_path, 1):
        pass
    assert fuzz("triage").stdout == "no findings; next: python -m fuzzer.cli run\n"
    assert json.loads(fuzz("triage", "--json").stdout) == {
        key: [] for key in ("causes", "provisional", "other_causes", "other_provisional")
    }
    assert fuzz("triage", "--unsupported").stdout == "nothing is counted yet\n"
    assert json.loads(fuzz("triage", "--unsupported", "--json").stdout) == {}
    assert {entry["met"] for entry in json.loads(fuzz("triage", "--known", "--json").stdout)} == {0}


def campaign_of(folder: Path, state: State) -> Path:
    """A campaign that has only its campaign.json."""
    folder.mkdir()
    (folder / "campaign.json").write_bytes(msgspec.json.encode(state))
    return folder


def test_triage_counts_what_importers_lack(fuzz: Fuzz, tmp_path: Path) -> None:
    counters = Counters(unsupported={"b": 4, "a": 1}, lacking={"b": {"x": 1, "z": 3, "y": 3}, "a": {"w": 1}})
    counters.environment = {"no space left": 2}
    campaign = campaign_of(tmp_path / "c", State(0, counters=counters))
    done = fuzz("triage", "--unsupported", "--campaign", campaign)
    assert (done.returncode, done.stderr) == (DONE, "")
    assert done.stdout.splitlines() == [
        "a: 1 thing lacking, met in 1 test",
        "      1 w",
        "b: 3 things lacking, met in 4 tests",
        "      3 y",
        "      3 z",
        "      1 x",
        "the machine failed 2 lanes: no space left",
    ]
    listed = json.loads(fuzz("triage", "--unsupported", "--json", "--campaign", campaign).stdout)
    assert listed == {"a": {"w": 1}, "b": {"y": 3, "z": 3, "x": 1}}
    assert list(listed["b"]) == ["y", "z", "x"]


def test_triage_counts_known_behaviour(fuzz: Fuzz, tmp_path: Path) -> None:
    met, *others = known_issues()
    campaign = campaign_of(tmp_path / "c", State(0, known={met.name: 7}))
    done = fuzz("triage", "--known", "--campaign", campaign)
    assert (done.returncode, done.stderr) == (DONE, "")
    lines = done.stdout.splitlines()
    assert lines[: len(others) + 1] == [
        f"      7 {met.name} ({met.upstream}): {met.why}",
        *(f"  matches nothing here: {entry.name} ({entry.upstream})" for entry in others),
    ]
    assert all(line.startswith("  matches nothing here: ") for line in lines[len(others) + 1 :])
    (first, *rest) = json.loads(fuzz("triage", "--known", "--json", "--campaign", campaign).stdout)
    assert first == {"name": met.name, "why": met.why, "upstream": met.upstream, "met": 7}
    assert [(entry["name"], entry["met"]) for entry in rest] == [(entry.name, 0) for entry in others]


@pytest.mark.parametrize("table", ["--known", "--unsupported"])
def test_triage_of_a_damaged_campaign_json(fuzz: Fuzz, tmp_path: Path, table: str) -> None:
    campaign = campaign_of(tmp_path / "c", State(0))
    (campaign / "campaign.json").write_text('{"seed": ')
    refused(fuzz("triage", table, "--campaign", campaign), campaign / "campaign.json")
