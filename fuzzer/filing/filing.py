"""File one finding: gates, intent, request, result. A process may die between any two of these lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fuzzer.filing.draft import Draft
from fuzzer.filing.gates import (
    AT_A_GLANCE,
    AT_THE_DOOR,
    BY_RUNNING,
    BY_THE_BOOKS,
    GATES,
    Answer,
    Desk,
    Gate,
    Verdict,
    stopped,
)
from fuzzer.filing.ledger import Entry, Ledger, Step
from fuzzer.filing.tracker import Lost, Refused, Tracker, Written
from fuzzer.filing.write_once import found_again, marker, nonce, write_once

SKEW = 24 * 3600.0
"""Seconds by which a server's clock may be behind ours, when it is asked what is new."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a gate said; `forced` where it was shut and is passed all the same."""

    gate: Gate
    answer: Answer
    forced: bool = False


@dataclass(frozen=True, slots=True)
class Drafted:
    """Nothing was sent."""

    asked: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """A gate is shut: the last of `asked`."""

    asked: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class Filed:
    """It is there. `again` where an earlier attempt had filed it."""

    url: str
    asked: tuple[Asked, ...] = ()
    again: bool = False


@dataclass(frozen=True, slots=True)
class Denied:
    """The tracker did not take it."""

    told: str
    asked: tuple[Asked, ...]


Fate = Drafted | Held | Filed | Denied


def look(draft: Draft, desk: Desk, gates: Sequence[Gate] = GATES) -> Drafted:
    """What each gate says, the shut ones not being the end of it."""
    return Drafted(tuple(Asked(gate, gate.ask(draft, desk)) for gate in gates))


def submit(draft: Draft, desk: Desk, *, force: bool = False) -> Fate:
    """Raise `Unreachable` where the tracker does not answer: what was perhaps sent is found out next time."""
    tracker = desk.tracker
    assert tracker is not None, "somebody must be asked"
    with desk.ledger.alone():
        if there := _earlier(draft, desk, tracker):
            return there
    first, passed = _pass(draft, desk, (*AT_A_GLANCE, *BY_THE_BOOKS, *BY_RUNNING), force)
    if not passed:
        return Held(first)
    with desk.ledger.alone():
        if there := _earlier(draft, desk, tracker):  # somebody else's, meanwhile
            return there
        last, passed = _pass(draft, desk, AT_THE_DOOR, force)
        asked = (*(each for each in first if each.gate not in BY_THE_BOOKS), *last)
        if not passed:
            return Held(asked)
        match _send(draft, desk, tracker):
            case Written(url=url):
                return Filed(url, asked)
            case Refused(told=told):
                return Denied(told, asked)


def _earlier(draft: Draft, desk: Desk, tracker: Tracker) -> Filed | None:
    """What is there already; an intent that somebody left is settled first."""
    entry = desk.ledger.entry(desk.place, draft.fingerprint)
    if entry is not None and entry.step is Step.INTENDED:
        settle(entry, desk.ledger, tracker)
        entry = desk.ledger.entry(desk.place, draft.fingerprint)
    return Filed(entry.url, again=True) if entry is not None and entry.step is Step.FILED else None


def _pass(draft: Draft, desk: Desk, gates: Sequence[Gate], force: bool) -> tuple[tuple[Asked, ...], bool]:
    """Ask until one is shut."""
    asked: list[Asked] = []
    for each in _ask(draft, desk, gates, force):
        asked.append(each)
        if each.answer.verdict is not Verdict.OPEN and not each.forced:
            return tuple(asked), False
    return tuple(asked), True


def _ask(draft: Draft, desk: Desk, gates: Sequence[Gate], force: bool) -> Iterator[Asked]:
    for gate in gates:
        answer = gate.ask(draft, desk)
        yield Asked(gate, answer, force and answer.forcible)


def _send(draft: Draft, desk: Desk, tracker: Tracker) -> Written | Refused:
    ledger, word = desk.ledger, nonce()
    entry = Entry(
        place=desk.place,
        fingerprint=draft.fingerprint,
        nonce=word,
        title=draft.title,
        finding=str(draft.folder.absolute()),
        release=desk.newest.release,
        intended=ledger.clock(),
    )
    ledger.intend(entry)
    body = f"{draft.body.rstrip()}\n{marker(word)}\n"

    def send() -> Written | Refused | Lost:
        why = stopped(draft.campaign)  # somebody may want it to end between two attempts
        return Refused(why) if why else tracker.create(draft.title, body)

    done = write_once(send, lambda: tracker.find(marker(word), entry.intended - SKEW), tracker.patience)
    _record(entry, ledger, done)
    return done


def settle(entry: Entry, ledger: Ledger, tracker: Tracker) -> Written | None:
    """What became of an intent that somebody left. Raise `Unreachable` where that cannot be found out now."""
    there = found_again(
        lambda: tracker.find(marker(entry.nonce), entry.intended - SKEW), entry.intended, tracker.patience
    )
    _record(entry, ledger, there or Refused("it never arrived"))
    return there


def _record(entry: Entry, ledger: Ledger, done: Written | Refused) -> None:
    match done:
        case Written(number=number, url=url):
            ledger.filed(entry, number, url)
        case Refused(told=told):
            ledger.refused(entry, told)


def settle_all(ledger: Ledger, tracker: Tracker) -> None:
    """All intents that were left at a place."""
    with ledger.alone():
        for entry in ledger.entries(tracker.place, Step.INTENDED):
            settle(entry, ledger, tracker)
