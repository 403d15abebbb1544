"""Runs the cases of a model in lanes, judges them, and saves what fails."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

from fuzzer.api.checked import Checked
from fuzzer.api.found_failure import FoundFailure
from fuzzer.campaign.store.lock import Busy
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.test.judging import judged
from fuzzer.findings import record
from fuzzer.findings.check_failures import fails_check
from fuzzer.isolate.fleet import Lab
from fuzzer.lanes.base.availability import CompileOnly, availability
from fuzzer.minimize import minimize
from fuzzer.minimize.minimize import Minimized, MinimizeRequest
from fuzzer.seeds.onnx_file import were_drawn
from fuzzer.system.terminal import number_of
from fuzzer.triage.investigate import Sighting, sightings
from fuzzer.triage.reproduce import is_valid, judged_by, judged_run
from generators.dialect import dialect_named
from generators.graph import Case, Invalid
from oracles.finding import Component
from oracles.judged_elements import JudgedElements, judged_elements, reasons_in, why_none
from oracles.lane import LaneSpec, is_eager, is_reference
from oracles.outcome import Built, Outcome, Outcomes, Ran, Result, Unsupported, why_no_result
from oracles.reference import expected

WAIT_SECONDS = 600.0
"""How long a check waits for another process that saves a finding in the same folder."""

_saving = threading.Lock()


@dataclass(slots=True)
class ModelCheck:
    """A check of a model, case by case.

    lanes     run each case; those that judge them run too
    folder    where findings are saved
    preload   the file that each process with TVM executes first
    reduce    whether failures are reduced
    aliasing  whether an output that shares memory with an input is a failure
    forms     other forms of the model, which are reduced in place of its case where they fail in the same way
    drawn     the inputs of the model whose numbers are drawn
    in_form   whether the cases are difftvm's form of a model that lanes cannot run as it is
    failures  what was found so far
    """

    lab: Lab
    lanes: tuple[LaneSpec, ...]
    folder: Path
    preload: Path | None = None
    reduce: bool = True
    aliasing: bool = False
    forms: tuple[Case, ...] = ()
    drawn: tuple[str, ...] = ()
    in_form: bool = False
    failures: list[FoundFailure] = field(default_factory=list)
    _outcomes: list[tuple[LaneSpec, Outcome]] = field(default_factory=list)
    _not_confirmed: list[str] = field(default_factory=list)
    _not_covered: list[str] = field(default_factory=list)
    _not_judged: list[str] = field(default_factory=list)
    _judged: int = 0
    _unjudged: Counter[str] = field(default_factory=Counter)
    _aliased: list[str] = field(default_factory=list)
    _elsewhere: list[str] = field(default_factory=list)

    def run(self, case: Case) -> None:
        """Run and judge a case. Confirm, reduce and save what fails. Raise `Invalid` where the reference refuses it."""
        result, every = _run(self.lab, case, self.lanes, self.drawn)
        own = [(lane, outcome) for lane, outcome in result.outcomes.items() if lane in self.lanes]
        self._outcomes += [*own, *_absent(result.outcomes)]
        self._not_covered += _not_compiled(case, own)
        found = judged_elements(result.outcomes, self.lanes)
        self._judged += found.judged
        self._unjudged.update(dict(reasons_in(case, found)))
        self._not_judged += [*_only_compiled(own), *_not_judged(case, result.outcomes, found)]
        failing = []
        for each in every:
            if not fails_check(each.finding.kind, aliasing=self.aliasing):
                self._aliased += [lane.name for lane in each.lanes]
            elif each.finding.component is not Component.TVM:
                self._elsewhere += [_elsewhere(each, lane, result.outcomes[lane]) for lane in each.lanes]
            else:
                failing.append(each)
        for done in self._investigated(case, failing):
            if done.folder:
                self.failures.append(_failure(done, done.folder, self.preload))
            else:
                self._not_confirmed.append(f"{done.kind} on {done.lane}: {done.again} runs fail")

    def checked(self, cases: int, not_covered: Sequence[str], not_given: str, began: float) -> Checked:
        """What ran. `began` is a time of `time.monotonic`."""
        reasons = ((lane.name, why) for lane, outcome in self._outcomes if (why := why_no_result(outcome)))
        return Checked(
            tuple(dict.fromkeys(lane.name for lane, out in self._outcomes if isinstance(out, Ran | Built))),
            tuple(dict.fromkeys(reasons)),
            tuple(self._not_confirmed),
            tuple(dict.fromkeys((*not_covered, *self._not_covered))),
            cases,
            time.monotonic() - began,
            tuple(dict.fromkeys(self._aliased)),
            tuple(dict.fromkeys(self._not_judged)),
            tuple(dict.fromkeys(self._elsewhere)),
            not_given,
            tuple(self.failures) if self.in_form else (),
            self._judged,
            tuple(self._unjudged.most_common()),
        )

    @property
    def of_model(self) -> tuple[FoundFailure, ...]:
        """The failures of the model itself, one for each folder."""
        first: dict[str, FoundFailure] = {}
        for each in () if self.in_form else self.failures:
            first.setdefault(each.slug, each)
        return tuple(first.values())

    def _investigated(self, case: Case, sighted: Sequence[Sighting]) -> list[Minimized]:
        """Confirm, reduce and save each failure, one check at a time: the folder of findings has one writer."""
        if not sighted:
            return []
        requests = [
            MinimizeRequest(case, each, self.lanes, reduce=self.reduce, own_operators=True, forms=self.forms)
            for each in sighted
        ]
        width = os.cpu_count() or 1
        with _saving, _opened(self.folder) as store:
            return [each for one in requests for each in minimize.run(self.lab, store, one, width).minimized]


def _run(lab: Lab, case: Case, lanes: Sequence[LaneSpec], drawn: Sequence[str]) -> tuple[Result, list[Sighting]]:
    """Run the lanes with those that judge them. Raise `Invalid` where the reference refuses the case."""
    everything = tuple(dict.fromkeys(each for lane in lanes for each in judged_by(lane)))
    result, findings = judged(lab.run_fresh, case, judged_run(lab.run, case, everything))
    if not is_valid(result.outcomes):
        why = next((why_no_result(out) for lane, out in result.outcomes.items() if is_eager(lane)), "it did not run")
        reference = dialect_named(case.graph.dialect).words.reference
        raise Invalid(f"{reference} refuses {case.origin or 'the case'}: {why}{were_drawn(drawn)}")
    return result, sightings(finding for finding in findings if finding.lane in lanes)


def _absent(outcomes: Outcomes) -> Iterator[tuple[LaneSpec, Outcome]]:
    """onnxruntime, where it does not support the file: the witness alone judges."""
    yield from ((lane, out) for lane, out in outcomes.items() if is_eager(lane) and isinstance(out, Unsupported))


def _elsewhere(sighting: Sighting, lane: LaneSpec, outcome: Outcome) -> str:
    """For example `exporter: relax-onnx-llvm: export: RuntimeError: ...`."""
    finding = sighting.finding
    return f"{finding.component}: {lane.name}: {why_no_result(outcome) or finding.kind}"


def _not_compiled(case: Case, outcomes: Sequence[tuple[LaneSpec, Outcome]]) -> Iterator[str]:
    """A line for each operator of a case that no lane compiled. `Checked.not_run` has the reasons."""
    if any(isinstance(outcome, Ran | Built) for _, outcome in outcomes):
        return
    for title, times in Counter(case.graph.ops).items():
        yield f"{title} ({number_of(times, 'time')}): no lane compiled it"


def _only_compiled(outcomes: Sequence[tuple[LaneSpec, Outcome]]) -> Iterator[str]:
    """A line for each lane whose compiled program did not run."""
    for lane, outcome in outcomes:
        if isinstance(outcome, Built) and isinstance(found := availability(lane), CompileOnly):
            yield f"{lane.name}: it is only compiled: {found.why}"


def _not_judged(case: Case, outcomes: Outcomes, found: JudgedElements) -> Iterator[str]:
    """A line for a case of which no value is judged."""
    if expected(outcomes) is not None:
        if found.none:
            yield why_none(case, found)
        return
    reasons = (
        f"{lane.name}: {why}" for lane, out in outcomes.items() if is_reference(lane) and (why := why_no_result(out))
    )
    yield f"the values of {', '.join(dict.fromkeys(case.graph.ops))}: {next(reasons, 'the references do not agree')}"


def _opened(folder: Path) -> Store:
    """Open the folder of findings, after the process that has it open. Raise `Invalid` where that takes too long."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            return Store(folder, None)
        except Busy as busy:
            if time.monotonic() > deadline:
                raise Invalid(f"{busy}; name another folder") from None
        time.sleep(0.2)


def _failure(done: Minimized, folder: Path, preload: Path | None) -> FoundFailure:
    """The failure of this model: another one may have shown it first, and the folder is that one's."""
    doc = record.read(folder).doc
    return FoundFailure(
        doc.slug,
        done.title,
        doc.kind,
        done.ops,
        folder,
        folder / "repro.py",
        f"fuzz --replay {quote(str(folder))}{f' --preload {quote(str(preload))}' if preload else ''}",
        doc.component,
        done.nodes,
        done.known_as,
    )
