"""File one finding: check the gates, save the intent, send the request, save the result.

The process may die at any point; what it leaves in the ledger is settled later, so each finding is filed exactly once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fuzzer.filing.draft import Draft, after_gates, with_scope
from fuzzer.filing.gates import (
    FINAL_GATES,
    FINDING_GATES,
    GATES,
    LEDGER_GATES,
    RUN_GATES,
    FilingContext,
    Gate,
    GateAnswer,
    GateVerdict,
    stopped,
)
from fuzzer.filing.ledger import Ledger, LedgerEntry, Step
from fuzzer.filing.tracker import Lost, Refused, Tracker, Written
from fuzzer.filing.write_once import found_again, marker, nonce, write_once

SKEW = 24 * 3600.0
"""The number of seconds by which a server's clock may be behind this machine's."""


@dataclass(frozen=True, slots=True)
class GateResult:
    """The answer of a gate. `forced`: the gate is closed, and `--force` overrides it."""

    gate: Gate
    answer: GateAnswer
    forced: bool = False


@dataclass(frozen=True, slots=True)
class DraftOnly:
    """A draft was written. Nothing was sent."""

    gates: tuple[GateResult, ...]


@dataclass(frozen=True, slots=True)
class HeldBack:
    """Nothing was sent, because the last of `gates` is closed."""

    gates: tuple[GateResult, ...]


@dataclass(frozen=True, slots=True)
class Filed:
    """The issue exists at `url`. `again`: an earlier attempt filed it."""

    url: str
    gates: tuple[GateResult, ...] = ()
    again: bool = False


@dataclass(frozen=True, slots=True)
class NotAccepted:
    """The tracker refused the issue, for `reason`."""

    reason: str
    gates: tuple[GateResult, ...]


FilingOutcome = DraftOnly | HeldBack | Filed | NotAccepted


def check_gates(draft: Draft, context: FilingContext, gates: Sequence[Gate] = GATES) -> DraftOnly:
    """Ask every gate, including those after a closed one."""
    return DraftOnly(tuple(GateResult(gate, gate.check(draft, context)) for gate in gates))


def submit(draft: Draft, context: FilingContext, *, force: bool = False) -> FilingOutcome:
    """File the finding, unless a gate is closed or it was filed before.

    Raise `Unreachable` if the tracker does not answer. If a request was sent, the next call finds out what it did.
    """
    tracker = context.tracker
    assert tracker is not None, "submit needs a tracker"
    with context.ledger.exclusive():
        if there := _earlier(draft, context, tracker):
            return there
        first, passed = _pass(draft, context, (*FINDING_GATES, *LEDGER_GATES), force)  # the ledger does not change
    if not passed:
        return HeldBack(first)
    assert context.backend is not None, "submit needs what runs lanes"
    draft = with_scope(draft, context.backend())
    run, passed = _pass(draft, context, RUN_GATES, force)
    first = (*first, *run)
    if not passed:
        return HeldBack(first)
    draft = after_gates(draft)
    with context.ledger.exclusive():
        if there := _earlier(draft, context, tracker):  # another process filed it while the gates ran
            return there
        last, passed = _pass(draft, context, FINAL_GATES, force)
        gates = (*(each for each in first if each.gate not in LEDGER_GATES), *last)
        if not passed:
            return HeldBack(gates)
        match _send(draft, context, tracker):
            case Written(url=url):
                return Filed(url, gates)
            case Refused(reason=reason):
                return NotAccepted(reason, gates)


def _earlier(draft: Draft, context: FilingContext, tracker: Tracker) -> Filed | None:
    """The issue, if the finding was filed before. An intent that an earlier process left is settled first."""
    entry = context.ledger.entry(context.place, draft.fingerprint)
    if entry is not None and entry.step is Step.INTENDED:
        settle(entry, context.ledger, tracker)
        entry = context.ledger.entry(context.place, draft.fingerprint)
    return Filed(entry.url, again=True) if entry is not None and entry.step is Step.FILED else None


def _pass(
    draft: Draft, context: FilingContext, gates: Sequence[Gate], force: bool
) -> tuple[tuple[GateResult, ...], bool]:
    """Ask the gates in order, up to the first that is closed and not forced. Return whether all passed, too."""
    results: list[GateResult] = []
    for each in _results(draft, context, gates, force):
        results.append(each)
        if each.answer.verdict is not GateVerdict.OPEN and not each.forced:
            return tuple(results), False
    return tuple(results), True


def _results(draft: Draft, context: FilingContext, gates: Sequence[Gate], force: bool) -> Iterator[GateResult]:
    for gate in gates:
        answer = gate.check(draft, context)
        yield GateResult(gate, answer, force and answer.forcible)


def _send(draft: Draft, context: FilingContext, tracker: Tracker) -> Written | Refused:
    ledger, random_word = context.ledger, nonce()
    entry = LedgerEntry(
        place=context.place,
        fingerprint=draft.fingerprint,
        nonce=random_word,
        title=draft.title,
        finding=str(draft.folder.absolute()),
        release=context.newest.release,
        intended=ledger.clock(),
    )
    ledger.intend(entry)
    body = f"{draft.body.rstrip()}\n{marker(random_word)}\n"

    def send() -> Written | Refused | Lost:
        why = stopped(draft.campaign)  # the file may appear between two attempts
        return Refused(why) if why else tracker.create(draft.title, body)

    done = write_once(send, lambda: tracker.find(marker(random_word), entry.intended - SKEW), tracker.patience)
    _record(entry, ledger, done)
    return done


def settle(entry: LedgerEntry, ledger: Ledger, tracker: Tracker) -> Written | None:
    """Find out whether the issue of an unfinished intent was written, and save the answer. Raise `Unreachable` if the
    tracker does not answer."""
    there = found_again(
        lambda: tracker.find(marker(entry.nonce), entry.intended - SKEW), entry.intended, tracker.patience
    )
    _record(entry, ledger, there or Refused("it never arrived"))
    return there


def _record(entry: LedgerEntry, ledger: Ledger, done: Written | Refused) -> None:
    match done:
        case Written(number=number, url=url):
            ledger.filed(entry, number, url)
        case Refused(reason=reason):
            ledger.refused(entry, reason)


def settle_all(ledger: Ledger, tracker: Tracker) -> None:
    """Settle every unfinished intent for this tracker."""
    with ledger.exclusive():
        for entry in ledger.entries(tracker.place, Step.INTENDED):
            settle(entry, ledger, tracker)
