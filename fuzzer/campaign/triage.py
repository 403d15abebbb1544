"""Triage in a campaign: investigates and saves new sightings, and counts known ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from fuzzer.campaign.activity import Activity
from fuzzer.campaign.pausable_lab import PausableLab
from fuzzer.campaign.settings import Settings
from fuzzer.campaign.store import Store
from fuzzer.findings.finding_file import FindingDoc
from fuzzer.report.own_script import warning, with_own_script
from fuzzer.system.terminal import say
from fuzzer.triage.blame.releases import Release
from fuzzer.triage.investigate import Sighting, investigate
from generators.graph import Case
from oracles.lane import Engine, LaneSpec, is_relay


class Triage:
    def __init__(self, settings: Settings, store: Store, lab: PausableLab, activity: Activity) -> None:
        self._settings, self._store, self._lab, self._activity = settings, store, lab, activity
        self.new: list[FindingDoc] = []
        """The findings that this run has saved."""

    def look_into(self, case: Case, sightings: Sequence[Sighting]) -> None:
        """Triage the sightings of a test, and other failures that the reductions of these find."""
        waiting = deque((case, sighting) for sighting in sightings)
        while waiting:
            waiting += self._look_into(*waiting.popleft())

    def _look_into(self, case: Case, sighting: Sighting) -> Sequence[tuple[Case, Sighting]]:
        if not self._store.claim(case, sighting):
            return ()
        self._activity.begin(f"a new {sighting.finding.kind} of {sighting.finding.lane.name}")
        try:
            found = investigate(self._lab.of_triage, case, sighting, self._releases, self._lab.examine)
            if not self._store.holds(found):
                found = with_own_script(self._lab, found, self._lab.versions)
            doc = self._store.save(found, sighting, self._lab.versions)
        except OSError:  # the test is repeated; any other error is one of difftvm itself, and is not repeated
            self._store.release_claim(sighting)
            raise
        if doc is not None:
            self.new.append(doc)
            if line := warning(doc):
                say(line)
        return found.other_failures

    def _releases(self, lane: LaneSpec) -> Sequence[Release]:
        """The releases of the campaign's own toolchains, which have been started. `fuzz bisect` runs all installed
        releases."""
        relay, versions = is_relay(lane), self._lab.versions
        of_tests = [each for each in self._settings.lanes.always if each.engine is Engine.TVM]
        toolchains = [each.toolchain for each in of_tests if is_relay(each) is relay]
        toolchains += () if relay else self._settings.releases
        return [Release(versions.get(f"tvm@{name}", versions["tvm"]), name) for name in dict.fromkeys(toolchains)]
