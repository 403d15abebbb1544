"""A finding's own script runs before the finding is saved, and the finding says how it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from graphs_by_hand import case_of
from records import record

from fuzzer.campaign.store.store import Store
from fuzzer.findings import finding_file
from fuzzer.isolate.reports import ScriptRun
from fuzzer.lanes import SAMPLED_LANES
from fuzzer.lanes.base.availability import Machine
from fuzzer.report import own_script
from fuzzer.triage.investigate import Investigated, Sighting
from oracles.finding import Kind, Mismatch
from oracles.lane import LaneSpec

VERSIONS = {"tvm": "0.27.0"}
Make = Callable[..., tuple[Investigated, Sighting]]


class Runner:
    def __init__(self, answer: ScriptRun) -> None:
        self.answer = answer
        self.ran: list[tuple[str, LaneSpec]] = []

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        self.ran.append((source, lane))
        return self.answer


def test_the_script_that_runs_is_the_one_that_is_saved(make: Make, tmp_path: Path) -> None:
    found, _ = make()
    runner = Runner(ScriptRun(1))
    with Store(tmp_path, 1) as store:
        doc = store.save(own_script.with_own_script(runner.run_script, found, VERSIONS), VERSIONS)
    assert doc is not None
    folder = tmp_path / "crashes" / doc.slug
    assert runner.ran == [((folder / "repro.py").read_text(), found.finding.lane)]
    assert finding_file.read(folder).script == ScriptRun(1)


def test_a_script_that_does_not_show_its_bug_gives_a_warning(make: Make) -> None:
    found, _ = make()
    lines = {}
    for run in (ScriptRun(1), ScriptRun(0), ScriptRun(125), ScriptRun(None, "it took more than 90 s")):
        doc = finding_file.document(own_script.with_own_script(Runner(run).run_script, found, VERSIONS), VERSIONS)
        lines[run.exit_code] = own_script.warning(doc)
    slug = doc.slug
    assert lines == {
        1: "",
        0: f"{slug}: its repro.py says that the bug is gone (exit code 0)",
        125: f"{slug}: its repro.py cannot tell whether the bug is there (exit code 125)",
        None: f"{slug}: its repro.py was not run to its end: it took more than 90 s",
    }


def test_the_script_of_a_flaky_finding_is_not_run_and_gives_no_warning(make: Make) -> None:
    found, _ = make()
    runner = Runner(ScriptRun(0))
    flaky = own_script.with_own_script(runner.run_script, replace(found, again=1), VERSIONS)
    assert flaky.script == ScriptRun(None, "flaky")
    assert runner.ran == []
    assert own_script.warning(finding_file.document(flaky, VERSIONS)) == ""


def test_a_script_for_a_gpu_is_not_run_without_one() -> None:
    cuda = next(lane for lane in SAMPLED_LANES if lane.target == "cuda")
    case = case_of({"x0": "float32[2]"}, [("v0", "neg", "x0")], "v0")
    wrong = record(case, Kind.WRONG_VALUE, cuda, Mismatch(0, "1", "2"))
    runner = Runner(ScriptRun(1))
    nothing = Machine(which=lambda name: None, devices=lambda kind: ())
    assert own_script.run(runner.run_script, wrong, nothing) == ScriptRun(
        None, "it needs a GPU, and there is none here"
    )
    assert runner.ran == []


def test_a_finding_that_an_earlier_version_saved_is_read(saved: Path) -> None:
    path = saved / finding_file.NAME
    text = path.read_text()
    assert '"script": null' in text
    path.write_text(text.replace(',\n "script": null', ""))
    assert '"script"' not in path.read_text()
    assert finding_file.read(saved).script is None
    assert own_script.warning(finding_file.read(saved)) == ""
