"""Finds the scope, a natural case and a regression test of the findings that a run saves, with a part of the CPU of
triage: of those that a person is likely to read, the most severe ones first."""

from __future__ import annotations

import threading
import traceback
from contextlib import suppress
from dataclasses import replace

from fuzzer.campaign.lanes.pausable_lab import LabOfTriage, Stopping
from fuzzer.campaign.store.store import Store
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.severity import severity_of
from fuzzer.report.closer_look import look_closer
from fuzzer.system.environment import EnvironmentMissing, MachineLacks
from fuzzer.system.terminal import one_sentence, say
from fuzzer.triage.metered import MeteredLab, Step
from fuzzer.triage.scope.find import WHOLE_EFFORT
from generators import case_file
from generators.graph import Invalid
from oracles.finding import Component

MOST_READ = 30
"""The scope of a finding is looked for while it is among the `MOST_READ` most severe ones. `fuzz scope` finds
others."""

SUPERVISOR_TOO = 2
"""The supervisor takes as long for a scope as its children. It counts too, and is not measured: which finding comes
next depends on what the lab says alone."""


USUAL_SECONDS = 10.0
"""What a scope takes with that: no scope begins that would exceed its part of the CPU, not the first one either."""


EFFORT = replace(WHOLE_EFFORT, seconds=20.0)
"""The limit of one scope in a campaign: three times the median. One that reaches it says so; `fuzz scope` goes to the
end."""


class Scopes:
    """The findings whose scope is not known yet; none, unless `wanted`. Thread-safe."""

    def __init__(self, store: Store, lab: LabOfTriage, *, wanted: bool) -> None:
        self._store, self._lab, self._wanted = store, lab, wanted
        self._before = store.state.counters.triage_cpu_seconds
        self._lock = threading.Lock()
        self._scores = (
            {doc.slug: self._score(doc) for doc in store.findings.values() if _has_scope(doc)} if wanted else {}
        )
        """The severity of each finding that may have a scope, by the name of its folder."""
        self._left: set[str] = set()
        self._seconds = 0.0

    def add(self, doc: FindingDoc) -> None:
        """Let the scope of a new finding be found."""
        if self._wanted and _has_scope(doc):
            score = self._score(doc)
            with self._lock:
                self._scores[doc.slug] = score
                self._left.add(doc.slug)

    def _score(self, doc: FindingDoc) -> float:
        types: tuple[str, ...] = ()
        with suppress(Invalid):  # a finding of another node of a cluster has no case here
            types = case_file.input_types(self._store.crashes / doc.slug)
        return severity_of(doc, types).score

    def is_due(self, part: float) -> bool:
        """Whether a scope comes before the next sighting, where at most this part of the CPU of triage goes to scopes
        and natural cases."""
        spent = self._store.state.counters.triage_cpu_seconds - self._before
        return self._seconds + USUAL_SECONDS < part * spent and bool(self._likely_read())

    def _likely_read(self) -> list[str]:
        """Those left that are among the most severe findings, the most severe first."""
        with self._lock:
            first = sorted(self._scores, key=lambda slug: (-self._scores[slug], slug))[:MOST_READ]
            return [slug for slug in first if slug in self._left]

    def work(self) -> bool:
        """Look closer at the most severe finding. Return False where none is left."""
        likely = self._likely_read()
        with self._lock:
            slug = next((each for each in likely if each in self._left), None)  # another worker may have taken it
            if slug is None:
                return False
            self._left.remove(slug)
            self._seconds += USUAL_SECONDS  # so that another worker begins no other one meanwhile
        folder, lab = self._store.crashes / slug, MeteredLab(self._lab)
        try:
            with lab.during(Step.SCOPE):
                look_closer(
                    lab, folder, EFFORT, writing=self._lab.admitted
                )  # nothing is written while the campaign pauses
        except Invalid as error:
            say(one_sentence(f"{folder}: its scope is not looked for: {error}"))
        except MachineLacks as lack:
            say(
                one_sentence(f"{folder}: its scope is not looked for, `fuzz scope` does it: this machine lacks: {lack}")
            )
        except (Stopping, EnvironmentMissing, OSError):
            with self._lock:
                self._left.add(slug)  # a disk that fails may work again
            raise
        except Exception as error:  # an error of difftvm costs one scope, not the campaign
            kept = self._store.keep_failed_scope(slug, "".join(traceback.format_exception(error)))
            say(f"{folder}: difftvm itself failed while it looked for the scope ({error}); continuing; see {kept}")
        finally:
            with self._lock:
                self._seconds += SUPERVISOR_TOO * lab.cpu_seconds - USUAL_SECONDS
        self._store.add_costs(lab.by_step)
        return True


def _has_scope(doc: FindingDoc) -> bool:
    """Only steady findings of TVM's have one."""
    return not doc.flaky and doc.component is Component.TVM
