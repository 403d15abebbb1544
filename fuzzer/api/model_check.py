"""Runs the cases of a model in lanes, judges them, and saves what fails."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote

from fuzzer.api.checked import Checked, NothingRan
from fuzzer.api.found_failure import FoundFailure, some_of
from fuzzer.campaign.store.lock import Busy
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.test.judging import judged
from fuzzer.cases.parts_of_bytes import not_fed
from fuzzer.findings import record
from fuzzer.findings.check_failures import fails_check
from fuzzer.isolate.fleet import Lab
from fuzzer.lanes.base.availability import CompileOnly, availability
from fuzzer.minimize import minimize
from fuzzer.minimize.minimize import Minimized, MinimizeRequest
from fuzzer.seeds.onnx.file import were_drawn
from fuzzer.signature.in_words import plain_reason
from fuzzer.system.terminal import number_of
from fuzzer.triage.eager_values import computed_values
from fuzzer.triage.investigate import Sighting, sightings
from fuzzer.triage.refused import kind_of, part_of, titles_of, without_refused
from fuzzer.triage.reproduce import is_valid, judged_by, judged_run
from generators.dialect import dialect_named
from generators.given_calls import given_calls
from generators.graph import Case, Invalid
from oracles.finding import Component, Kind, Mismatch
from oracles.judged_elements import JudgedElements, judged_elements, reasons_in, unjudged_outputs, why_none
from oracles.lane import LaneSpec, is_eager, is_reference
from oracles.onnx_files import refusal_of_its_file
from oracles.outcome import Built, Outcome, Outcomes, Raised, Ran, Result, Unsupported, why_no_result
from oracles.reference import expected

WAIT_SECONDS = 600.0
"""How long a check waits for another process that saves a finding in the same folder."""

MOST_PARTS = 8
"""How often the rest of a model is run after one failure more."""

FAILS = "TVM fails on it, or on one like it"
"""Why no lane compiled a call. A finding says more."""

WITHOUT = "; it ran the rest, without "

_saving = threading.Lock()


@dataclass(slots=True)
class _Calls:
    """The calls of a case, which those at other sizes have too: those that a lane compiled, in whatever sizes, by their
    numbers, and why it compiled none of the others."""

    case: Case
    compiled: frozenset[int] = frozenset()
    reasons: dict[int, str] = field(default_factory=dict)


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
    failures  what was found so far, apart from `failures_of_form`, which difftvm's form of the model showed
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
    failures_of_form: list[FoundFailure] = field(default_factory=list)
    _ran: list[str] = field(default_factory=list)
    _not_run: list[tuple[str, str]] = field(default_factory=list)
    _not_confirmed: list[str] = field(default_factory=list)
    _calls: dict[tuple[tuple[str, ...], tuple[str, ...]], _Calls] = field(default_factory=dict)
    _not_judged: list[str] = field(default_factory=list)
    _judged_outputs: set[str] = field(default_factory=set)
    _unjudged_outputs: dict[str, str] = field(default_factory=dict)
    _judged: int = 0
    _unjudged: Counter[str] = field(default_factory=Counter)
    _aliased: list[str] = field(default_factory=list)
    _elsewhere: list[str] = field(default_factory=list)
    _inputs: dict[object, list[Mapping[str, str]]] = field(default_factory=dict)
    _refused: dict[LaneSpec, Mapping[int, str]] = field(default_factory=dict)
    _failing: dict[LaneSpec, frozenset[int]] = field(default_factory=dict)
    _parts: int = 0
    _not_given: str = ""

    def run(self, case: Case) -> None:
        """Run and judge a case. Confirm, reduce and save what fails. Where lanes do not support some of its calls, or
        fail on some, they run the others, too. Raise `Invalid` where the reference refuses the case."""
        every = frozenset(range(len(case.graph.nodes)))
        ends = self._run(case, self.lanes, sorted(every), in_form=self.in_form)
        compiled = every if _is_compiled(ends) else frozenset[int]()
        refused: dict[int, str] = {}
        without: dict[LaneSpec, frozenset[int]] = {}
        for rest in without_refused(self.lab.run, case, ends, self._refused):
            self._refused |= dict.fromkeys(rest.lanes, rest.refused)
            refused = {**rest.refused, **refused}  # the words of the first lane, which reads no file of an exporter
            if not rest.case:
                continue
            left = every.difference(rest.refused)
            done = self._run_part(rest.case, rest.lanes, left, in_form=self.in_form or rest.in_form)
            self._not_given = self._not_given or ("a part of it is no program of its own" if rest.in_form else "")
            compiled |= left if _is_compiled(done) else frozenset()
            without |= {lane: every - left for lane, outcome in done.items() if isinstance(outcome, Ran | Built)}
        for lanes, left in self._without_failing(case, counted=not compiled):
            compiled |= left
            without = {**dict.fromkeys(lanes, every - left), **without}
        self._note(ends, {lane: titles_of(case, numbers) for lane, numbers in without.items()})
        failing = (number for numbers in self._failing.values() for number in _alike(case, numbers))
        names = tuple(case.given.made.values()) if case.given else ()
        calls = self._calls.setdefault((case.graph.ops, names), _Calls(case))
        calls.compiled |= compiled
        calls.reasons |= dict.fromkeys(failing, FAILS) | refused

    def _without_failing(self, case: Case, *, counted: bool) -> Iterator[tuple[Sequence[LaneSpec], frozenset[int]]]:
        """Run the case without the calls on which lanes fail, and without those like them, until these lanes fail no
        more: one failure hides those of other calls. Yield the lanes that compiled the rest, and its calls."""
        every = range(len(case.graph.nodes))
        tried: dict[LaneSpec, frozenset[int]] = {}
        for _ in range(MOST_PARTS):
            groups: dict[frozenset[int], list[LaneSpec]] = {}
            for lane, failing in self._failing.items():
                left = frozenset(every).difference(_alike(case, failing), self._refused.get(lane, {}))
                if left and tried.get(lane) != left:
                    groups.setdefault(left, []).append(lane)
            computed = computed_values(self.lab.run, case) if groups else {}
            for left, lanes in groups.items():
                tried |= dict.fromkeys(lanes, left)
                part = part_of(case, lanes[0], left, computed) if computed else None
                if part and _is_compiled(self._run_part(part, lanes, left, in_form=self.in_form, counted=counted)):
                    counted = False
                    yield lanes, left

    def _run_part(
        self, part: Case, lanes: Sequence[LaneSpec], numbers: Set[int], *, in_form: bool, counted: bool = True
    ) -> dict[LaneSpec, Outcome]:
        """Run a part of the model with these calls. Return nothing where the reference refuses it."""
        try:
            done = self._run(part, lanes, sorted(numbers), in_form=in_form, counted=counted)
        except Invalid:
            return {}
        self._note(done, {})
        self._parts += 1
        return done

    def _note(self, ends: Outcomes, without: Mapping[LaneSpec, Sequence[str]]) -> None:
        """Note how lanes ended, and the operators without which they ran the rest."""
        for lane, outcome in ends.items():
            if isinstance(outcome, Ran | Built):
                self._ran.append(lane.name)
            elif why := plain_reason(outcome):
                left_out = without.get(lane, ())
                rest = f"{WITHOUT}{some_of(left_out, ', ')}" if left_out else ""
                self._not_run.append((lane.name, f"{why}{rest}"))

    def _note_outputs(self, case: Case, found: JudgedElements) -> None:
        """Note which outputs have a judged element, and why others have none, by their names in the model."""
        names = {**case.given.names, **case.given.made} if case.given else {}
        without = {names.get(own, own): (own, why) for own, why in unjudged_outputs(case, found)}
        self._judged_outputs |= {names.get(own, own) for own in case.graph.outputs} - without.keys()
        makers = {value.name: node.title for node in case.graph.nodes for value in node.results}
        for name, (own, why) in without.items() if not found.none else ():
            line = f"no value of the output `{name}` of {makers.get(own, 'the model')} is judged: {why}"
            self._unjudged_outputs.setdefault(name, line)

    def _run(
        self, case: Case, lanes: Sequence[LaneSpec], numbers: Sequence[int], *, in_form: bool, counted: bool = True
    ) -> dict[LaneSpec, Outcome]:
        """Run and judge a case, and return how the lanes ended. `numbers` are those of its calls in the model. Where it
        is `counted`, its elements are among those of the model."""
        result, every = _run(self.lab, case, lanes, self.drawn)
        own = [(lane, outcome) for lane, outcome in result.outcomes.items() if lane in self.lanes]
        self._note(dict(_absent(result.outcomes)), {})
        found = judged_elements(result.outcomes, self.lanes)
        if counted:
            self._judged += found.judged
            self._unjudged.update(dict(reasons_in(case, found)))
        if _is_compiled(dict(own)):
            self._not_judged += [*_only_compiled(case, own), *_not_judged(case, result.outcomes, found)]
            self._note_outputs(case, found)
        self._elsewhere += _of_wrong_files(own, result.outcomes)
        failing = []
        for each in every:
            if not fails_check(each.finding.kind, aliasing=self.aliasing):
                self._aliased += [lane.name for lane in each.lanes]
            elif each.finding.component is not Component.TVM:
                self._elsewhere += [_elsewhere(each, lane, result.outcomes[lane]) for lane in each.lanes]
            else:
                failing.append(each)
        for sighting, done in self._investigated(case, list(self._new(case, numbers, failing))):
            places = tuple(numbers[number] for number in done.nodes)
            at_fault = places if self.reduce else [numbers[number] for number in _pointed(case, sighting)]
            if done.folder:
                failure = _failure(replace(done, nodes=places), sighting, done.folder, self.preload)
                inputs = self._inputs.setdefault(_identity(sighting, numbers), [_inputs_of(case)])
                self._inputs.setdefault(failure.slug, inputs)
                (self.failures_of_form if in_form else self.failures).append(failure)
                for lane in sighting.lanes:
                    self._failing[lane] = self._failing.get(lane, frozenset()) | set(at_fault)
            elif line := _not_confirmed(done):
                self._not_confirmed.append(line)
        return dict(own)

    def _new(self, case: Case, numbers: Sequence[int], failing: Sequence[Sighting]) -> Iterator[Sighting]:
        """The failures that these calls of the model have not shown before with other inputs, such as at another size:
        each is reduced once. The inputs of the others are noted."""
        for sighting in failing:
            if (before := self._inputs.get(_identity(sighting, numbers))) is None:
                yield sighting
            else:
                before.append(_inputs_of(case))

    def checked(self, cases: int, not_covered: Sequence[str], not_given: str, began: float) -> Checked:
        """What ran. `began` is a time of `time.monotonic`."""
        lacking = [line for calls in self._calls.values() for line in _not_compiled(calls)]
        unjudged = [line for name, line in self._unjudged_outputs.items() if name not in self._judged_outputs]
        return Checked(
            tuple(dict.fromkeys(self._ran)),
            tuple(dict.fromkeys(_fullest(self._not_run))),
            tuple(self._not_confirmed),
            tuple(dict.fromkeys((*not_covered, *lacking))),
            cases + self._parts,
            time.monotonic() - began,
            tuple(dict.fromkeys(self._aliased)),
            tuple(dict.fromkeys((*self._not_judged, *unjudged))),
            tuple(dict.fromkeys(self._elsewhere)),
            not_given or self._not_given,
            tuple(map(self._with_inputs, self.failures_of_form)),
            self._judged,
            tuple(self._unjudged.most_common()),
        )

    @property
    def of_model(self) -> tuple[FoundFailure, ...]:
        """The failures of the model itself, one for each folder."""
        first: dict[str, FoundFailure] = {}
        for each in self.failures:
            first.setdefault(each.slug, each)
        return tuple(map(self._with_inputs, first.values()))

    def _with_inputs(self, failure: FoundFailure) -> FoundFailure:
        """The failure with the inputs of all runs of the model, or of the same part of it, that showed it."""
        first, *others = self._inputs.get(failure.slug, [{}])
        alike = [first, *(each for each in others if each.keys() == first.keys())]
        lines = (", ".join(f"{name} {sizes}" for name, sizes in each.items()) for each in alike)
        return replace(failure, inputs=tuple(dict.fromkeys(lines)))

    def _investigated(self, case: Case, sighted: Sequence[Sighting]) -> list[tuple[Sighting, Minimized]]:
        """Confirm, reduce and save each failure, one check at a time: the folder of findings has one writer."""
        if not sighted:
            return []
        requests = [
            MinimizeRequest(case, each, self.lanes, reduce=self.reduce, own_operators=True, forms=self.forms)
            for each in sighted
        ]
        width = os.cpu_count() or 1
        with _saving, _opened(self.folder) as store:
            return [
                (sighting, each)
                for sighting, one in zip(sighted, requests, strict=True)
                for each in minimize.run(self.lab, store, one, width).minimized
            ]


def _run(lab: Lab, case: Case, lanes: Sequence[LaneSpec], drawn: Sequence[str]) -> tuple[Result, list[Sighting]]:
    """Run the lanes with those that judge them. Raise `Invalid` where the reference refuses the case, and
    `NothingRan` where the lanes do not support it either."""
    everything = tuple(dict.fromkeys(each for lane in lanes for each in judged_by(lane)))
    result, findings = judged(lab.run_fresh, case, judged_run(lab.run, case, everything))
    if not is_valid(result.outcomes):
        why = next((why_no_result(out) for lane, out in result.outcomes.items() if is_eager(lane)), "it did not run")
        reference = dialect_named(case.graph.dialect).words.reference
        refused = f"{reference} refuses {case.origin or 'the case'}: {why}{were_drawn(drawn)}"
        if all(isinstance(result.outcomes[lane], Unsupported) for lane in lanes):
            words = tuple((lane.name, plain_reason(result.outcomes[lane])) for lane in lanes)
            raise NothingRan(Checked((), words, (), (), 1, 0.0, not_judged=(refused,)))
        raise Invalid(refused)
    return result, sightings(finding for finding in findings if finding.lane in lanes)


def _identity(sighting: Sighting, numbers: Sequence[int]) -> object:
    """What a failure of some calls has in common with itself at other sizes: all but the numbers."""
    evidence = sighting.finding.evidence
    output = evidence.output if isinstance(evidence, Mismatch) else 0
    return sighting.signature, sighting.lanes, output, tuple(numbers)


def _inputs_of(case: Case) -> Mapping[str, str]:
    """The sizes of the inputs, such as "[2, 4]", by their names in the model."""
    names = case.given.names if case.given else {}
    return {names.get(own, own): str(list(array.shape)) for own, array in case.inputs.items()}


def _pointed(case: Case, sighting: Sighting) -> list[int]:
    """The call at which a lane raised, by its number, where the exception tells it."""
    evidence = sighting.finding.evidence
    pointed = evidence.facts.pointed if isinstance(evidence, Raised) else ""
    return [number for number, node in enumerate(case.graph.nodes) if pointed in {each.name for each in node.results}]


def _alike(case: Case, numbers: Set[int]) -> list[int]:
    """These calls, and those that importers treat alike."""
    kinds = {kind_of(case.graph, number) for number in numbers}
    return [number for number in range(len(case.graph.nodes)) if kind_of(case.graph, number) in kinds]


def _absent(outcomes: Outcomes) -> Iterator[tuple[LaneSpec, Outcome]]:
    """onnxruntime, where it does not support the file: the witness alone judges."""
    yield from ((lane, out) for lane, out in outcomes.items() if is_eager(lane) and isinstance(out, Unsupported))


def _elsewhere(sighting: Sighting, lane: LaneSpec, outcome: Outcome) -> str:
    """For example `exporter: relax-onnx-llvm: export: RuntimeError: ...`."""
    finding = sighting.finding
    return f"{finding.component}: {lane.name}: {plain_reason(outcome) or finding.kind}"


def _of_wrong_files(own: Sequence[tuple[LaneSpec, Outcome]], outcomes: Outcomes) -> Iterator[str]:
    """A line for each lane that fails on a file of an exporter that nobody else reads: TVM is not blamed."""
    for lane, _ in own:
        if why := refusal_of_its_file(lane, outcomes):
            yield f"{lane.name}: no other reader takes the file of the exporter either: {' '.join(why.split())}"


def _is_compiled(outcomes: Outcomes) -> bool:
    return any(isinstance(outcome, Ran | Built) for outcome in outcomes.values())


def _not_compiled(calls: _Calls) -> Iterator[str]:
    """A line for each operator or function of the model with calls that no lane compiled. `Checked.not_run` has the
    reasons why the whole case was not."""
    left = [call for call in given_calls(calls.case) if not calls.compiled >= set(call.numbers)]
    reasons = [next((calls.reasons[number] for number in call.numbers if number in calls.reasons), "") for call in left]
    for (title, why), times in Counter((call.title, why) for call, why in zip(left, reasons, strict=True)).items():
        yield f"{title} ({number_of(times, 'time')}): {why or 'no lane compiled it'}"


def _fullest(reasons: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The reasons of lanes without those that another one has too, with what the lane ran beside."""
    with_rest = {(lane, why.partition(WITHOUT)[0]) for lane, why in reasons if WITHOUT in why}
    return [each for each in reasons if each not in with_rest]


def _only_compiled(case: Case, outcomes: Sequence[tuple[LaneSpec, Outcome]]) -> Iterator[str]:
    """A line for each lane whose compiled program did not run."""
    for lane, outcome in outcomes:
        if isinstance(outcome, Built):
            found = availability(lane)
            why = found.why if isinstance(found, CompileOnly) else not_fed(case)
            yield from [f"{lane.name}: it is only compiled: {why}"] if why else []


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


def _not_confirmed(done: Minimized) -> str:
    """What was seen once; "" for a compilation that was slow once and never again: the machine had other work."""
    never = done.again.startswith("0 of ")
    return "" if done.kind == Kind.SLOW and never else f"{done.kind} along {done.lane}: again in {done.again} more runs"


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


def _failure(done: Minimized, sighting: Sighting, folder: Path, preload: Path | None) -> FoundFailure:
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
        tuple(lane.name for lane in sighting.lanes),
    )
