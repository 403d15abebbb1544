"""What becomes of filed issues: read cheaply, commented on seldom, and filing pauses where few are confirmed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace

import pytest
from desk import REPO, Bare, Place, Shows
from github_server import Fault, GitHubServer

from fuzzer.filing.draft import Draft
from fuzzer.filing.filing import Filed, submit
from fuzzer.filing.gates import STOP, FilingContext, GateVerdict, not_paused
from fuzzer.filing.ledger import Ledger, LedgerEntry, State
from fuzzer.filing.newest import Newest
from fuzzer.filing.sync import MONTH, WEEK, FollowUp, Standing, standing, sync, too_few
from fuzzer.filing.tracker import Unreachable

pytestmark = pytest.mark.slow

NEW = Newest("0.28.0", "0.28.0")
ENTRY = LedgerEntry("place", "f", "n", "t", "/x", "0.27.0", 1000.0)


def file_all(place: Place, drafts: list[Draft]) -> None:
    for draft in drafts:
        context = place.context(draft)
        with context.ledger:
            assert isinstance(submit(draft, context, force=True), Filed)


class After:
    """`fuzz file --sync`, N seconds after the filing, with a backend in which a finding fails `times` times."""

    def __init__(self, place: Place, draft: Draft) -> None:
        self.place, self.draft = place, draft

    def __call__(self, seconds: float, times: int = 0, newest: Newest = NEW, token: str | None = "") -> FollowUp:
        shows = Shows(self.draft, times)
        tracker = self.place.tracker() if token == "" else self.place.tracker(token)
        clock = self.place.patience.clock
        with Ledger(self.place.ledger, lambda: clock() + seconds) as ledger:
            return sync(FilingContext(ledger, tracker.place, tracker, lambda: shows, newest), tracker)


@pytest.fixture
def after(place: Place, finding: Draft) -> After:
    file_all(place, [finding])
    return After(place, finding)


def comments(server: GitHubServer) -> list[str]:
    return [comment["body"] for comment in server.repository(REPO).comments.get(1, [])]


def test_what_does_not_change_costs_nothing(after: After, server: GitHubServer) -> None:
    after(0, 99)
    issue = after(10, 99).issues[0]
    assert [a.status for a in server.answers if a.route.endswith("/N")] == [200, 304]
    assert (issue.entry.state, issue.standing) == (State.OPEN, Standing.WAITING)


def test_a_bug_that_is_gone_gets_one_comment(after: After, server: GitHubServer) -> None:
    (issue,) = after(0).issues
    assert issue.comment.startswith(f"{server.url}/{REPO}/issues/1#issuecomment")
    (body,) = comments(server)
    assert body.startswith("This no longer reproduces in TVM 0.28.0 (10 fresh runs); it did in 0.27.0.\n")
    assert after(WEEK + 1).issues[0].note == "0.28.0 was reported"
    assert len(comments(server)) == 1
    assert server.issues(REPO)[0]["state"] == "open"  # whose it is to close


def test_at_most_one_comment_a_week(after: After, server: GitHubServer) -> None:
    after(0)
    newer = Newest("0.29.0", "0.29.0")
    assert after(WEEK - 60, newest=newer).issues[0].note == "the last comment is not a week old"
    assert after(WEEK + 60, newest=newer).issues[0].comment
    assert len(comments(server)) == 2


@pytest.mark.parametrize(
    ("newest", "times", "note"),
    [
        (Newest("host", "0.27.0"), 0, "nothing newer than 0.27.0 is installed"),
        (Newest("old", "0.26.0"), 0, "nothing newer than 0.27.0 is installed"),
        (NEW, 99, "still there in 0.28.0"),
        (NEW, 1, "still there in 0.28.0"),
    ],
)
def test_an_issue_without_news_gets_no_comment(
    after: After, server: GitHubServer, newest: Newest, times: int, note: str
) -> None:
    assert after(0, times, newest).issues[0].note == note
    assert comments(server) == []


def test_what_is_still_there_is_not_run_again(after: After) -> None:
    after(0, 99)
    assert after(10).issues[0].note == "nothing newer than 0.28.0 is installed"


def test_nobody_comments_on_what_is_closed(after: After, server: GitHubServer) -> None:
    server.change(REPO, 1, state="closed", state_reason="completed")
    assert after(0).issues[0].standing is Standing.CONFIRMED
    assert comments(server) == []


def test_nobody_comments_without_a_token_or_against_the_kill_switch(after: After, server: GitHubServer) -> None:
    assert after(0, token=None).issues[0].note == "0.28.0 was not run: no token to comment with"
    (after.draft.campaign / STOP).touch()
    assert after(0).issues[0].note == f"{after.draft.campaign / STOP} is there"
    assert comments(server) == []


def test_a_finding_that_was_removed(after: After, server: GitHubServer) -> None:
    shutil.rmtree(after.draft.folder)
    assert "there is no such folder" in after(0).issues[0].note
    assert comments(server) == []


@pytest.mark.parametrize("fault", [Fault.RESET_AFTER, Fault.RESET_BEFORE, Fault.BAD_GATEWAY_AFTER, Fault.CUT_SHORT])
def test_a_comment_whose_answer_is_lost_is_there_once(after: After, server: GitHubServer, fault: Fault) -> None:
    server.faults["POST"] = [fault]
    assert after(0).issues[0].comment
    assert len(comments(server)) == 1


@pytest.mark.parametrize(("fault", "sent"), [(Fault.RESET_AFTER, 1), (Fault.RESET_BEFORE, 2)])
def test_a_comment_with_an_unknown_result_is_written_once(
    after: After, server: GitHubServer, fault: Fault, sent: int
) -> None:
    server.faults["POST"] = [fault]
    server.on_write = lambda: server.faults["GET"].extend([Fault.BAD_GATEWAY_BEFORE] * 4)
    with pytest.raises(Unreachable):
        after(0)
    server.on_write = lambda: None
    after(0)
    assert len(comments(server)) == 1
    assert len(server.sent) == 1 + sent


def test_a_comment_that_is_not_taken(after: After, server: GitHubServer) -> None:
    server.faults["POST"] = [Fault.GONE]
    assert "410" in after(0).issues[0].note
    assert after(10).issues[0].comment


# --- what maintainers think


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"state": State.OPEN}, Standing.WAITING),
        ({"state": State.CLOSED, "reason": "completed"}, Standing.CONFIRMED),
        ({"state": State.CLOSED, "reason": "not_planned"}, Standing.REJECTED),
        ({"state": State.CLOSED, "reason": "duplicate"}, Standing.REJECTED),
        ({"state": State.CLOSED}, Standing.REJECTED),
        ({"state": State.GONE}, Standing.REJECTED),
        ({"state": State.OPEN, "labels": ("Confirmed",)}, Standing.CONFIRMED),
        ({"state": State.OPEN, "labels": ("invalid",)}, Standing.REJECTED),
        ({"state": State.CLOSED, "reason": "completed", "labels": ("duplicate",)}, Standing.REJECTED),
        ({"state": State.OPEN, "labels": ("needs-triage", "type: bug")}, Standing.WAITING),
    ],
)
def test_standing(changes: dict[str, object], expected: Standing) -> None:
    assert standing(replace(ENTRY, **changes), ENTRY.intended + MONTH) is expected  # type: ignore[arg-type]


def test_a_month_of_silence_says_something() -> None:
    assert standing(replace(ENTRY, state=State.OPEN), ENTRY.intended + MONTH + 1) is Standing.IGNORED


YES, NO, MUTE, WAIT = Standing.CONFIRMED, Standing.REJECTED, Standing.IGNORED, Standing.WAITING


@pytest.mark.parametrize(
    ("standings", "enough"),
    [
        ([], True),
        ([NO] * 4, True),
        ([NO] * 4 + [WAIT] * 9, True),
        ([NO] * 5, False),
        ([YES, YES, NO, NO, MUTE], False),
        ([YES, YES, YES, NO, NO], True),
        ([YES] * 3 + [NO] * 3, True),
        ([MUTE] * 5, False),
    ],
)
def test_too_few(standings: list[Standing], enough: bool) -> None:
    assert (too_few(standings) == "") is enough


def test_filing_pauses_and_goes_on_when_a_user_resumes_it(
    place: Place, server: GitHubServer, findings: list[Draft], after: Callable[..., FollowUp]
) -> None:
    for draft in findings[:5]:  # more than a day's: on other days
        tracker, days = place.tracker(), len(server.issues(REPO))
        with Ledger(place.ledger, lambda days=days: place.patience.clock() - 86400.0 * days) as ledger:
            shows = Shows(draft)
            context = FilingContext(ledger, tracker.place, tracker, lambda shows=shows: shows, NEW, bare=Bare())
            assert isinstance(submit(draft, context, force=True), Filed)
    for number in range(1, 6):
        server.change(REPO, number, state="closed", state_reason="not_planned")
    reason = "only 0 of 5 issues that were judged are confirmed"
    assert after(0, 99).paused == reason
    with Ledger(place.ledger, lambda: place.patience.clock() + 10) as ledger:
        context = FilingContext(ledger, place.tracker().place)
        assert not_paused(findings[5], context).verdict is GateVerdict.CLOSED
        ledger.set_pause(context.place, "")
        assert not_paused(findings[5], context).verdict is GateVerdict.OPEN
    assert after(20, 99).paused == ""  # those that were judged before do not count again
