"""One finding is filed: once, or not at all, and the books say which."""

from __future__ import annotations

import time
from dataclasses import replace

import msgspec
import pytest
from desk import REPO, Bare, Place, Shows, Watch
from github_server import DONE_ALL_THE_SAME, Fault, GitHubServer

from fuzzer.filing.draft import Draft, with_scope
from fuzzer.filing.filing import DraftOnly, Filed, FilingOutcome, HeldBack, NotAccepted, check_gates, settle_all, submit
from fuzzer.filing.gates import GATES, STOP, FilingContext, GateVerdict
from fuzzer.filing.ledger import Ledger, Step
from fuzzer.filing.tracker import Unreachable
from fuzzer.isolate import bare_script
from fuzzer.report.issue import marker
from fuzzer.system.state_folder import state_folder

pytestmark = pytest.mark.slow


def filed(place: Place, draft: Draft, *, force: bool = False) -> FilingOutcome:
    context = place.context(draft)
    with context.ledger:
        return submit(draft, context, force=force)


def step(place: Place, draft: Draft) -> Step | None:
    with Ledger(place.ledger) as ledger:
        entry = ledger.entry(place.tracker().place, draft.fingerprint)
    return entry.step if entry else None


def test_it_is_filed_as_it_was_drafted(place: Place, server: GitHubServer, finding: Draft) -> None:
    outcome = filed(place, finding)
    assert isinstance(outcome, Filed)
    assert {result.gate for result in outcome.gates} == set(GATES)
    assert {result.answer.verdict for result in outcome.gates} == {GateVerdict.OPEN}
    (issue,) = server.issues(REPO)
    assert (issue["html_url"], issue["title"]) == (outcome.url, finding.title)
    assert issue["body"].startswith(with_scope(finding, Shows(finding)).body.rstrip())
    assert issue["body"].count(marker(finding.fingerprint)) == 1


def test_an_issue_has_the_scope_and_names_the_bare_environment(
    place: Place, server: GitHubServer, finding: Draft, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The finding has no scope when its draft is made. The draft looks for one, and does not change the folder."""
    before = {path.name: path.read_bytes() for path in finding.folder.iterdir()}
    monkeypatch.setattr(bare_script, "known", lambda source, requirements: Bare()(source, requirements, "llvm"))
    assert "### Scope" not in finding.body
    assert isinstance(filed(place, finding), Filed)
    (issue,) = server.issues(REPO)
    assert "### Scope" in issue["body"]
    (line,) = (line for line in issue["body"].splitlines() if line.startswith("This script exits with 1"))
    assert line.partition(". ")[2] == (
        "It needs `pip install torch apache-tvm==0.27.0 numpy`. It exits with 1 in a new environment of Python 3.11.7 "
        "with nothing else (pip adds apache-tvm-ffi 0.1.15)."
    )
    assert {path.name: path.read_bytes() for path in finding.folder.iterdir()} == before


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
    outcome = filed(replace(place, patience=watch.patience(sleep=sleep)), finding)
    assert isinstance(outcome, Filed)
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
    outcome = filed(place, finding)
    assert isinstance(outcome, NotAccepted)
    assert outcome.reason.endswith("sent 4 times, and never written")
    assert step(place, finding) is Step.REFUSED
    assert isinstance(filed(place, finding), Filed)  # another day


@pytest.mark.parametrize("fault", [Fault.GONE, Fault.INVALID, Fault.ECHO])
def test_a_plain_no_is_the_end(place: Place, server: GitHubServer, finding: Draft, fault: Fault) -> None:
    server.faults["POST"] = [fault]
    assert isinstance(filed(place, finding), NotAccepted)
    assert step(place, finding) is Step.REFUSED
    assert len(server.sent) == 1


def test_an_unknown_result_stays_unknown_until_the_tracker_answers(
    place: Place, server: GitHubServer, finding: Draft
) -> None:
    server.faults["POST"] = [Fault.RESET_AFTER]
    context = place.context(finding)
    server.on_write = lambda: server.faults["GET"].extend([Fault.BAD_GATEWAY_BEFORE] * 4)
    with context.ledger, pytest.raises(Unreachable):
        submit(finding, context)
    assert step(place, finding) is Step.INTENDED
    server.on_write = lambda: None
    assert filed(place, finding) == Filed(server.issues(REPO)[0]["html_url"], again=True)
    assert len(server.sent) == 1


def test_intents_that_were_left_are_settled_together(place: Place, server: GitHubServer, findings: list[Draft]) -> None:
    for draft, fault in zip(findings[:2], (Fault.RESET_AFTER, Fault.RESET_BEFORE), strict=True):
        server.faults["POST"] = [fault]
        server.on_write = lambda: server.faults["GET"].extend([Fault.BAD_GATEWAY_BEFORE] * 4)
        context = place.context(draft)
        with context.ledger, pytest.raises(Unreachable):
            submit(draft, context)
    with Ledger(place.ledger) as ledger:
        settle_all(ledger, place.tracker())
    assert [step(place, draft) for draft in findings[:2]] == [Step.FILED, Step.REFUSED]


def test_the_kill_switch_works_between_two_attempts(place: Place, server: GitHubServer, finding: Draft) -> None:
    server.faults["POST"] = [Fault.RESET_BEFORE]

    def stop() -> None:
        state_folder().mkdir(parents=True, exist_ok=True)
        (state_folder() / STOP).touch()

    server.on_write = stop
    outcome = filed(place, finding)
    assert isinstance(outcome, NotAccepted)
    assert outcome.reason == f"{state_folder() / STOP} is there"
    assert server.issues(REPO) == []


def test_no_gate_is_checked_after_the_first_closed_one(place: Place, server: GitHubServer, finding: Draft) -> None:
    flaky = replace(finding, doc=msgspec.structs.replace(finding.doc, flaky=True))
    shows = Shows(flaky)
    context = place.context(flaky, lambda: shows)
    with context.ledger:
        outcome = submit(flaky, context)
    assert isinstance(outcome, HeldBack)
    assert outcome.gates[-1].gate.name == "is steady"
    assert (shows.runs, server.answers) == (0, [])


def test_a_draft_sends_no_request(place: Place, server: GitHubServer, finding: Draft) -> None:
    with Ledger(place.ledger) as ledger:
        outcome = check_gates(finding, FilingContext(ledger))
    assert isinstance(outcome, DraftOnly)
    assert [result.gate for result in outcome.gates] == list(GATES)
    assert {result.answer.verdict for result in outcome.gates} == {GateVerdict.OPEN, GateVerdict.NOT_ASKED}
    assert server.answers == []
