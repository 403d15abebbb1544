"""`fuzz run`: how a run begins, and what it prints at its end."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from labs import FakeLab

from fuzzer.campaign.plan.settings import Settings
from fuzzer.campaign.run.loop import Campaign
from fuzzer.campaign.run.signals import SIGNALS
from fuzzer.campaign.run.start import obey_signals, to_stop, warm_up
from fuzzer.campaign.store.counters import Counters
from fuzzer.campaign.store.pause_switch import PauseSwitch
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.triage.waiting import Queue
from fuzzer.commands.run import run
from fuzzer.commands.run_cluster import _summarise_cluster
from fuzzer.commands.run_summary import summarise
from fuzzer.isolate.fleet import BackendKey
from fuzzer.lanes import TVM_LANES
from fuzzer.system.devices import Device
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.system.terminal import command, program
from fuzzer.toolchains.lanes import in_toolchain
from fuzzer.toolchains.toolchain import HOST_NAME
from fuzzer.triage.investigate import Investigated, Sighting
from fuzzer.watching.cause_lines import short_name
from generators.graph import Invalid
from oracles.finding import Component

RIGHT_LAB = FakeLab(lambda case, lane, lanes: None)


class ColdFleet:
    """A fleet that calls `meanwhile` while its compilers warm up."""

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        self.started: list[str] = []
        self.meanwhile = meanwhile

    def backend(self, key: BackendKey) -> None:
        self.started.append(key.toolchain)
        self.meanwhile()


@pytest.fixture
def stop_requested() -> Iterator[threading.Event]:
    before = {number: signal.getsignal(number) for number in (*SIGNALS, signal.SIGTSTP, signal.SIGCONT)}
    yield to_stop()
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("gone", [False, True])
def test_a_signal_while_the_compilers_warm_up_is_acknowledged_at_once(
    number: signal.Signals, gone: bool, stop_requested: threading.Event, capsys: pytest.CaptureFixture[str]
) -> None:
    """The self-test does not begin, which this fleet does not have. Ctrl-C may also end the compilers, which is not
    reported as their failure."""

    def meanwhile() -> None:
        if threading.current_thread() is threading.main_thread():
            signal.raise_signal(number)
            line = "stopping; no test has begun (once more to stop at once)\n"
            assert capsys.readouterr().err == line
        if gone:
            raise EnvironmentMissing("it was interrupted")

    fleet = ColdFleet(meanwhile)
    warm_up(fleet, ["other"], stop_requested)  # type: ignore[arg-type]
    assert stop_requested.is_set()
    assert set(fleet.started) == {HOST_NAME, "other"}


def test_compilers_start_side_by_side(stop_requested: threading.Event) -> None:
    both = threading.Barrier(2)

    def meanwhile() -> None:
        both.wait(120)
        stop_requested.set()

    warm_up(ColdFleet(meanwhile), ["other"], stop_requested)  # type: ignore[arg-type]


@pytest.mark.parametrize("requested", [False, True])
def test_a_request_to_stop_during_the_warm_up_stops_the_campaign(
    requested: bool, stop_requested: threading.Event
) -> None:
    if requested:
        stop_requested.set()
    stops: list[bool] = []
    task = SimpleNamespace(stop=lambda: stops.append(True), pause_switch=PauseSwitch())
    obey_signals(task, stop_requested)  # type: ignore[arg-type]
    assert stops == [True] * requested
    signal.raise_signal(signal.SIGINT)
    assert stops == [True] * (1 + requested), "later signals still count"


def test_compilers_that_do_not_start_are_reported(stop_requested: threading.Event) -> None:
    def meanwhile() -> None:
        raise EnvironmentMissing("no torch here")

    with pytest.raises(EnvironmentMissing, match="no torch here"):
        warm_up(ColdFleet(meanwhile), [], stop_requested)  # type: ignore[arg-type]


def test_the_summary_distinguishes_the_run_from_the_campaign(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store(tmp_path, 1) as store:
        store.state.counters = Counters(tests=5, invalid=4, errors=2)
        task = Campaign(Settings(tmp_path, 1), store, RIGHT_LAB)
        store.state.counters.tests += 1
        summarise(task, store, {}, None)
        store.keep_failed_test(9, None, "why", 10)
        summarise(task, store, {}, None)
    first, all_of_it, nothing, _, *again = capsys.readouterr().out.splitlines()
    assert first == "1 test in 0 s; 0 invalid; 0 new findings"
    assert all_of_it == "the campaign has 6 tests, 4 invalid; 2 tests could not be done by difftvm itself"
    assert nothing == "no cause is confirmed yet"
    assert again[0] == first
    assert again[1] == f"1 test could not be done by difftvm itself: {os.path.relpath(tmp_path / 'errors')}"


def test_the_suggested_command_is_quoted_for_the_shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, words in ((".", "run --seconds 600"), ("a b", "run --campaign 'a b' --seconds 600")):
        with Store(Path(folder), 1) as store:
            summarise(Campaign(Settings(store.folder, 1), store, RIGHT_LAB), store, {}, Path("p.py"))
        assert capsys.readouterr().out.splitlines()[-1] == f"next: {program()} {words} --preload p.py"


@pytest.mark.parametrize(
    ("component", "words"),
    [(Component.TVM, "--replay c/crashes/{slug}"), (Component.PYTORCH, "triage --campaign c")],
)
def test_the_suggested_command_replays_a_new_finding_only_if_it_may_be_filed(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[..., tuple[Investigated, Sighting]],
    component: Component,
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    found, _ = make()
    found = replace(found, signature=replace(found.signature, component=component))
    with Store(Path("c"), 1) as store:
        task = Campaign(Settings(store.folder, 1), store, RIGHT_LAB)
        doc = store.save(found, {})
        assert doc is not None
        summarise(task, store, {}, None)
        assert capsys.readouterr().out.splitlines()[-1] == f"next: {program()} triage --campaign c", "none is new"
        task.triage.new.append(doc)
        summarise(task, store, {}, None)
    assert capsys.readouterr().out.splitlines()[-1] == f"next: {program()} {words.format(slug=doc.slug)}"


@pytest.mark.parametrize("json_wanted", [False, True])
def test_the_end_of_a_campaign_names_the_gpus_that_were_given_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], json_wanted: bool
) -> None:
    given_up = {Device("GPU-1", "H100"): "it has fallen off the bus"}
    with Store(tmp_path, 1) as store:
        task = Campaign(Settings(tmp_path, 1, json=json_wanted), store, RIGHT_LAB)
        summarise(task, store, given_up, None)
    printed = capsys.readouterr().out
    if json_wanted:
        assert json.loads(printed)["quarantined"] == {"GPU-1 (H100)": "it has fallen off the bus"}
    else:
        assert "\nGPU-1 (H100) was given up: it has fallen off the bus\n" in printed


def test_until_new_findings_without_triage_is_refused(tmp_path: Path) -> None:
    """No finding would be new, and the run would never end."""
    with pytest.raises(Invalid) as caught:
        run(until_new=1, triage_share=0.0, campaign=tmp_path / "c")
    assert str(caught.value) == (
        "--until-new with --triage-share 0 needs --seconds or --tests: no finding is new without triage"
    )
    assert not (tmp_path / "c").exists()


def test_the_summary_says_what_waits_and_where_evaluations_were_wrong(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[..., tuple[Investigated, Sighting]],
) -> None:
    monkeypatch.chdir(tmp_path)
    found, sighting = make()
    elsewhere = replace(sighting.finding, lane=in_toolchain(sighting.finding.lane, "0.1"))
    with Store(Path("c"), 1) as store:
        task = Campaign(Settings(store.folder, 1), store, RIGHT_LAB)
        task.triage.queue.add(found.case, replace(sighting, finding=elsewhere), {})
        store.keep_disagreement(3, found.case, TVM_LANES[:1])
        summarise(task, store, {}, None)
        lines = capsys.readouterr().out.splitlines()
        assert lines[1] == "1 imported module evaluated wrongly by difftvm itself: c/errors"
        work = f"`{program()} triage --work --campaign c` investigates them"
        (name,) = os.listdir("c/waiting")
        assert lines[3:9] == [
            "no cause is confirmed yet",
            "not confirmed yet: 1 cause, seen in 1 sighting",
            "  1 sighting: `relu` fails: no layout for it",
            f"      {program()} --replay {short_name(name)} --campaign c",
            f"1 sighting waiting for triage; {work}",
            "1 sighting cannot be investigated here: toolchain 0.1 is not installed (1)",
        ]
        summarise(Campaign(Settings(store.folder, 1, json=True), store, RIGHT_LAB), store, {}, None)
        printed = json.loads(capsys.readouterr().out)
        waits = {key: printed[key] for key in ("waiting", "other_waiting", "lacking")}
        assert waits == {"waiting": 1, "other_waiting": 0, "lacking": {"toolchain 0.1 is not installed": 1}}
        assert [row["members"] for row in printed["causes"]["provisional"]] == [[name]]


def test_the_summary_of_a_cluster_says_what_waits(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    make: Callable[..., tuple[Investigated, Sighting]],
) -> None:
    found, sighting = make()
    driver = SimpleNamespace(given_up=set(), new=[])
    with Store(tmp_path, 1) as store:
        Queue(tmp_path).add(found.case, sighting, {})
        store.save_state()
        _summarise_cluster(driver, store, False)  # type: ignore[arg-type]
        work = command("triage", "--work", "--campaign", tmp_path)
        line = f"1 sighting waiting for triage; `{work}` investigates them"
        lines = capsys.readouterr().out.splitlines()
        assert lines[1:3] == ["no cause is confirmed yet", "not confirmed yet: 1 cause, seen in 1 sighting"]
        assert lines[5] == line
        _summarise_cluster(driver, store, True)  # type: ignore[arg-type]
        assert json.loads(capsys.readouterr().out) == {
            "tests": 0,
            "findings": [],
            "new": 0,
            "waiting": 1,
            "other_waiting": 0,
            "parked": 0,
            "given_up": [],
        }
