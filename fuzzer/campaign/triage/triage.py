"""Triage in a campaign: puts new sightings into the queue, and investigates them in the order of their priority."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial

from fuzzer.campaign.lanes.activity import Activity
from fuzzer.campaign.lanes.pausable_lab import LabOfTriage, Stopping
from fuzzer.campaign.plan.settings import Settings
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.triage.confirmed import ConfirmedCauses
from fuzzer.campaign.triage.priority import traits_of_saved
from fuzzer.campaign.triage.provisional import has_cause, key_of_cause, keys_of_finding
from fuzzer.campaign.triage.scopes import Scopes
from fuzzer.campaign.triage.waiting import Queue, never
from fuzzer.campaign.triage.waiting_item import Item
from fuzzer.findings import finding_file
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.lanes.base.availability import THIS, Machine
from fuzzer.report.own_script import warning, with_own_script
from fuzzer.system.environment import EnvironmentMissing, MachineLacks
from fuzzer.system.storage_errors import is_full
from fuzzer.system.terminal import say
from fuzzer.triage.blame.releases import Release
from fuzzer.triage.candidates import Effort
from fuzzer.triage.checked import with_checks
from fuzzer.triage.explained import explained_by
from fuzzer.triage.investigate import Investigated, Sighting, Unfinished, investigate
from fuzzer.triage.metered import MeteredLab, Step
from fuzzer.triage.suspect import NO_SUSPECT, Certainty, Suspect
from fuzzer.triage.suspicion import first_wrong, suspect_of
from generators.graph import Case
from oracles.lane import Engine, LaneSpec, is_relay
from oracles.outcome import Outcomes

NO_OUTCOMES: Outcomes = {}

EFFORT = Effort(calls=60)
"""The limit of one reduction. The few that need more take as long as ten others. `fuzz minimize` goes on with what they
leave."""

FIRST_PART, NEXT_PART, PARTS = 2.5, 4, 2
"""While other causes wait, a reduction gets `FIRST_PART` CPU seconds. What has several calls then waits again, and gets
`NEXT_PART` times as many the next time; after `PARTS` times, all that it takes. Of 105 investigations of a campaign,
12 took more, and 58 % of the CPU."""

TROUBLE = 10
"""A campaign ends when difftvm itself could not investigate this many sightings, and no other one in between."""


DOING = {
    Step.SUSPECT: "looking at",
    Step.CHECK: "looking at",
    Step.EXPLAIN: "looking at",
    Step.CONFIRM: "confirming",
    Step.REDUCE: "reducing",
    Step.NAME: "naming",
    Step.BLAME: "blaming",
    Step.RELEASES: "running other releases with",
    Step.SCRIPT: "running the script of",
    Step.SCOPE: "looking for the condition of",
}
"""What a worker does in each step, in words."""


def subject_of(item: Item) -> str:
    """What a worker investigates: the suspected operators and how they fail."""
    operators = item.suspect.operators or tuple(sorted(item.ops))
    named = ", ".join(f"`{name}`" for name in operators[:SUBJECTS])
    more = f" and {len(operators) - SUBJECTS} more" if len(operators) > SUBJECTS else ""
    return f"{named or 'a model'}{more} ({item.kind})"


SUBJECTS = 2
"""How many operators are named."""


class Triage:
    """The queue of a campaign, and the workers' way to it. Thread-safe."""

    def __init__(
        self, settings: Settings, store: Store, lab: LabOfTriage, activity: Activity, machine: Machine = THIS
    ) -> None:
        self._settings, self._store, self._lab, self._activity = settings, store, lab, activity
        known = [traits_of_saved(doc.ops, doc.identity, doc.lane) for doc in store.findings.values()]
        self.queue = Queue(store.folder, known, machine, settings.triage.only)
        self.new: list[FindingDoc] = []
        """The findings that this run has saved."""
        self._scopes = Scopes(store, lab, wanted=settings.triage.scopes > 0)
        self.done = 0
        """How many sightings this run has investigated, or counted as known findings."""
        self._confirmed = ConfirmedCauses(store.crashes)
        for doc in list(store.findings.values()):
            self._confirm(doc)
        self._lock = threading.Lock()
        self._failing: set[str] = set()
        """The sightings whose investigation failed since one succeeded."""

    def add(self, case: Case, sightings: Sequence[Sighting], outcomes: Outcomes = NO_OUTCOMES) -> None:
        """Put the sightings of a test that are not known into the queue. `outcomes` are those of its lanes."""
        for each in [each for each in sightings if self._store.claim(case, each)]:
            self._add(case, each, outcomes)

    def _add(self, case: Case, sighting: Sighting, outcomes: Outcomes) -> None:
        suspect = NO_SUSPECT
        if not self.queue.has_like(case, sighting):
            suspect = suspect_of(case, sighting.finding, outcomes)
            if suspect.certainty is not Certainty.SEEN:
                lab = MeteredLab(self._lab)
                with suppress(Stopping), self._costs(lab), lab.during(Step.SUSPECT):
                    # the sighting was claimed: it waits, and its test is not repeated
                    named = first_wrong(lab.run, case, sighting.finding)
                    suspect = named if named.certainty is Certainty.SEEN else suspect
            cause = key_of_cause(sighting.signature, sighting.finding.lane, suspect, case.graph.ops)
            if known := self._confirmed.counted_for(cause, sighting.signature, sighting.finding.lane, suspect):
                self._store.count(known)
                return
        self.queue.add(case, sighting, self._lab.versions, suspect)

    def _confirm(self, doc: FindingDoc) -> None:
        """Let a finding account for the sightings of its cause that wait. Some of them wait on: samples, and those of
        other converters."""
        if not has_cause(doc):
            return
        self._confirmed.add(doc)
        for item in self.queue.confirm(keys_of_finding(doc)):
            if known := self._confirmed.counted_for(item.cause, item.key, item.lane, item.suspect):
                self.queue.count(item, partial(self._count, known))

    def work(self, scopes: float, may_wait: Callable[[], bool] = never, tests_run: Callable[[], bool] = never) -> bool:
        """Investigate the next sighting, or find the scope of a finding: `scopes` is the largest part of the CPU of
        triage that goes to scopes while sightings wait; with 0, none is found. Return False where nothing is left for
        this worker. It waits for others as `Queue.take` does."""
        self._activity.end()
        if self._scopes.is_due(scopes):
            return self._find_scope()
        item = self.queue.take(may_wait, tests_run)
        if item is None:
            return scopes > 0 and self._find_scope()
        what = subject_of(item)
        self._activity.begin(f"{DOING[Step.CHECK]} {what}", is_triage=True)
        lab = MeteredLab(self._lab, begins=lambda step: self._activity.goes_on(f"{DOING[step]} {what}"))
        try:
            with self._costs(lab):
                self._take_up(lab, item)
        except Exception as error:
            if not self.queue.is_gone(item):
                self._ended(item, error)
        else:
            with self._lock:
                self._failing.clear()
                self.done += 1
        return True

    def _take_up(self, lab: MeteredLab, item: Item) -> None:
        """Count the sighting for a finding that accounts for it, or investigate it."""
        with self._lab.admitted():  # nothing is written while the campaign pauses
            self.queue.begin(item)
        case, sighting = item.read()
        with lab.during(Step.CHECK):
            sighting = with_checks(lab.run_fresh, case, sighting)
        with lab.during(Step.EXPLAIN):
            known = self._explanation(lab, case, sighting)
        if known:
            self.queue.done(item, lambda tests: self._count(known, tests))
        else:
            self._investigate(lab, item, case, sighting)

    @contextmanager
    def _costs(self, lab: MeteredLab) -> Iterator[None]:
        """Add what the steps inside cost to the counters of the campaign, however they end."""
        try:
            yield
        finally:
            self._store.add_costs(lab.by_step)

    def _find_scope(self) -> bool:
        self._activity.begin("looking for the condition under which a finding fails", is_triage=True)
        return self._scopes.work()

    def _explanation(self, lab: MeteredLab, case: Case, sighting: Sighting) -> str | None:
        """The key of a finding that accounts for a sighting: another worker may have saved it while the sighting
        waited. Of a wrong result, a few runs must show that the operator of the finding is at fault here too."""
        accounts = [doc for doc in self._store.accounts_for(frozenset(case.graph.ops), sighting) if not doc.flaky]
        if not sighting.signature.needs_ops:
            return accounts[0].signature if accounts else None
        # a finding of another node of a cluster has no case here
        here = [doc for doc in accounts if len(doc.ops) == 1 and (self._store.crashes / doc.slug).exists()]
        known = [(finding_file.read_with_case(self._store.crashes / doc.slug)[1], doc.identity) for doc in here]
        identity = explained_by(lab, case, sighting, known) if known else None
        explained = next((doc for doc in accounts if doc.identity == identity), None)
        return explained.signature if explained and not self._confirmed.is_in_turn(explained.signature) else None

    def _investigate(self, lab: MeteredLab, item: Item, case: Case, sighting: Sighting) -> None:
        of_a_model = self._settings.around is not None
        effort = self._effort(item, lab)
        try:
            found = investigate(lab, case, sighting, self._releases, lab.examine, 1, effort, of_a_model)
        except Unfinished as unfinished:
            lab.by_step.update(unfinished.costs)
            self._leave(item, unfinished)
            return
        lab.by_step.update(found.costs)
        if not self._store.holds(found):
            with lab.during(Step.SCRIPT):
                found = with_own_script(lab.run_script, found, lab.versions)
        for other_case, other in found.other_failures:
            self.add(other_case, [other])
        doc = self.queue.done(item, lambda tests: self._save(found, tests, item.suspect))
        if doc is not None:
            self.new.append(doc)
            self._scopes.add(doc)
            self._confirm(doc)
            if line := warning(doc):
                say(line)

    def _effort(self, item: Item, lab: MeteredLab) -> Effort:
        """The limit of the reduction: a part of it, while other causes wait."""
        if item.attempts.left >= PARTS or not self.queue.others_wait(item):
            return EFFORT
        seconds = FIRST_PART * NEXT_PART**item.attempts.left
        return Effort(EFFORT.calls, seconds, lambda: lab.cpu_seconds, is_part=True)

    def _leave(self, item: Item, unfinished: Unfinished) -> None:
        for case, other in unfinished.others:
            self.add(case, [other])
        self.queue.leave(item, unfinished.case, unfinished.sighting, self._lab.versions)

    def _count(self, key: str, tests: int) -> None:
        """Count a sighting for a finding. This is committed before its folder goes, so that a kill loses nothing."""
        self._store.count(key, tests)
        self._store.save_state()

    def _save(self, found: Investigated, tests: int, suspect: Suspect) -> FindingDoc | None:
        led_to_it = suspect.shows_as and {*suspect.operators} <= {*found.case.graph.ops}
        doc = self._store.save(found, self._lab.versions, tests, suspect if led_to_it else NO_SUSPECT)
        if doc is None:  # it was only counted
            self._store.save_state()
        return doc

    def _ended(self, item: Item, error: Exception) -> None:
        """Let the sighting of an investigation that ended with an error wait again; for a while, where the machine
        lacked something. Raise the error where it is none of this sighting, and where it ends the campaign."""
        if isinstance(error, MachineLacks):
            self.queue.put_back(item, str(error))
            say(f"{item.folder}: it waits on, because this machine lacks something for it: {error}")
            return
        if isinstance(error, Stopping | EnvironmentMissing) or is_full(error):
            self.queue.put_back(item)
            raise error
        with self._lock:
            self._failing.add(item.name)
            if len(self._failing) >= TROUBLE:
                self.queue.put_back(item)
                raise error
        self.queue.failed(item, "".join(traceback.format_exception(error)))
        what = f"{type(error).__name__}: {error}".partition("\n")[0]
        say(f"{item.folder}: difftvm itself failed ({what}); continuing")

    def _releases(self, lane: LaneSpec) -> Sequence[Release]:
        """The releases of the lane's toolchain and of the campaign's own ones, which have been started. `fuzz bisect`
        runs all installed releases."""
        relay, versions = is_relay(lane), self._lab.versions
        of_tests = [each for each in self._settings.lanes.always if each.engine is Engine.TVM]
        toolchains = [lane.toolchain, *(each.toolchain for each in of_tests if is_relay(each) is relay)]
        toolchains += () if relay else self._settings.releases
        return [Release(versions.get(f"tvm@{name}", versions["tvm"]), name) for name in dict.fromkeys(toolchains)]
