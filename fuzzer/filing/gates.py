"""The conditions for filing a finding. Each gate is one function. The cheap gates come first.

A closed gate stops the filing. `--force` overrides some gates, for a person who has checked the finding.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from fuzzer.filing import misuse, similar_titles
from fuzzer.filing.draft import Draft
from fuzzer.filing.ledger import Ledger, Step
from fuzzer.filing.newest import Newest
from fuzzer.filing.tracker import BODY, TITLE, Issue, Tracker
from fuzzer.findings import made_here, record, upstream
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.record import FindingRecord
from fuzzer.findings.replay import replay
from fuzzer.isolate.bare_script import RunBare
from fuzzer.isolate.fleet import Lab
from fuzzer.report import own_script, repro
from fuzzer.report.issue import marker
from fuzzer.report.requirements import requirements_of
from fuzzer.signature import known
from fuzzer.system.exit_codes import Exit
from fuzzer.system.state_folder import state_folder
from fuzzer.toolchains.install import NotOffered
from fuzzer.toolchains.lanes import in_toolchain
from fuzzer.toolchains.toolchain import HOST_NAME, GraphLanguage, language_of
from oracles.finding import Component

REPRODUCTIONS = 10
"""The number of runs in fresh children that must all fail."""

DAILY = 3
"""The number of issues that are filed in one repository on one day (UTC)."""

STOP = "STOP-FILING"
"""The name of the file that stops all filing."""

RECENT = 24 * 3600.0
"""The age in seconds below which issues are read from the list: GitHub's search may lack new ones."""


NO_RELEASE = Newest(HOST_NAME, "")


class GateVerdict(StrEnum):
    OPEN = "yes"
    CLOSED = "no"
    NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True)
class GateAnswer:
    """`reason` explains the verdict. `forcible`: `--force` overrides the gate."""

    verdict: GateVerdict
    reason: str
    forcible: bool = False


@dataclass(frozen=True, slots=True)
class FilingContext:
    """What gates need beside the draft.

    place    the repository as the ledger names it; "" if none was given
    tracker  None if it may not be asked
    backend  starts what runs lanes, at the first run; None if nothing may run
    newest   the newest release of TVM that is installed
    trusts   whether the script of a finding from elsewhere may run
    bare     runs scripts in bare environments; None if nothing may run
    """

    ledger: Ledger
    place: str = ""
    tracker: Tracker | None = None
    backend: Callable[[], Lab] | None = None
    newest: Newest = NO_RELEASE
    trusts: bool = False
    bare: RunBare | None = None


GateCheck = Callable[[Draft, FilingContext], GateAnswer]


@dataclass(frozen=True, slots=True)
class Gate:
    """`name` completes the sentence "the finding ..."."""

    name: str
    check: GateCheck


def opened(reason: str = "") -> GateAnswer:
    return GateAnswer(GateVerdict.OPEN, reason)


def closed(reason: str, *, forcible: bool = False) -> GateAnswer:
    return GateAnswer(GateVerdict.CLOSED, reason, forcible)


def not_checked(reason: str) -> GateAnswer:
    return GateAnswer(GateVerdict.NOT_ASKED, reason)


# --- gates that read the finding only


def may_be_filed(doc: FindingDoc) -> bool:
    """Return whether the finding is one for TVM's maintainers. Its report is not read."""
    steady_bug_of_tvm = doc.component is Component.TVM and not doc.flaky
    excused = misuse.match(doc) or known.match(doc.identity) or upstream.unspecified(doc)
    return steady_bug_of_tvm and excused is None


def of_tvm(draft: Draft, context: FilingContext) -> GateAnswer:
    if draft.doc.component is not Component.TVM:
        return closed(f"it is {draft.doc.component}'s fault")
    if language_of(draft.doc.lane) is not GraphLanguage.RELAX:
        return closed("it is in Relay, which left TVM with 0.20")
    return opened()


def steady(draft: Draft, context: FilingContext) -> GateAnswer:
    return closed(f"flaky: {draft.doc.confirmed}") if draft.doc.flaky else opened(draft.doc.confirmed)


def of_plain_tvm(draft: Draft, context: FilingContext) -> GateAnswer:
    preloaded = draft.doc.versions.get("preload")
    return closed(f"found with --preload {preloaded}") if preloaded else opened()


def no_misuse(draft: Draft, context: FilingContext) -> GateAnswer:
    entry = misuse.match(draft.doc)
    return closed(f"{entry.name}: {entry.why}", forcible=True) if entry else opened()


def not_known(draft: Draft, context: FilingContext) -> GateAnswer:
    entry = known.match(draft.doc.identity)
    return closed(f"{entry.name}: {entry.upstream}") if entry else opened()


def specified(draft: Draft, context: FilingContext) -> GateAnswer:
    row = upstream.unspecified(draft.doc)
    return closed(f"TVM leaves it unspecified: #{row.number}, {row.why}") if row else opened()


def presentable(draft: Draft, context: FilingContext) -> GateAnswer:
    """The issue fits into GitHub's limits and does not name this machine."""
    if len(draft.title) > TITLE or len(draft.body) > BODY:
        return closed(f"title {len(draft.title)} of at most {TITLE} characters, text {len(draft.body)} of {BODY}")
    private = [str(Path.home()), str(draft.campaign), socket.gethostname()]
    named = [word for word in private if len(word) > len("/root") and word in draft.text]
    return closed(f"it names {named[0]!r}", forcible=True) if named else opened()


def script_showed(draft: Draft, context: FilingContext) -> GateAnswer:
    """The finding's repro.py showed the bug when the finding was saved."""
    script = draft.doc.script
    if script is None:
        return opened("not run: an earlier version of difftvm saved it")
    return opened() if script.shows else closed(f"its repro.py {script.description}")


# --- gates that read the ledger and stop files


def stopped(campaign: Path) -> str:
    """Name the file that stops filing; "" if there is none."""
    found = next((file for file in (state_folder() / STOP, campaign / STOP) if file.exists()), None)
    return f"{found} is there" if found else ""


def not_stopped(draft: Draft, context: FilingContext) -> GateAnswer:
    why = stopped(draft.campaign)
    return closed(why) if why else opened()


def not_paused(draft: Draft, context: FilingContext) -> GateAnswer:
    if not context.place:
        return not_checked("no --repo")
    pause = context.ledger.pause(context.place)
    return closed(f"{pause.why}; --resume-filing allows it again") if pause and pause.why else opened()


def not_filed(draft: Draft, context: FilingContext) -> GateAnswer:
    if not context.place:
        return not_checked("no --repo")
    entry = context.ledger.entry(context.place, draft.fingerprint)
    if entry is None or entry.step is Step.REFUSED:
        return opened()
    return closed(f"{entry.url} since it was filed" if entry.url else "it was perhaps filed; --submit finds out")


def family_not_filed(draft: Draft, context: FilingContext) -> GateAnswer:
    """No other finding of the same cause is filed. Only a person can decide that the cause is another one."""
    if not context.place:
        return not_checked("no --repo")
    for doc in (each.doc for each in draft.relatives):
        entry = context.ledger.entry(context.place, doc.signature)
        if entry is not None and entry.step is not Step.REFUSED:
            return closed(f"{doc.slug} is of the same family; {entry.url or 'it was perhaps filed'}", forcible=True)
    return opened()


def below_the_limit(draft: Draft, context: FilingContext) -> GateAnswer:
    if not context.place:
        return not_checked("no --repo")
    sent = context.ledger.sent_today(context.place)
    reason = f"{sent} of {DAILY} today (UTC)"
    return closed(reason) if sent >= DAILY else opened(reason)


# --- gates that run TVM


def reproduces(draft: Draft, context: FilingContext) -> GateAnswer:
    if context.backend is None:
        return not_checked("--check or --submit runs it")
    return _same(draft, context, draft.doc.lane.toolchain)


def script_shows(draft: Draft, context: FilingContext) -> GateAnswer:
    """The script in the issue shows the bug now. That of a finding from elsewhere is not run unless the user trusts
    it."""
    if context.backend is None:
        return not_checked("--check or --submit runs it")
    stored = _trusted(draft, context)
    if isinstance(stored, GateAnswer):
        return stored
    run = own_script.run(context.backend().run_script, stored)
    return opened() if run.shows else closed(f"its repro.py {run.description}")


def _trusted(draft: Draft, context: FilingContext) -> FindingRecord | GateAnswer:
    """The finding whose script is run: what was checked is what is decoded. A closed gate where it is not run."""
    if context.trusts:
        return record.read(draft.folder)
    try:
        return made_here.own(draft.folder).record()
    except made_here.NotMadeHere as why:
        return closed(f"its script is not run: {why}; `fuzz file --trust` runs it")


def shows_bare(draft: Draft, context: FilingContext) -> GateAnswer:
    """The script shows the bug where nothing is installed but what it imports, as pip installs it for its readers. Only
    a person can decide where it cannot run there: it needs a device, or a TVM that is not on the index."""
    if context.bare is None:
        return not_checked("--check or --submit runs it")
    stored = _trusted(draft, context)
    if isinstance(stored, GateAnswer):
        return stored
    if lacks := own_script.lacks_a_device(stored):
        return closed(lacks, forcible=True)
    needed = requirements_of(stored)
    try:
        run = context.bare(repro.script(stored), needed, draft.doc.lane.target).run
    except NotOffered as error:
        return closed(str(error), forcible=True)
    alone = f"with {' '.join(needed)} alone"
    return opened(alone) if run.shows else closed(f"its repro.py {run.description}, {alone}")


def in_the_newest(draft: Draft, context: FilingContext) -> GateAnswer:
    """The newest installed release of TVM fails in the same way."""
    if context.backend is None:
        return not_checked("--check or --submit runs it")
    newest, lane = context.newest, draft.doc.lane
    if newest.toolchain == lane.toolchain:
        return opened(f"{newest.release}, where it ran")
    return _same(draft, context, newest.toolchain, f"{newest.release}: ")


def _same(draft: Draft, context: FilingContext, toolchain: str, where: str = "") -> GateAnswer:
    """Whether each run fails in the same way. A run that the machine lacks something for says nothing."""
    assert context.backend is not None
    lane = in_toolchain(draft.doc.lane, toolchain)
    for count in range(REPRODUCTIONS):
        done = replay(context.backend().run_fresh, draft.doc, draft.case, [lane], 1)
        if done.exit is Exit.ENVIRONMENT:
            return closed(f"{where}this machine cannot tell: {done.runs[0].text}")
        if done.exit is not Exit.SAME:
            return closed(f"{where}{count} of {REPRODUCTIONS} fresh runs")
    return opened(f"{where}{REPRODUCTIONS} of {REPRODUCTIONS} fresh runs")


# --- gates that ask the tracker


def not_there(draft: Draft, context: FilingContext) -> GateAnswer:
    """No issue has the same signature or a similar title. Only a person can decide about similar titles."""
    if context.tracker is None:
        return not_checked("--check or --submit asks, with --repo")
    there = _candidates(draft, context, context.tracker)
    same = [issue for issue in there if marker(draft.fingerprint) in issue.body]
    if same:
        return closed(f"the same signature: {_listed(same)}")
    alike = [issue for issue in there if similar_titles.near(issue.title, draft.title)]
    if alike:
        return closed(f"near-equal titles: {_listed(alike)}", forcible=True)
    return opened(f"{len(there)} issues compared")


def _candidates(draft: Draft, context: FilingContext, tracker: Tracker) -> list[Issue]:
    found = tracker.search(draft.fingerprint, "body")
    for word in similar_titles.longest(draft.title):
        found += tracker.search(word, "title")
    found += tracker.changed_since(context.ledger.clock() - RECENT)
    return list({issue.number: issue for issue in found}.values())


def _listed(issues: list[Issue]) -> str:
    return "; ".join(f"{issue.url} ({issue.state}) {issue.title}" for issue in issues[:5])


# --- all gates, in their order

FINDING_GATES = (
    Gate("is TVM's fault", of_tvm),
    Gate("is steady", steady),
    Gate("shows without a preloaded file", of_plain_tvm),
    Gate("is a valid use of TVM", no_misuse),
    Gate("is not known", not_known),
    Gate("is specified upstream", specified),
    Gate("was shown by repro.py when saved", script_showed),
)
LEDGER_GATES = (
    Gate("may be filed now", not_stopped),
    Gate("is wanted there", not_paused),
    Gate("was not filed before", not_filed),
    Gate("has a cause that was not filed", family_not_filed),
    Gate("is within the daily limit", below_the_limit),
)
RUN_GATES = (
    Gate("shows in fresh runs", reproduces),
    Gate("is shown by repro.py today", script_shows),
    Gate("fails in the newest release", in_the_newest),
    Gate("is shown by repro.py in a bare environment", shows_bare),
)
TEXT_GATES = (Gate("fits into an issue", presentable),)
TRACKER_GATES = (Gate("is in no other issue", not_there),)

GATES = (*FINDING_GATES, *LEDGER_GATES, *RUN_GATES, *TEXT_GATES, *TRACKER_GATES)
FINAL_GATES = (*LEDGER_GATES, *TEXT_GATES, *TRACKER_GATES)
"""The gates that are asked under the ledger's lock: of the ledger again, because other processes may have filed in the
meantime, and of the whole text."""
