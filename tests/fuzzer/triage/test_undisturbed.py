"""A condition of the machine is no evidence: what it disturbs runs again, and confirms and refutes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import fakes
import pytest
from graphs_by_hand import case_of
from labs import FakeLab

from fuzzer.isolate.reports import SHOWS, ScriptRun
from fuzzer.signature import signature_of
from fuzzer.signature.blame import ReleaseVerdict
from fuzzer.system.environment import MachineLacks
from fuzzer.triage import undisturbed
from fuzzer.triage.blame.releases import Release, run_in
from fuzzer.triage.investigate import Investigated, Sighting, investigate
from fuzzer.triage.naming import name_failure
from fuzzer.triage.reproduce import reproduces, try_candidate
from fuzzer.triage.scope.asking import answer_of
from fuzzer.triage.scope.statement import Answer
from fuzzer.triage.undisturbed import undisturbed_script
from generators.graph import Case
from oracles.finding import Component, Finding, Kind, Mismatch
from oracles.lane import LaneSpec
from oracles.outcome import Cause, Died, Outcome, Raised, Result, Skipped, Stage

CASE = case_of({"x0": "float32[2]"}, [("v0", "neg", "x0"), ("v1", "relu", "v0")], "v1")
FULL = Skipped("less than 0.50 GB of the disk are free", environment=True)
LANE = fakes.TVM
REFUSED = fakes.raised(Stage.IMPORT, "ValueError", "no layout", fakes.REFUSAL)
FINDING = Finding(Kind.REJECTED, Component.TVM, LANE, Stage.IMPORT, REFUSED)
DEATH = Finding(Kind.DIED, Component.TVM, LANE, Stage.RUN, Died(Stage.RUN, Cause.SIGNAL, 11))


@pytest.fixture(autouse=True)
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses before further attempts. None is waited for."""
    seconds: list[float] = []
    monkeypatch.setattr("fuzzer.triage.undisturbed.time.sleep", seconds.append)
    return seconds


class Disturbed(FakeLab):
    """A lab whose machine is short for some runs. Its lane fails as a finding says, but for these."""

    def __init__(self, finding: Finding, is_short: Callable[[int], bool], lane: LaneSpec = LANE) -> None:
        self._sin, self._is_short, self._lacking, self.count = finding.evidence, is_short, lane, 0
        super().__init__(self._outcome)

    def _outcome(self, case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
        assert isinstance(self._sin, Raised | Died)
        return self._sin if lane == LANE and "relu" in case.graph.ops else None

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        self.count += 1
        result = super().run(case, lanes)
        if self._is_short(self.count):
            lacking = {lane: FULL for lane in lanes if fakes.as_named(lane) == self._lacking}
            return replace(result, outcomes={**result.outcomes, **lacking})
        return result


def investigated(lab: Disturbed, finding: Finding) -> Investigated:
    sighting = Sighting(signature_of(finding), finding, (finding.lane,))
    return investigate(lab, CASE, sighting, lambda lane: (), lab.examine)


@pytest.mark.parametrize("finding", [FINDING, DEATH])
@pytest.mark.parametrize("short", range(1, 12))
def test_a_disk_that_is_short_in_one_run_makes_no_finding_flaky(finding: Finding, short: int) -> None:
    """In whichever run: to locate, to reduce, to name, to confirm or to blame."""
    calm = investigated(Disturbed(finding, lambda number: False), finding)
    found = investigated(Disturbed(finding, lambda number: number == short), finding)
    assert not calm.flaky
    assert replace(found, costs={}) == replace(calm, costs={})


@pytest.mark.parametrize("finding", [FINDING, DEATH])
def test_a_disk_that_stays_short_ends_the_investigation(finding: Finding, waited: list[float]) -> None:
    with pytest.raises(MachineLacks, match=r"^less than 0\.50 GB of the disk are free$"):
        investigated(Disturbed(finding, lambda number: True), finding)
    assert waited[: len(undisturbed.PAUSES)] == list(undisturbed.PAUSES)


@pytest.mark.parametrize("lacking", [LANE, fakes.TORCH])
def test_neither_a_lane_nor_its_judge_refutes_where_the_machine_could_not_run_it(lacking: LaneSpec) -> None:
    lab = Disturbed(FINDING, lambda number: True, lacking)
    signature = signature_of(FINDING)
    with pytest.raises(MachineLacks):
        reproduces(lab.run, CASE, LANE, signature)
    with pytest.raises(MachineLacks):
        name_failure(lab.run, CASE, LANE, signature)
    assert not try_candidate(lab.run, CASE, LANE, signature).same


def test_only_the_lanes_that_were_disturbed_run_again() -> None:
    lab = Disturbed(FINDING, lambda number: number == 1)
    result = undisturbed.undisturbed(lab.run)(CASE, (fakes.TORCH, LANE))
    assert [lanes for _, lanes in lab.ran] == [(LANE,), (LANE,)]
    assert list(result.outcomes) == [fakes.TORCH, LANE]
    assert result.outcomes[LANE] == REFUSED
    assert result.cpu_seconds == 2.0


def test_a_case_of_which_the_machine_could_not_run_a_judge_does_not_pass() -> None:
    lab = Disturbed(replace(FINDING, evidence=REFUSED), lambda number: True, fakes.TORCH_F64)
    right = case_of({"x0": "float32[2]"}, [("v0", "neg", "x0")], "v0")
    wrong = Finding(Kind.WRONG_VALUE, Component.TVM, LANE, Stage.RUN, Mismatch(0, "0.0", "1.0"))
    assert answer_of(lab, wrong, right, LANE) is Answer.REFUSED
    assert run_in(lab.run, right, LANE, signature_of(wrong), Release("0.26.0", "host")).verdict is (
        ReleaseVerdict.NOT_RUN
    )


@pytest.mark.parametrize(("fails", "expected"), [(1, ScriptRun(SHOWS)), (9, ScriptRun(None, FULL.reason))])
def test_a_script_that_the_machine_disturbs_runs_again(fails: int, expected: ScriptRun) -> None:
    runs: list[str] = []

    def run_script(source: str, lane: LaneSpec) -> ScriptRun:
        runs.append(source)
        if len(runs) <= fails:
            raise MachineLacks(FULL.reason)
        return ScriptRun(SHOWS)

    assert undisturbed_script(run_script)("pass", LANE) == expected
    assert len(runs) == min(fails, len(undisturbed.PAUSES)) + 1
