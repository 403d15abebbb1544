"""What must hold before a finding is filed. Each gate is one small function; the cheap ones are asked first.

A gate that is shut stops the filing; some open with `--force`, where a person has looked.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from fuzzer.filing import misuse, titles
from fuzzer.filing.draft import Draft
from fuzzer.filing.ledger import Ledger, Step, state_folder
from fuzzer.filing.newest import Newest
from fuzzer.filing.tracker import BODY, TITLE, Issue, Tracker
from fuzzer.findings import record
from fuzzer.findings.finding_file import FindingDoc
from fuzzer.findings.replay import replay
from fuzzer.isolate.fleet import Reproducer
from fuzzer.report import own_script
from fuzzer.report.issue import marker
from fuzzer.signature import known
from fuzzer.system.exit_codes import Exit
from fuzzer.toolchains.lanes import in_toolchain
from fuzzer.toolchains.toolchain import HOST_NAME, GraphLanguage, language_of
from oracles.finding import Component

REPRODUCTIONS = 10
DAILY = 3
STOP = "STOP-FILING"
RECENT = 24 * 3600.0
"""Seconds for which a new issue may be missing in GitHub's search; the list has it."""


NOT_ASKED = Newest(HOST_NAME, "")


class Verdict(StrEnum):
    OPEN = "yes"
    SHUT = "no"
    UNASKED = "not asked"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a gate says, and why. `forcible`: `--force` opens it."""

    verdict: Verdict
    told: str
    forcible: bool = False


@dataclass(frozen=True, slots=True)
class Desk:
    """What gates may ask. `place` is empty where no repository was named, `tracker` None where nobody shall be asked,
    `backend` None where nothing shall run. It is called at the first run."""

    ledger: Ledger
    place: str = ""
    tracker: Tracker | None = None
    backend: Callable[[], Reproducer] | None = None
    newest: Newest = NOT_ASKED


Ask = Callable[[Draft, Desk], Answer]


@dataclass(frozen=True, slots=True)
class Gate:
    """`name` completes the sentence: the finding ..."""

    name: str
    ask: Ask


def opened(told: str = "") -> Answer:
    return Answer(Verdict.OPEN, told)


def shut(told: str, *, forcible: bool = False) -> Answer:
    return Answer(Verdict.SHUT, told, forcible)


def unasked(told: str) -> Answer:
    return Answer(Verdict.UNASKED, told)


# --- what a look at the finding says


def may_be_filed(doc: FindingDoc) -> bool:
    """Whether the finding itself, without its report, is one for TVM's maintainers."""
    steady_bug_of_tvm = doc.component is Component.TVM and not doc.flaky
    return steady_bug_of_tvm and misuse.match(doc) is None and known.match(doc.identity) is None


def of_tvm(draft: Draft, desk: Desk) -> Answer:
    if draft.doc.component is not Component.TVM:
        return shut(f"it is {draft.doc.component}'s fault")
    if language_of(draft.doc.lane) is not GraphLanguage.RELAX:
        return shut("it is in Relay, which left TVM with 0.20")
    return opened()


def steady(draft: Draft, desk: Desk) -> Answer:
    return shut(f"flaky: {draft.doc.confirmed}") if draft.doc.flaky else opened(draft.doc.confirmed)


def of_plain_tvm(draft: Draft, desk: Desk) -> Answer:
    preloaded = draft.doc.versions.get("preload")
    return shut(f"found with --preload {preloaded}") if preloaded else opened()


def no_misuse(draft: Draft, desk: Desk) -> Answer:
    entry = misuse.match(draft.doc)
    return shut(f"{entry.name}: {entry.why}", forcible=True) if entry else opened()


def not_known(draft: Draft, desk: Desk) -> Answer:
    entry = known.match(draft.doc.identity)
    return shut(f"{entry.name}: {entry.upstream}") if entry else opened()


def presentable(draft: Draft, desk: Desk) -> Answer:
    """What GitHub takes, and nothing that names this machine."""
    if len(draft.title) > TITLE or len(draft.body) > BODY:
        return shut(f"title {len(draft.title)} of at most {TITLE} characters, text {len(draft.body)} of {BODY}")
    private = [str(Path.home()), str(draft.campaign), socket.gethostname()]
    named = [word for word in private if len(word) > len("/root") and word in draft.text]
    return shut(f"it names {named[0]!r}", forcible=True) if named else opened()


def script_showed(draft: Draft, desk: Desk) -> Answer:
    """How its repro.py ended when the finding was saved."""
    script = draft.doc.script
    if script is None:
        return opened("not run: an earlier version of difftvm saved it")
    return opened() if script.shows else shut(f"its repro.py {script.description}")


# --- what the books say


def stopped(campaign: Path) -> str:
    """Names the file that forbids to send anything; empty where there is none."""
    found = next((file for file in (state_folder() / STOP, campaign / STOP) if file.exists()), None)
    return f"{found} is there" if found else ""


def not_stopped(draft: Draft, desk: Desk) -> Answer:
    why = stopped(draft.campaign)
    return shut(why) if why else opened()


def not_paused(draft: Draft, desk: Desk) -> Answer:
    if not desk.place:
        return unasked("no --repo")
    pause = desk.ledger.pause(desk.place)
    return shut(f"{pause.why}; --resume-filing allows it again") if pause and pause.why else opened()


def not_filed(draft: Draft, desk: Desk) -> Answer:
    if not desk.place:
        return unasked("no --repo")
    entry = desk.ledger.entry(desk.place, draft.fingerprint)
    if entry is None or entry.step is Step.REFUSED:
        return opened()
    return shut(f"{entry.url} since it was filed" if entry.url else "it was perhaps filed; --submit finds out")


def below_the_limit(draft: Draft, desk: Desk) -> Answer:
    if not desk.place:
        return unasked("no --repo")
    sent = desk.ledger.sent_today(desk.place)
    told = f"{sent} of {DAILY} today (UTC)"
    return shut(told) if sent >= DAILY else opened(told)


# --- what TVM says


def reproduces(draft: Draft, desk: Desk) -> Answer:
    if desk.backend is None:
        return unasked("--check or --submit runs it")
    same = _same(draft, desk, draft.doc.lane.toolchain)
    told = f"{same} of {REPRODUCTIONS} fresh runs"
    return opened(told) if same == REPRODUCTIONS else shut(told)


def script_shows(draft: Draft, desk: Desk) -> Answer:
    """How the script that the issue holds ends now."""
    if desk.backend is None:
        return unasked("--check or --submit runs it")
    run = own_script.run(desk.backend(), record.read(draft.folder))
    return opened() if run.shows else shut(f"its repro.py {run.description}")


def in_the_newest(draft: Draft, desk: Desk) -> Answer:
    """Of what is installed: a release that is not here is not asked."""
    if desk.backend is None:
        return unasked("--check or --submit runs it")
    newest, lane = desk.newest, draft.doc.lane
    if newest.toolchain == lane.toolchain:
        return opened(f"{newest.release}, where it ran")
    same = _same(draft, desk, newest.toolchain)
    told = f"{newest.release}: {same} of {REPRODUCTIONS} fresh runs"
    return opened(told) if same == REPRODUCTIONS else shut(told)


def _same(draft: Draft, desk: Desk, toolchain: str) -> int:
    """Runs that fail alike, until one does not."""
    assert desk.backend is not None
    lane = in_toolchain(draft.doc.lane, toolchain)
    for count in range(REPRODUCTIONS):
        if replay(desk.backend(), draft.doc, draft.case, [lane], 1).exit is not Exit.SAME:
            return count
    return REPRODUCTIONS


# --- what the tracker says


def not_there(draft: Draft, desk: Desk) -> Answer:
    """The same fingerprint is never filed twice; what is only alike is a person's to judge."""
    if desk.tracker is None:
        return unasked("--check or --submit asks, with --repo")
    there = _candidates(draft, desk, desk.tracker)
    same = [issue for issue in there if marker(draft.fingerprint) in issue.body]
    if same:
        return shut(f"the same fingerprint: {_listed(same)}")
    alike = [issue for issue in there if titles.near(issue.title, draft.title)]
    if alike:
        return shut(f"near-equal titles: {_listed(alike)}", forcible=True)
    return opened(f"{len(there)} issues compared")


def _candidates(draft: Draft, desk: Desk, tracker: Tracker) -> list[Issue]:
    found = tracker.search(draft.fingerprint, "body")
    for word in titles.longest(draft.title):
        found += tracker.search(word, "title")
    found += tracker.changed_since(desk.ledger.clock() - RECENT)
    return list({issue.number: issue for issue in found}.values())


def _listed(issues: list[Issue]) -> str:
    return "; ".join(f"{issue.url} ({issue.state}) {issue.title}" for issue in issues[:5])


# --- in their order

AT_A_GLANCE = (
    Gate("is TVM's fault", of_tvm),
    Gate("is steady", steady),
    Gate("shows in TVM as it is", of_plain_tvm),
    Gate("is no misuse", no_misuse),
    Gate("is not known", not_known),
    Gate("can be shown", presentable),
    Gate("was shown by its script", script_showed),
)
BY_THE_BOOKS = (
    Gate("may be filed now", not_stopped),
    Gate("is wanted there", not_paused),
    Gate("was not filed before", not_filed),
    Gate("is within the daily limit", below_the_limit),
)
BY_RUNNING = (
    Gate("reproduces", reproduces),
    Gate("is shown by its script", script_shows),
    Gate("fails in the newest release", in_the_newest),
)
BY_ASKING = (Gate("is in no other issue", not_there),)

GATES = (*AT_A_GLANCE, *BY_THE_BOOKS, *BY_RUNNING, *BY_ASKING)
AT_THE_DOOR = (*BY_THE_BOOKS, *BY_ASKING)
"""Asked when nobody else files: what others did meanwhile counts."""
