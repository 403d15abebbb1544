"""Triage in a campaign: puts new sightings into the queue, and investigates them in the order of their priority."""

from __future__ import annotations

import threading
import traceback
from collections import Counter
from collections.abc import Callable, Sequence

from fuzzer.campaign.activity import Activity
from fuzzer.campaign.pausable_lab import LabOfTriage, Stopping
from fuzzer.campaign.priority import traits_of_saved
from fuzzer.campaign.scopes import Scopes
from fuzzer.campaign.settings import Settings
from fuzzer.campaign.store import Store
from fuzzer.campaign.waiting import Queue, never
from fuzzer.campaign.waiting_item import Item
from fuzzer.findings import finding_file
from fuzzer.findings.finding_file import FindingDoc
from fuzzer.lanes.base.availability import THIS, Machine
from fuzzer.report.own_script import warning, with_own_script
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.system.storage_errors import is_full
from fuzzer.system.terminal import say
from fuzzer.triage.blame.releases import Release
from fuzzer.triage.checked import with_checks
from fuzzer.triage.explained import explained_by
from fuzzer.triage.investigate import Confirmed, Sighting, investigate
from generators.graph import Case
from oracles.lane import Engine, LaneSpec, is_relay

TROUBLE = 10
"""A campaign ends when difftvm itself could not investigate so many sightings, and no other one in between."""

FIRST_IN_TURN = 4
"""The first sighting that is investigated although a finding explains it. The others are two, four, ... times as
far."""


class Triage:
    """The queue of a campaign, and the workers' way to it. Thread-safe."""

    def __init__(
        self, settings: Settings, store: Store, lab: LabOfTriage, activity: Activity, machine: Machine = THIS
    ) -> None:
        self._settings, self._store, self._lab, self._activity = settings, store, lab, activity
        known = store.findings.values()
        self.queue = Queue(store.folder, (traits_of_saved(doc.ops, doc.identity, doc.lane) for doc in known), machine)
        self.new: list[FindingDoc] = []
        """The findings that this run has saved."""
        self._scopes = Scopes(store, lab, settings.triage.scopes)
        self.done = 0
        """How many sightings this run has investigated, or counted as known findings."""
        self._lock = threading.Lock()
        self._explained: Counter[str] = Counter()
        """By finding, the sightings of this run that it explains."""
        self._failing: set[str] = set()
        """The sightings whose investigation failed since one succeeded."""

    def add(self, case: Case, sightings: Sequence[Sighting]) -> bool:
        """Put the sightings of a test that are not known into the queue. Return whether there was one."""
        new = [each for each in sightings if self._store.claim(case, each)]
        return sum(self.queue.add(case, each, self._lab.versions) for each in new) > 0

    def work(self, may_wait: Callable[[], bool] = never, tests_run: Callable[[], bool] = never) -> bool:
        """Investigate the next sighting, or find the scope of a finding. Return False where nothing is left for this
        worker. It waits for others as `Queue.take` does."""
        self._activity.end()
        if self._scopes.is_due:
            return self._find_scope()
        item = self.queue.take(may_wait, tests_run)
        if item is None:
            return self._find_scope()
        self._activity.begin(f"triage: {item.kind} in {item.lane.name}")
        try:
            with self._lab.admitted():  # nothing is written while the campaign pauses
                self.queue.begin(item)
            case, sighting = item.read()
            sighting = with_checks(self._lab.run_fresh, case, sighting)
            if known := self._explanation(case, sighting):
                self.queue.done(item, lambda tests: self._count(known, tests))
            else:
                self._investigate(item, case, sighting)
        except Exception as error:
            if not self.queue.is_gone(item):
                self._ended(item, error)
        else:
            with self._lock:
                self._failing.clear()
                self.done += 1
        return True

    def _find_scope(self) -> bool:
        self._activity.begin("triage: scope")
        return self._scopes.work()

    def _explanation(self, case: Case, sighting: Sighting) -> str | None:
        """The key of a finding that accounts for a sighting: another worker may have saved it while the sighting
        waited. For a wrong result, a few runs must show that the operator of that finding is at fault here too."""
        accounts = [doc for doc in self._store.accounts_for(frozenset(case.graph.ops), sighting) if not doc.flaky]
        if not sighting.signature.needs_ops:
            return accounts[0].signature if accounts else None
        # a finding of another node of a cluster has no case here
        here = [doc for doc in accounts if len(doc.ops) == 1 and (self._store.crashes / doc.slug).exists()]
        known = [(finding_file.read_with_case(self._store.crashes / doc.slug)[1], doc.identity) for doc in here]
        identity = explained_by(self._lab, case, sighting, known) if known else None
        doc = next((doc for doc in accounts if doc.identity == identity), None)
        return doc.signature if doc and not self._is_in_turn(doc.signature) else None

    def _is_in_turn(self, key: str) -> bool:
        """Whether this is the 4th, 8th, 16th, ... sighting of this run that a finding explains. It is investigated
        nevertheless, because another bug of the same operator may be explained away."""
        with self._lock:
            self._explained[key] += 1
            count = self._explained[key]
        return count >= FIRST_IN_TURN and count & (count - 1) == 0

    def _investigate(self, item: Item, case: Case, sighting: Sighting) -> None:
        found = investigate(self._lab, case, sighting, self._releases, self._lab.examine)
        if not self._store.holds(found):
            found = with_own_script(self._lab, found, self._lab.versions)
        for other_case, other in found.other_failures:
            self.add(other_case, [other])
        doc = self.queue.done(item, lambda tests: self._save(found, tests))
        if doc is not None:
            self.new.append(doc)
            self._scopes.add(doc)
            if line := warning(doc):
                say(line)

    def _count(self, key: str, tests: int) -> None:
        """Count a sighting for a finding. This is committed before its folder goes, so that a kill loses nothing."""
        self._store.count(key, tests)
        self._store.save_state()

    def _save(self, found: Confirmed, tests: int) -> FindingDoc | None:
        doc = self._store.save(found, self._lab.versions, tests)
        if doc is None:  # it was only counted
            self._store.save_state()
        return doc

    def _ended(self, item: Item, error: Exception) -> None:
        """Let the sighting of an investigation that ended with an error wait again. Raise the error where it is none of
        this sighting, and where it ends the campaign."""
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
