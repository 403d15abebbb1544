"""One finding is filed: once, or not at all, and the books say which."""

from __future__ import annotations

import time
from dataclasses import replace

import msgspec
import pytest
from desk import REPO, Place, Shows, Watch
from github_server import DONE_ALL_THE_SAME, Fault, GitHubServer

from fuzzer.filing.draft import Draft
from fuzzer.filing.filing import Denied, Drafted, Fate, Filed, Held, look, settle_all, submit
from fuzzer.filing.gates import GATES, STOP, Desk, Verdict
from fuzzer.filing.ledger import Ledger, Step, state_folder
from fuzzer.filing.tracker import Unreachable
from fuzzer.report.issue import marker

pytestmark = pytest.mark.slow


def filed(place: Place, draft: Draft, *, force: bool = False) -> Fate:
    desk = place.desk(draft)
    with desk.ledger:
        return submit(draft, desk, force=force)


def step(place: Place, draft: Draft) -> Step | None:
    with Ledger(place.ledger) as ledger:
        entry = ledger.entry(place.tracker().place, draft.fingerprint)
    return entry.step if entry else None


def test_it_is_filed_as_it_was_drafted(place: Place, server: GitHubServer, finding: Draft) -> None:
    fate = filed(place, finding)
    assert isinstance(fate, Filed)
    assert {asked.gate for asked in fate.asked} == set(GATES)
    assert {asked.answer.verdict for asked in fate.asked} == {Verdict.OPEN}
    (issue,) = server.issues(REPO)
    assert (issue["html_url"], issue["title"]) == (fate.url, finding.title)
    assert issue["body"].startswith(finding.body.rstrip())
    assert issue["body"].count(marker(finding.fingerprint)) == 1


def test_again_sends_nothing(place: Place, server: GitHubServer, finding: Draft) -> None:
    first, second = filed(place, finding), filed(place, finding)
    assert isinstance(first, Filed)
    assert second == Filed(first.url, again=True)
    assert len(server.sent) == 1


@pytest.mark.parametrize("fault", DONE_ALL_THE_SAME)
def test_a_lost_answer_is_looked_for(
    place: Place, server: GitHubServer, finding: Draft, watch: Watch, fault: Fault
) -> None:
    def sleep(seconds: float) -> None:
        watch.sleep(seconds)
        time.sleep(0.05)  # for the server that is late, which is so in real time

    server.faults["POST"] = [Fault.TOO_MANY, fault]
    fate = filed(replace(place, patience=watch.patience(sleep=sleep)), finding)
    assert isinstance(fate, Filed)
    assert len(server.issues(REPO)) == 1
    assert len(server.sent) == 2  # the one that was told to wait, and the one whose answer was lost
    assert step(place, finding) is Step.FILED


@pytest.mark.parametrize("fault", [Fault.RESET_BEFORE, Fault.BAD_GATEWAY_BEFORE])
def test_what_never_arrived_is_sent_again_when_that_is_sure(
    place: Place, server: GitHubServer, finding: Draft, watch: Watch, fault: Fault
) -> None:
    server.faults["POST"] = [fault, fault]
    assert isinstance(filed(place, finding), Filed)
    assert len(server.sent) == 3
    assert len(server.issues(REPO)) == 1
    assert sum(watch.slept) >= 2 * place.patience.settle


def test_what_never_arrives(place: Place, server: GitHubServer, finding: Draft) -> None:
    server.faults["POST"] = [Fault.RESET_BEFORE] * 4
    fate = filed(place, finding)
    assert isinstance(fate, Denied)
    assert fate.told.endswith("sent 4 times, and never there")
    assert step(place, finding) is Step.REFUSED
    assert isinstance(filed(place, finding), Filed)  # another day


@pytest.mark.parametrize("fault", [Fault.GONE, Fault.INVALID, Fault.ECHO])
def test_a_plain_no_is_the_end(place: Place, server: GitHubServer, finding: Draft, fault: Fault) -> None:
    server.faults["POST"] = [fault]
    assert isinstance(filed(place, finding), Denied)
    assert step(place, finding) is Step.REFUSED
    assert len(server.sent) == 1


def test_where_nobody_can_say_it_stays_open_until_somebody_can(
    place: Place, server: GitHubServer, finding: Draft
) -> None:
    server.faults["POST"] = [Fault.RESET_AFTER]
    desk = place.desk(finding)
    server.on_write = lambda: server.faults["GET"].extend([Fault.BAD_GATEWAY_BEFORE] * 4)
    with desk.ledger, pytest.raises(Unreachable):
        submit(finding, desk)
    assert step(place, finding) is Step.INTENDED
    server.on_write = lambda: None
    assert filed(place, finding) == Filed(server.issues(REPO)[0]["html_url"], again=True)
    assert len(server.sent) == 1


def test_intents_that_were_left_are_settled_together(place: Place, server: GitHubServer, findings: list[Draft]) -> None:
    for draft, fault in zip(findings[:2], (Fault.RESET_AFTER, Fault.RESET_BEFORE), strict=True):
        server.faults["POST"] = [fault]
        server.on_write = lambda: server.faults["GET"].extend([Fault.BAD_GATEWAY_BEFORE] * 4)
        desk = place.desk(draft)
        with desk.ledger, pytest.raises(Unreachable):
            submit(draft, desk)
    with Ledger(place.ledger) as ledger:
        settle_all(ledger, place.tracker())
    assert [step(place, draft) for draft in findings[:2]] == [Step.FILED, Step.REFUSED]


def test_the_kill_switch_works_between_two_attempts(place: Place, server: GitHubServer, finding: Draft) -> None:
    server.faults["POST"] = [Fault.RESET_BEFORE]

    def stop() -> None:
        state_folder().mkdir(parents=True, exist_ok=True)
        (state_folder() / STOP).touch()

    server.on_write = stop
    fate = filed(place, finding)
    assert isinstance(fate, Denied)
    assert fate.told == f"{state_folder() / STOP} is there"
    assert server.issues(REPO) == []


def test_the_first_shut_gate_is_the_last_that_is_asked(place: Place, server: GitHubServer, finding: Draft) -> None:
    flaky = replace(finding, doc=msgspec.structs.replace(finding.doc, flaky=True))
    shows = Shows(flaky)
    desk = place.desk(flaky, lambda: shows)
    with desk.ledger:
        fate = submit(flaky, desk)
    assert isinstance(fate, Held)
    assert fate.asked[-1].gate.name == "is steady"
    assert (shows.runs, server.answers) == (0, [])


def test_a_draft_asks_nobody(place: Place, server: GitHubServer, finding: Draft) -> None:
    with Ledger(place.ledger) as ledger:
        fate = look(finding, Desk(ledger))
    assert isinstance(fate, Drafted)
    assert [asked.gate for asked in fate.asked] == list(GATES)
    assert {asked.answer.verdict for asked in fate.asked} == {Verdict.OPEN, Verdict.UNASKED}
    assert server.answers == []
