"""What becomes of filed issues: read, at most commented on, never closed. Filing pauses where too few are confirmed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path

from fuzzer.filing.filing import SKEW, settle
from fuzzer.filing.gates import REPRODUCTIONS, Desk, stopped
from fuzzer.filing.ledger import Comment, Entry, Ledger, State, Step
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
"""What nobody has said a word about for so long was not confirmed."""

ENOUGH = 5
"""So many issues must have been judged before their share says something."""

SHARE = 0.5
"""Of the issues that were judged, so many must be confirmed for more to be filed."""

CONFIRMING = frozenset({"confirmed", "status: confirmed", "verified", "accepted", "status: accepted"})
REJECTING = frozenset({"invalid", "wontfix", "duplicate", "not a bug", "question", "type: question"})


class Standing(StrEnum):
    """What maintainers think of an issue."""

    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    IGNORED = "no word in a month"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Seen:
    """One issue, and what was done about it: a comment's address, or why there is none."""

    entry: Entry
    standing: Standing
    told: str = ""
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Synced:
    seen: tuple[Seen, ...]
    paused: str


def standing(entry: Entry, now: float) -> Standing:
    """A label outweighs how it was closed."""
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
    """Why no more should be filed; empty where enough are confirmed, or too few were judged to tell."""
    judged = [each for each in standings if each is not Standing.WAITING]
    confirmed = sum(each is Standing.CONFIRMED for each in judged)
    if len(judged) < ENOUGH or confirmed >= SHARE * len(judged):
        return ""
    return f"only {confirmed} of {len(judged)} issues that were judged are confirmed"


def sync(desk: Desk, tracker: Tracker) -> Synced:
    """Ask about every issue that was filed there. Raise `Unreachable` where the tracker does not answer; what was read
    until then is kept."""
    ledger = desk.ledger
    with ledger.alone():
        for left in ledger.entries(tracker.place, Step.INTENDED):
            settle(left, ledger, tracker)
        seen = tuple(_seen(entry, desk, tracker) for entry in ledger.entries(tracker.place))
        return Synced(seen, _pause(ledger, tracker.place, seen))


def _seen(entry: Entry, desk: Desk, tracker: Tracker) -> Seen:
    ledger = desk.ledger
    _settle_comments(entry, ledger, tracker)
    match tracker.status(_number(entry), entry.etag):
        case Status() as now:
            ledger.saw(entry, now.state, now.reason, now.labels, now.etag)
        case Unchanged():
            ledger.saw(entry, entry.state, entry.reason, entry.labels, entry.etag)
    entry = ledger.entry(entry.place, entry.fingerprint) or entry
    opinion = standing(entry, ledger.clock())
    if entry.state is not State.OPEN:
        return Seen(entry, opinion)
    news = _news(entry, desk)
    if isinstance(news, str):
        return Seen(entry, opinion, news)
    match _say(news, ledger, tracker):
        case Written(url=url):
            return Seen(entry, opinion, news.body.split("\n")[0], url)
        case Refused(told=told):
            return Seen(entry, opinion, told)


def _pause(ledger: Ledger, place: str, seen: Sequence[Seen]) -> str:
    """Issues that were filed before somebody last allowed more do not count again."""
    pause = ledger.pause(place)
    if pause and pause.why:
        return pause.why
    since = pause.since if pause else 0.0
    why = too_few([each.standing for each in seen if each.entry.intended > since])
    if why:
        ledger.set_pause(place, why)
    return why


# --- comments


def _news(entry: Entry, desk: Desk) -> Comment | str:
    """What there is to say of an open issue; a string says why there is nothing."""
    newest, said = desk.newest.release, desk.ledger.comments(entry.place, _number(entry))
    if order(newest) <= order(entry.release):
        return f"nothing newer than {entry.release} is installed"
    if any(each.release == newest for each in said):
        return f"{newest} was reported"
    if said and desk.ledger.clock() - said[-1].intended < WEEK:
        return "the last comment is not a week old"
    if desk.backend is None or not desk.tracker or not desk.tracker.can_write:
        return f"{newest} was not asked: no token to comment with"
    if why := stopped(Path(entry.finding).parent.parent):
        return why
    fails = _still_fails(entry, desk)
    if isinstance(fails, str):
        return fails
    if fails:
        desk.ledger.fails_in(entry, newest)
        return f"still there in {newest}"
    word = nonce()
    body = f"This no longer reproduces in TVM {newest} ({REPRODUCTIONS} fresh runs); it did in {entry.release}.\n\n"
    body += "*Checked automatically by difftvm; closing is left to you.*\n" + marker(word) + "\n"
    return Comment(entry.place, _number(entry), newest, word, body, desk.ledger.clock())


def _still_fails(entry: Entry, desk: Desk) -> bool | str:
    """Whether any of ten runs in the newest release fails; a string where that cannot be told."""
    assert desk.backend is not None
    try:
        doc, case = finding_file.read_with_case(Path(entry.finding))
    except Invalid as error:
        return str(error)
    lane = in_toolchain(doc.lane, desk.newest.toolchain)
    for _ in range(REPRODUCTIONS):
        run = replay(desk.backend(), doc, case, [lane], 1).runs[0]
        if not run.ran:
            return f"{run.text}: it was not run"
        if run.verdict is not Exit.GONE:
            return True
    return False


def _say(comment: Comment, ledger: Ledger, tracker: Tracker) -> Written | Refused:
    ledger.intend_comment(comment)

    def send() -> Written | Refused | Lost:
        return tracker.comment(comment.number, comment.body)

    done = write_once(send, lambda: _find(comment, tracker), tracker.patience)
    _record(comment, ledger, done)
    return done


def _settle_comments(entry: Entry, ledger: Ledger, tracker: Tracker) -> None:
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


def _number(entry: Entry) -> int:
    assert entry.number is not None, "what is filed has a number"
    return entry.number


def counts(seen: Sequence[Seen]) -> Iterator[str]:
    for each in Standing:
        if count := sum(one.standing is each for one in seen):
            yield f"{count} {each}"
