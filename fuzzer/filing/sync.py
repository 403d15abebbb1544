"""Follow up filed issues: read them, and comment where a bug is gone. Filing pauses if too few are confirmed.

Issues are never closed from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path

from fuzzer.filing.filing import SKEW, settle
from fuzzer.filing.gates import REPRODUCTIONS, FilingContext, stopped
from fuzzer.filing.ledger import Comment, Ledger, LedgerEntry, State, Step
from fuzzer.filing.newest import order
from fuzzer.filing.tracker import Lost, Refused, Status, Tracker, Unchanged, Written
from fuzzer.filing.write_once import found_again, marker, nonce, write_once
from fuzzer.findings import finding_file
from fuzzer.findings.replay import replay
from fuzzer.system.exit_codes import Exit
from fuzzer.toolchains.lanes import in_toolchain
from generators.graph import Invalid

WEEK = 7 * 24 * 3600.0
MONTH = 30 * 24 * 3600.0
"""An open issue that is older and has no label counts as not confirmed."""

ENOUGH = 5
"""The number of judged issues from which on their share counts."""

SHARE = 0.5
"""The share of judged issues that must be confirmed, or filing pauses."""

CONFIRMING = frozenset({"confirmed", "status: confirmed", "verified", "accepted", "status: accepted"})
REJECTING = frozenset({"invalid", "wontfix", "duplicate", "not a bug", "question", "type: question"})


class Standing(StrEnum):
    """How maintainers have judged an issue."""

    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    IGNORED = "no word in a month"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class FollowedIssue:
    """An issue after its follow-up. `comment` is the address of a new comment, `note` its text or why there is none."""

    entry: LedgerEntry
    standing: Standing
    note: str = ""
    comment: str = ""


@dataclass(frozen=True, slots=True)
class FollowUp:
    """All issues of a repository. `paused` is why filing is paused there; "" if it is not."""

    issues: tuple[FollowedIssue, ...]
    paused: str


def standing(entry: LedgerEntry, now: float) -> Standing:
    """Judge an issue by its labels first, then by its state. `now` is in seconds since 1970."""
    labels = {label.lower() for label in entry.labels}
    match entry.state:
        case _ if labels & CONFIRMING:
            return Standing.CONFIRMED
        case _ if labels & REJECTING:
            return Standing.REJECTED
        case State.CLOSED:
            return Standing.CONFIRMED if entry.reason == "completed" else Standing.REJECTED
        case State.GONE:
            return Standing.REJECTED
        case State.OPEN | State.UNSEEN:
            return Standing.IGNORED if now - entry.intended > MONTH else Standing.WAITING


def too_few(standings: Sequence[Standing]) -> str:
    """Why filing should pause; "" if enough are confirmed, or fewer than `ENOUGH` are judged."""
    judged = [each for each in standings if each is not Standing.WAITING]
    confirmed = sum(each is Standing.CONFIRMED for each in judged)
    if len(judged) < ENOUGH or confirmed >= SHARE * len(judged):
        return ""
    return f"only {confirmed} of {len(judged)} issues that were judged are confirmed"


def sync(context: FilingContext, tracker: Tracker) -> FollowUp:
    """Read every issue that was filed in the tracker, and comment where a bug is gone.

    Raise `Unreachable` if the tracker does not answer; the ledger keeps what was read until then.
    """
    ledger = context.ledger
    with ledger.exclusive():
        for left in ledger.entries(tracker.place, Step.INTENDED):
            settle(left, ledger, tracker)
        issues = tuple(_followed(entry, context, tracker) for entry in ledger.entries(tracker.place))
        return FollowUp(issues, _pause(ledger, tracker.place, issues))


def _followed(entry: LedgerEntry, context: FilingContext, tracker: Tracker) -> FollowedIssue:
    ledger = context.ledger
    _settle_comments(entry, ledger, tracker)
    match tracker.status(_number(entry), entry.etag):
        case Status() as now:
            ledger.record_state(entry, now.state, now.reason, now.labels, now.etag)
        case Unchanged():
            ledger.record_state(entry, entry.state, entry.reason, entry.labels, entry.etag)
    entry = ledger.entry(entry.place, entry.fingerprint) or entry
    judged = standing(entry, ledger.clock())
    if entry.state is not State.OPEN:
        return FollowedIssue(entry, judged)
    news = _news(entry, context)
    if isinstance(news, str):
        return FollowedIssue(entry, judged, news)
    match _send(news, ledger, tracker):
        case Written(url=url):
            return FollowedIssue(entry, judged, news.body.split("\n")[0], url)
        case Refused(reason=reason):
            return FollowedIssue(entry, judged, reason)


def _pause(ledger: Ledger, place: str, issues: Sequence[FollowedIssue]) -> str:
    """Pause filing if too few issues are confirmed. Issues filed before `--resume-filing` do not count."""
    pause = ledger.pause(place)
    if pause and pause.why:
        return pause.why
    since = pause.since if pause else 0.0
    why = too_few([each.standing for each in issues if each.entry.intended > since])
    if why:
        ledger.set_pause(place, why)
    return why


# --- comments


def _news(entry: LedgerEntry, context: FilingContext) -> Comment | str:
    """The comment that an open issue should get now, or a string that says why it gets none."""
    newest, comments = context.newest.release, context.ledger.comments(entry.place, _number(entry))
    if order(newest) <= order(entry.release):
        return f"nothing newer than {entry.release} is installed"
    if any(each.release == newest for each in comments):
        return f"{newest} was reported"
    if comments and context.ledger.clock() - comments[-1].intended < WEEK:
        return "the last comment is not a week old"
    if context.backend is None or not context.tracker or not context.tracker.can_write:
        return f"{newest} was not run: no token to comment with"
    if why := stopped(Path(entry.finding).parent.parent):
        return why
    fails = _still_fails(entry, context)
    if isinstance(fails, str):
        return fails
    if fails:
        context.ledger.fails_in(entry, newest)
        return f"still there in {newest}"
    random_word = nonce()
    body = f"This no longer reproduces in TVM {newest} ({REPRODUCTIONS} fresh runs); it did in {entry.release}.\n\n"
    body += "*Checked automatically by difftvm; closing is left to you.*\n" + marker(random_word) + "\n"
    return Comment(entry.place, _number(entry), newest, random_word, body, context.ledger.clock())


def _still_fails(entry: LedgerEntry, context: FilingContext) -> bool | str:
    """Whether any of ten runs in the newest release fails, or a string that says why it could not be run."""
    assert context.backend is not None
    try:
        doc, case = finding_file.read_with_case(Path(entry.finding))
    except Invalid as error:
        return str(error)
    lane = in_toolchain(doc.lane, context.newest.toolchain)
    for _ in range(REPRODUCTIONS):
        run = replay(context.backend().run_fresh, doc, case, [lane], 1).runs[0]
        if not run.ran:
            return f"{run.text}: it was not run"
        if run.verdict is not Exit.GONE:
            return True
    return False


def _send(comment: Comment, ledger: Ledger, tracker: Tracker) -> Written | Refused:
    ledger.intend_comment(comment)

    def send() -> Written | Refused | Lost:
        return tracker.comment(comment.number, comment.body)

    done = write_once(send, lambda: _find(comment, tracker), tracker.patience)
    _record(comment, ledger, done)
    return done


def _settle_comments(entry: LedgerEntry, ledger: Ledger, tracker: Tracker) -> None:
    for comment in ledger.comments(entry.place, _number(entry)):
        if not comment.url:
            there = found_again(partial(_find, comment, tracker), comment.intended, tracker.patience)
            _record(comment, ledger, there or Refused("it never arrived"))


def _find(comment: Comment, tracker: Tracker) -> Written | None:
    return tracker.find_comment(comment.number, marker(comment.nonce), comment.intended - SKEW)


def _record(comment: Comment, ledger: Ledger, done: Written | Refused) -> None:
    match done:
        case Written(url=url):
            ledger.commented(comment, url)
        case Refused():
            ledger.forget_comment(comment)


def _number(entry: LedgerEntry) -> int:
    assert entry.number is not None, "a filed issue has a number"
    return entry.number


def counts(issues: Sequence[FollowedIssue]) -> Iterator[str]:
    for each in Standing:
        if count := sum(one.standing is each for one in issues):
            yield f"{count} {each}"
