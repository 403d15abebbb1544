"""A campaign on disk: one directory, which stays whole when the process is killed at any moment.

`fuzzer.campaign.store.layout` lists its files. Thread-safe.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from fuzzer.campaign.store import index, leftovers, own_errors, state
from fuzzer.campaign.store.index import Index
from fuzzer.campaign.store.layout import ELSEWHERE, ERRORS, FOLDER_FILES, SCRATCH, check_folders, findings_in
from fuzzer.campaign.store.lock import locked
from fuzzer.campaign.store.notable_tests import WriteDocument
from fuzzer.campaign.store.presence import why_no_index
from fuzzer.campaign.store.rows import NO_OBSERVATIONS, IndexRow, Observations
from fuzzer.campaign.store.side_files import SUFFIXES
from fuzzer.campaign.store.state import State
from fuzzer.findings import finding_file, made_here
from fuzzer.findings.field_forms import SLUG
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.record import AFTER, BEFORE, ONNX, record_of
from fuzzer.lanes import EVERY_LANE
from fuzzer.report import issue, repro
from fuzzer.report.add_to import add_machines
from fuzzer.signature import Signature, interchangeable_kinds, signature_of
from fuzzer.signature import known as known_behaviour
from fuzzer.system.files import copy_folder, make_folder, write_atomically, write_folder
from fuzzer.system.terminal import one_sentence, say
from fuzzer.triage.investigate import Investigated, Sighting
from fuzzer.triage.metered import CostBySteps
from fuzzer.triage.suspect import NO_SUSPECT, Suspect
from generators import case_file
from generators.graph import Case, Invalid
from generators.onnx import model as onnx_model
from oracles.judged_elements import judged_elements
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Result
from oracles.siblings import covers

T = TypeVar("T")


class Store:
    def __init__(self, folder: Path, seed: int | None) -> None:
        """Open the campaign in `folder`, or start it. Raise `Busy` where another process runs it, and `Invalid` where
        its state cannot be read or it has another seed."""
        self.folder = folder
        self.crashes = folder / "crashes"
        check_folders(folder)
        try:
            make_folder(self.crashes, folder)
        except OSError as error:
            raise Invalid(f"{self.crashes}: {error.strerror}; a campaign needs a folder of its own") from None
        self._lock = threading.RLock()
        self._index: Index | None = None
        self._rows: list[IndexRow] = []
        self._documents: dict[int, WriteDocument] = {}
        self._earlier_documents: dict[int, WriteDocument] = {}
        self._lock_file = locked(folder)
        try:
            self.state = self._load(seed)
            leftovers.remove(self.folder, self.scratch)
            self.findings: dict[str, FindingDoc] = {}
            self._known_docs: dict[str, FindingDoc] = {}
            self._coarse: dict[str, Signature] = {}
            self._met: dict[str, int] = {}
            for doc in findings_in(self.crashes):
                self.findings[doc.signature] = self._take(doc)
            self._read_elsewhere: set[str] = set()
            self._look_elsewhere()
        except BaseException:
            self._close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        try:
            if kind is None or self.state.counters.tests:  # a run that fails before its first test starts no campaign
                self.save_state()
        finally:
            self._close()

    def _close(self) -> None:
        if self._index:
            self._index.close()
        self._lock_file.close()

    @property
    def scratch(self) -> Path:
        return self.folder / SCRATCH

    def _load(self, seed: int | None) -> State:
        """The state in the index; where there is no index, the state in campaign.json; else a new one."""
        if (self.folder / index.NAME).exists():
            self._index = Index(self.folder)
        loaded = (self._index.state() if self._index else None) or state.read(self.folder) or state.begun(seed)
        if seed is not None and seed != loaded.seed:
            where = self.folder / state.NAME
            raise Invalid(
                f"{where}: this campaign has seed {loaded.seed}, not {seed}; name another with --campaign DIR"
            )
        return loaded

    def _look_elsewhere(self) -> None:
        """Read the findings that other nodes of a cluster have saved. A folder without finding.json is still being
        written; it is read the next time. A finding that cannot be read is reported and left out: this campaign may
        then save the same finding, and a merge keeps one of them."""
        where = self.folder / ELSEWHERE
        for name in sorted(set(os.listdir(where)) - self._read_elsewhere if where.is_dir() else ()):
            if (where / name / finding_file.NAME).exists():
                self._read_elsewhere.add(name)
                try:
                    doc = finding_file.read(where / name)
                except Invalid as error:
                    say(one_sentence(f"finding of another node left out: {error}"))
                    continue
                if doc.signature not in self._known_docs:
                    self._take(doc)

    def _take(self, doc: FindingDoc) -> FindingDoc:
        """Add a finding to the known ones; return its document as it is kept in memory."""
        self._coarse[doc.signature] = signature_of(doc.finding)
        held = self._known_docs[doc.signature] = finding_file.without_details(doc)
        return held

    # Counters

    def finish_test(self, row: IndexRow, result: Result, next_test: int, *, invalid: bool) -> None:
        """Count a finished test; it is not repeated. `next_test` is the first test that is not finished."""
        found = judged_elements(result.outcomes, [lane for lane in result.outcomes if lane.engine is Engine.TVM])
        with self._lock:
            counters = self.state.counters
            counters.tests += 1
            counters.invalid += invalid
            counters.add(result)
            counters.judged.add(found)
            self.record(row)
            self.finished(next_test)

    def offer(self, number: int, document: WriteDocument) -> None:
        """Offer the document of a test, before what the test showed is observed. It is written where that is new: with
        the next observations that are written, or with those after them."""
        with self._lock:
            self._documents[number] = document

    def record(self, row: IndexRow) -> None:
        """Keep a row for the next commit of the index."""
        with self._lock:
            self._rows.append(row)

    def finished(self, next_test: int) -> None:
        with self._lock:
            self.state.next_test = max(self.state.next_test, next_test)

    def triaged(self, result: Result) -> None:
        with self._lock:
            self.state.counters.add(result, triage=True)

    def add_costs(self, costs: CostBySteps) -> None:
        """Count what steps of triage cost."""
        with self._lock:
            counted = self.state.counters.triage_steps
            for step, seconds in costs.items():
                counted[step] = counted.get(step, 0.0) + seconds

    def keep_disagreement(self, number: int, case: Case, lanes: Sequence[LaneSpec]) -> None:
        """Count a test in which difftvm's evaluation of an imported module was wrong, and save its case."""
        names = [lane.name for lane in lanes]
        with self._lock:
            for name in names:
                counted = self.state.counters.evaluation_disagrees
                counted[name] = counted.get(name, 0) + 1
            error = f"the evaluation of the module of {', '.join(names)} is wrong"
            own_errors.keep(self.folder / ERRORS, own_errors.EVALUATION, number, case, error)

    def keep_broken_lanes(self, number: int, case: Case, error: str) -> Path:
        """Save the case of a test in which difftvm's own code raised an exception in a lane."""
        with self._lock:
            return own_errors.keep(self.folder / ERRORS, own_errors.LANE, number, case, error)

    def keep_failed_scope(self, slug: str, error: str) -> Path:
        """Save the error that ended the search for the scope of a finding. Its case is with the finding."""
        with self._lock:
            return own_errors.keep(self.folder / ERRORS, own_errors.SCOPE, slug, None, error)

    def keep_failed_test(self, number: int, case: Case | None, error: str, next_test: int) -> Path:
        """Save a test that difftvm itself could not do: the error message, and the case if there is one."""
        with self._lock:
            self.state.counters.errors += 1
            self.finished(next_test)
            return own_errors.keep(self.folder / ERRORS, own_errors.TEST, number, case, error)

    def done_from(self, number: int) -> list[int]:
        """The finished tests from a number on."""
        return self._index.done_from(number) if self._index else []

    def forget_oldest(self) -> bool:
        """Delete the rows of the older half of the tests; return whether there were any."""
        with self._lock:
            return self._index is not None and self._index.forget_oldest()

    def observations(self) -> Observations:
        """What earlier runs observed."""
        return self._index.observations() if self._index else NO_OBSERVATIONS

    @property
    def corpus(self) -> Path:
        return self.folder / "corpus"

    def ask(self, question: Callable[[Index], T]) -> T:
        """Ask the index, which has the state of the last commit."""
        with self._lock:
            if self._index is None:
                self._index = Index(self.folder)
            return question(self._index)

    def adopt(self, other: Index) -> int:
        """Copy the rows of another campaign's index; return how many tests are new."""
        with self._lock:
            self.save_state()
            assert self._index is not None
            return self._index.adopt(other)

    def commit_tests(self) -> None:
        """Commit the tests that were finished since the last commit. One call commits the tests of all threads that
        wait for it. Where it fails, the next commit has them."""
        with self._lock:
            if self._rows:
                self._write_index(NO_OBSERVATIONS)

    def save_state(self, observations: Observations = NO_OBSERVATIONS) -> None:
        """Commit everything that was counted, recorded and observed since the last commit."""
        with self._lock:
            self._write_index(observations)
            state.write(self.folder, self.state)
            self._look_elsewhere()

    def _write_index(self, observations: Observations) -> None:
        if self._index is None:
            self._index = Index(self.folder)
        findings = {doc.signature: doc.slug for doc in self.findings.values()}
        documents = {**self._earlier_documents, **self._documents}
        self._index.write(self.state, self._rows, findings, observations, documents)
        self._rows.clear()
        if observations is not NO_OBSERVATIONS:
            self._earlier_documents, self._documents = self._documents, {}

    # Findings

    def claim(self, case: Case, sighting: Sighting) -> bool:
        """Whether a sighting is to be investigated. Count it where it is known and is not investigated. The end of an
        investigation counts the others.

        A failure with an identifying message is either new or known. A wrong result counts as known where a finding of
        the same lane needs no operator that the case lacks. Of such sightings, the 2nd, 4th, 8th, ... waits for triage,
        because it may be another bug. Sightings of flaky findings are treated in the same way.
        """
        with self._lock:
            signature = sighting.signature
            if entry := known_behaviour.match(signature):
                self._count_known(entry)
                return False
            if entry := known_behaviour.possible_match(signature, case.graph.ops):
                if self._is_in_turn(entry.name, self.state.known):
                    return True
                self._count_known(entry)
                return False
            known = self.accounts_for(frozenset(case.graph.ops), sighting)
            if not known:
                return True
            key, may_be_another = known[0].signature, signature.needs_ops or known[0].flaky
            if may_be_another and self._is_in_turn(key, self.state.found):
                return True
            self.count(key)
            return False

    def _is_in_turn(self, key: str, counted: Mapping[str, int]) -> bool:
        """Whether this is the 2nd, 4th, 8th, ... sighting of something known. Those that wait are not in `counted`, and
        are met nevertheless."""
        met = self._met[key] = self._met.get(key, counted.get(key, 0)) + 1
        return met > 1 and met & (met - 1) == 0

    def count(self, key: str, tests: int = 1) -> None:
        """Count tests that met a finding."""
        with self._lock:
            self.state.found[key] = self.state.found.get(key, 0) + tests
            self.state.last[key] = int(time.time())

    def _count_known(self, entry: known_behaviour.KnownIssue, tests: int = 1) -> None:
        self.state.known[entry.name] = self.state.known.get(entry.name, 0) + tests

    def accounts_for(self, ops: frozenset[str], sighting: Sighting) -> list[FindingDoc]:
        """The findings that account for a sighting in a case with these operators, flaky ones last: those with the same
        message; of a wrong result, those of the same lane that need no other operators."""
        with self._lock:
            docs = [self._known_docs[key] for key in self._same(sighting.signature)]
            if sighting.signature.needs_ops:
                lanes = sighting.lanes
                docs = [doc for doc in docs if set(doc.ops) <= ops and any(_shows_in(lane, doc) for lane in lanes)]
            return sorted(docs, key=lambda doc: doc.flaky)

    def _same(self, signature: Signature) -> list[str]:
        """The signatures of the findings with this failure, including those that earlier versions of difftvm saved."""
        return [key for key, coarse in self._coarse.items() if coarse.same_failure(signature)]

    def holds(self, found: Investigated) -> bool:
        """Whether the finding is known already, so that `save` would only count it."""
        with self._lock:
            return known_behaviour.match(found.signature) is not None or (
                (self._same_bug(found) or found.key) in self._known_docs
            )

    def known(self, found: Investigated) -> FindingDoc | None:
        """The finding of this campaign that is the same bug."""
        with self._lock:
            return self.findings.get(self._same_bug(found) or found.key)

    def save(
        self, found: Investigated, versions: dict[str, str], tests: int = 1, suspect: Suspect = NO_SUSPECT
    ) -> FindingDoc | None:
        """Write the folder of a finding that `tests` tests showed, and return its document. Return None, and only count
        it, where it is known behaviour or was saved before. `suspect` is what has led to it, if not its own failure."""
        with self._lock:
            if entry := known_behaviour.match(found.signature):
                self._count_known(entry, tests)
                return None
            key = self._same_bug(found) or found.key
            doc = None
            if key not in self._known_docs:
                doc = finding_file.document(found, versions)
                doc.found, doc.suspect = round(time.time()), suspect
                self._write(found, doc)
                doc = self.findings[key] = self._take(doc)
            self.count(key, tests)  # after writing, so that a full disk does not count it twice
            return doc

    def copy_finding(self, folder: Path, doc: FindingDoc) -> bool:
        """Copy a finding of another campaign. Where this campaign has it already, return False, and only add the
        machines on which it was seen."""
        with self._lock:
            if known := self.findings.get(doc.signature):
                add_machines(self.crashes / known.slug, doc.machines)
                return False
            if (self.crashes / doc.slug).exists():
                raise Invalid(f"{self.crashes / doc.slug}: it has the name of {folder}, and is another finding")
            copy_folder(folder, self.crashes / doc.slug, FOLDER_FILES)
            self.findings[doc.signature] = self._take(doc)
            return True

    def _same_bug(self, found: Investigated) -> str | None:
        """The key of the saved finding that is the same bug under another signature. The signatures may differ because
        an earlier version of difftvm made one, because one of them lacks its blame, or because unwritten memory gives
        other kinds of wrong values in other runs."""
        mine = found.signature
        for key in self._same(mine):
            doc = self._known_docs[key]
            its = self._coarse[key].as_finished_in(doc.identity)
            if mine.needs_ops:
                decided = its.blamed and mine.blamed  # where both are blamed, the blame decides
                shared = its.ops == mine.ops and set(doc.lanes) & set(found.lanes)
                garbage = interchangeable_kinds(its.kind, mine.kind) and shared and not decided
                same = garbage or (mine.same_bug(its) and not doc.flaky)
            else:
                same = True
            if same and doc.flaky is found.flaky:
                return key
        return None

    def _write(self, found: Investigated, doc: FindingDoc) -> None:
        record = record_of(found, doc)
        text, tensors = case_file.encode(found.case)
        files = {
            case_file.JSON_NAME: text,
            case_file.TENSORS_NAME: tensors,
            finding_file.NAME: finding_file.encode(doc),
            "repro.py": repro.script(record).encode(),
            "issue.md": issue.text(record).encode(),
            "log.txt": issue.log(record).encode(),
        }
        if found.blame.before or found.blame.after:
            files |= {BEFORE: found.blame.before.encode(), AFTER: found.blame.after.encode()}
        if found.onnx:
            files[ONNX] = onnx_model.encode(found.onnx)
        if not found.flaky:  # no run has confirmed the evidence of a flaky one, which may come from elsewhere
            files |= self._mark(doc, files)
        write_folder(self.crashes / doc.slug, files)

    def _mark(self, doc: FindingDoc, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """The mark that the finding was made here; no file where there is no key, and none can be made."""
        try:
            return {made_here.NAME: made_here.mark(files)}
        except OSError as error:
            say(one_sentence(f"{doc.slug}: its scripts need --trust later: {error.filename}: {error.strerror}"))
            return {}


def _shows_in(lane: LaneSpec, doc: FindingDoc) -> bool:
    """Whether the lane contains the route of the finding's lane, or is one of the lanes that showed the finding."""
    return covers(lane, doc.lane) or (lane in EVERY_LANE and lane.name in doc.lanes)


def add_elsewhere(folder: Path, slug: str, document: bytes) -> None:
    """Store the `finding.json` of another node's finding in a campaign, which may be running. It counts as known
    there."""
    if not SLUG.fullmatch(slug):
        raise Invalid(f"{slug!r} is not the name of a finding")
    known = folder / ELSEWHERE / slug
    make_folder(known, folder)
    write_atomically(known / finding_file.NAME, document, folder)


def repair(folder: Path) -> Path | None:
    """Make the index agree with the files. Return where the old index is now, if it was damaged. Nothing is deleted."""
    old, kept = folder / index.NAME, None
    if not ((folder / state.NAME).exists() or old.exists()):
        raise Invalid(why_no_index(folder))
    with locked(folder):
        for _ in findings_in(folder / "crashes"):
            pass  # raises where one cannot be read, before anything is moved
        if old.exists() and not index.is_sound(folder):
            names = (folder / f"{index.NAME}.damaged-{number}" for number in count(1))
            kept = next(name for name in names if not name.exists())
            for suffix in ("", *SUFFIXES):
                if (beside := Path(f"{old}{suffix}")).exists():
                    beside.rename(f"{kept}{suffix}")
    with Store(folder, None) as store:
        store.save_state()
    return kept
