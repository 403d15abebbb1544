"""Finds the scope, a natural case and a regression test of the findings that a run saves, the most severe ones first,
with a part of the CPU of triage."""

from __future__ import annotations

import threading
import traceback

from fuzzer.campaign.pausable_lab import LabOfTriage, Stopping
from fuzzer.campaign.store import Store
from fuzzer.findings.finding_file import FindingDoc
from fuzzer.findings.severity import severity_of
from fuzzer.report.closer_look import look_closer
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.system.terminal import one_sentence, say
from fuzzer.triage.metered import MeteredLab
from generators import case_file
from generators.graph import Invalid
from oracles.finding import Component


class Scopes:
    """The findings whose scope is not known yet. Thread-safe.

    `part` is the largest part of the CPU of triage that goes to scopes and natural cases while sightings wait; with 0,
    none is found.
    """

    def __init__(self, store: Store, lab: LabOfTriage, part: float) -> None:
        self._store, self._lab, self._part = store, lab, part
        self._before = store.state.counters.triage_cpu_seconds
        self._lock = threading.Lock()
        self._left: dict[str, float] = {}
        """The severity of each finding, by the name of its folder."""
        self._seconds = 0.0

    def add(self, doc: FindingDoc) -> None:
        """Let the scope of a new finding be found. Only steady findings of TVM's have one."""
        if not self._part or doc.flaky or doc.component is not Component.TVM:
            return
        score = severity_of(doc, case_file.input_types(self._store.crashes / doc.slug)).score
        with self._lock:
            self._left[doc.slug] = score

    @property
    def is_due(self) -> bool:
        """Whether a scope comes before the next sighting."""
        spent = self._store.state.counters.triage_cpu_seconds - self._before
        return bool(self._left) and self._seconds < self._part * spent

    def work(self) -> bool:
        """Look closer at the most severe finding. Return False where none is left."""
        with self._lock:
            if not self._left:
                return False
            slug = max(self._left, key=lambda each: (self._left[each], each))
            score = self._left.pop(slug)
        folder, lab = self._store.crashes / slug, MeteredLab(self._lab)
        try:
            look_closer(lab, folder, writing=self._lab.admitted)  # nothing is written while the campaign pauses
        except Invalid as error:
            say(one_sentence(f"{folder}: its scope is not looked for: {error}"))
        except (Stopping, EnvironmentMissing, OSError):
            with self._lock:
                self._left[slug] = score  # a disk that fails may work again
            raise
        except Exception as error:  # an error of difftvm costs one scope, not the campaign
            kept = self._store.keep_failed_scope(slug, "".join(traceback.format_exception(error)))
            say(f"{folder}: difftvm itself failed while it looked for the scope ({error}); continuing; see {kept}")
        with self._lock:
            self._seconds += lab.cpu_seconds
        return True
