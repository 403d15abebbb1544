"""A campaign on disk: one directory, which stays whole when the process is killed at any moment.

`fuzzer.campaign.layout` lists its files. Thread-safe.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from fuzzer.campaign import index, state
from fuzzer.campaign.index import Index
from fuzzer.campaign.layout import ELSEWHERE, ERRORS, SCRATCH, findings_in
from fuzzer.campaign.lock import locked, why_no_index
from fuzzer.campaign.rows import NO_OBSERVATIONS, IndexRow, Observations
from fuzzer.campaign.state import State
from fuzzer.cases import onnx_model
from fuzzer.findings import finding_file
from fuzzer.findings.finding_file import FindingDoc
from fuzzer.findings.record import AFTER, BEFORE, ONNX, record_of
from fuzzer.lanes import EVERY_LANE
from fuzzer.report import issue, repro
from fuzzer.signature import Signature, interchangeable_kinds, signature_of
from fuzzer.signature import known as known_behaviour
from fuzzer.system.files import copy_folder, write_atomically, write_folder
from fuzzer.system.secrets import blanked
from fuzzer.system.terminal import say
from fuzzer.triage.investigate import Confirmed, Sighting
from generators import case_file
from generators.graph import Case, Invalid
from oracles.lane import LaneSpec
from oracles.outcome import Result
from oracles.siblings import covers

MOST_ERRORS = 100
"""How many tests are kept in the folder of errors."""

T = TypeVar("T")


class Store:
    def __init__(self, folder: Path, seed: int | None) -> None:
        """Open or start the campaign in `folder`. Raises `Busy`; `Invalid` where its state cannot be read, or where
        it was started with another seed."""
        self.folder = folder
        self.crashes = folder / "crashes"
        try:
            self.crashes.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Invalid(f"{self.crashes}: {error.strerror}; a campaign needs a folder of its own") from None
        self._lock = threading.RLock()
        self._pending: set[str] = set()
        self._index: Index | None = None
        self._rows: list[IndexRow] = []
        self._lock_file = locked(folder)
        try:
            self.state = self._load(seed)
            self._sweep()
            self.findings: dict[str, FindingDoc] = {}
            self._known_docs: dict[str, FindingDoc] = {}
            self._coarse: dict[str, Signature] = {}
            for doc in findings_in(self.crashes):
                self.findings[doc.signature] = self._take(doc)
            self._learnt_of: set[str] = set()
            self._look_elsewhere()
        except BaseException:
            self._close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        try:
            if kind is None or self.state.counters.tests:  # what fails before its first test is no campaign yet
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
        """What the index says; where there is none, campaign.json."""
        if (self.folder / index.NAME).exists():
            self._index = Index(self.folder)
        books = (self._index.state() if self._index else None) or state.read(self.folder) or state.begun(seed)
        if seed is not None and seed != books.seed:
            where = self.folder / state.NAME
            raise Invalid(f"{where}: this campaign has seed {books.seed}, not {seed}; name another with --campaign DIR")
        return books

    def _sweep(self) -> None:
        """What a killed run left half-done: children's files, and findings whose rename never came."""
        shutil.rmtree(self.scratch, ignore_errors=True)
        for leftover in (*self.crashes.glob(".tmp-*"), *self.corpus.glob(".tmp-*")):
            shutil.rmtree(leftover, ignore_errors=True)
        for leftover in self.folder.glob(".tmp-campaign.json-*"):
            leftover.unlink(missing_ok=True)

    def _look_elsewhere(self) -> None:
        """Whoever tells of a finding makes its folder first: what is not whole yet is read the next time. What cannot
        be read is told of and left out: that costs finding it again, which a merge puts right."""
        where = self.folder / ELSEWHERE
        for name in sorted(set(os.listdir(where)) - self._learnt_of if where.is_dir() else ()):
            if (where / name / finding_file.NAME).exists():
                self._learnt_of.add(name)
                try:
                    doc = finding_file.read(where / name)
                except Invalid as error:
                    say(f"not learnt: {error}")
                    continue
                if doc.signature not in self._known_docs:
                    self._take(doc)

    def _take(self, doc: FindingDoc) -> FindingDoc:
        """As it is held from now on."""
        self._coarse[doc.signature] = signature_of(doc.finding)
        held = self._known_docs[doc.signature] = finding_file.without_details(doc)
        return held

    # Books

    def finish_test(self, row: IndexRow, result: Result, next_test: int, *, invalid: bool) -> None:
        """It counts from now on, and is not repeated. Of the tests from `next_test` on, some are open."""
        with self._lock:
            counters = self.state.counters
            counters.tests += 1
            counters.invalid += invalid
            counters.add(result)
            self.record(row)
            self.finished(next_test)

    def record(self, row: IndexRow) -> None:
        """For the index."""
        with self._lock:
            self._rows.append(row)

    def finished(self, next_test: int) -> None:
        with self._lock:
            self.state.next_test = max(self.state.next_test, next_test)

    def triaged(self, result: Result) -> None:
        with self._lock:
            self.state.counters.add(result, triage=True)

    def keep_failed_test(self, number: int, case: Case | None, told: str, next_test: int) -> Path:
        """difftvm itself could not do a test: what happened, and the case, are kept for whoever mends it."""
        files = {"error.txt": told.encode()}
        if case is not None:
            text, tensors = case_file.encode(case)
            files |= {case_file.JSON_NAME: text, case_file.TENSORS_NAME: tensors}
        folder = self.folder / ERRORS / f"test-{number}"
        with self._lock:
            self.state.counters.errors += 1
            self.finished(next_test)
            with suppress(OSError):  # no room: it is counted, and told
                folder.parent.mkdir(exist_ok=True)
                if not folder.exists() and len(os.listdir(folder.parent)) < MOST_ERRORS:
                    write_folder(folder, {name: blanked(data) for name, data in files.items()})
        return folder

    def done_from(self, number: int) -> list[int]:
        """Tests from there on that are through."""
        return self._index.done_from(number) if self._index else []

    def forget_oldest(self) -> bool:
        """Forget the older half of the tests' rows; whether there were any."""
        with self._lock:
            return self._index is not None and self._index.forget_oldest()

    def learnt(self) -> Observations:
        """What earlier runs learnt."""
        return self._index.learnt() if self._index else NO_OBSERVATIONS

    @property
    def corpus(self) -> Path:
        return self.folder / "corpus"

    def ask(self, question: Callable[[Index], T]) -> T:
        """What the index says, as it was committed last."""
        with self._lock:
            if self._index is None:
                self._index = Index(self.folder)
            return question(self._index)

    def adopt(self, other: Index) -> int:
        """Take over what another campaign's index holds; how many tests are new."""
        with self._lock:
            self.save_state()
            assert self._index is not None
            return self._index.adopt(other)

    def save_state(self, learnt: Observations = NO_OBSERVATIONS) -> None:
        """Commit everything that was counted, recorded and learnt since the last time."""
        with self._lock:
            if self._index is None:
                self._index = Index(self.folder)
            self._index.write(
                self.state, self._rows, {doc.signature: doc.slug for doc in self.findings.values()}, learnt
            )
            self._rows.clear()
            state.write(self.folder, self.state)
            self._look_elsewhere()

    # Findings

    def claim(self, case: Case, sighting: Sighting) -> bool:
        """Whether a sighting is worth investigating; counts it where it is known.

        A failure that its message identifies is new or known at once. A wrong result is taken for a known one where a
        finding of the same lane needs no operator that the case lacks. Every 2nd, 4th, 8th, ... such sighting is looked
        into all the same, so that a known bug does not hide its neighbours for good; so it is with flaky findings.
        """
        with self._lock:
            signature = sighting.signature
            if entry := known_behaviour.match(signature):
                self._count_known(entry)
                return False
            if entry := known_behaviour.possible_match(signature, case.graph.ops):
                return _worth_a_look(self._count_known(entry))
            known = self._known(case, sighting)
            if known is not None:
                count = self.state.seen[known] = self.state.seen.get(known, 0) + 1
                return (signature.needs_ops or self._known_docs[known].flaky) and _worth_a_look(count)
            key = signature.id
            if not signature.needs_ops:
                if key in self._pending:
                    return False
                self._pending.add(key)
            return True

    def release_claim(self, sighting: Sighting) -> None:
        """It could not be looked into: the next one like it is worth it again."""
        with self._lock:
            self._pending.discard(sighting.signature.id)

    def _count_known(self, entry: known_behaviour.KnownIssue) -> int:
        count = self.state.known[entry.name] = self.state.known.get(entry.name, 0) + 1
        return count

    def _known(self, case: Case, sighting: Sighting) -> str | None:
        signature = sighting.signature
        if not signature.needs_ops:
            return min(self._same(signature), key=lambda key: self._known_docs[key].flaky, default=None)
        ops = set(case.graph.ops)
        for doc in map(self._known_docs.__getitem__, self._same(signature)):
            if set(doc.ops) <= ops and any(_shows_in(lane, doc) for lane in sighting.lanes):
                return doc.signature
        return None

    def _same(self, signature: Signature) -> list[str]:
        """The findings that show this failure, whatever the version of difftvm that saved them called it."""
        return [key for key, coarse in self._coarse.items() if coarse.same_failure(signature)]

    def holds(self, found: Confirmed) -> bool:
        """Whether `save` would count it as known, and write nothing."""
        with self._lock:
            return known_behaviour.match(found.signature) is not None or (
                (self._twin(found) or found.key) in self._known_docs
            )

    def save(self, found: Confirmed, sighting: Sighting, versions: dict[str, str]) -> FindingDoc | None:
        """Write the finding's folder; None, and one more in the count, where its signature is there already, or known
        behaviour."""
        with self._lock:
            self._pending.discard(sighting.signature.id)
            if entry := known_behaviour.match(found.signature):
                self._count_known(entry)
                return None
            key = self._twin(found) or found.key
            doc = None
            if key not in self._known_docs:
                doc = finding_file.document(found, versions)
                doc.found = round(time.time())
                self._write(found, doc)
                doc = self.findings[key] = self._take(doc)
            self.state.seen[key] = self.state.seen.get(key, 0) + 1  # counted once, though the disk was full meanwhile
            return doc

    def copy_finding(self, folder: Path, doc: FindingDoc) -> bool:
        """Copy a finding of another campaign, whose document is `doc`; False where the same one is here already."""
        with self._lock:
            if doc.signature in self.findings:
                return False
            copy_folder(folder, self.crashes / doc.slug, blanked)
            self.findings[doc.signature] = self._take(doc)
            return True

    def _twin(self, found: Confirmed) -> str | None:
        """The saved finding that is this one seen otherwise: an earlier version of difftvm named it, or one of the two
        lacks its blame, or unwritten memory is garbage in some lanes of some runs."""
        mine = found.signature
        for key in self._same(mine):
            doc = self._known_docs[key]
            its = self._coarse[key].as_finished_in(doc.identity)
            if mine.needs_ops:
                decided = its.blamed and mine.blamed  # where both are blamed, that tells
                shared = its.ops == mine.ops and set(doc.lanes) & set(found.lanes)
                garbage = interchangeable_kinds(its.kind, mine.kind) and shared and not decided
                same = garbage or (mine.same_bug(its) and not doc.flaky)
            else:
                same = True
            if same and doc.flaky is found.flaky:
                return key
        return None

    def _write(self, found: Confirmed, doc: FindingDoc) -> None:
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
        write_folder(self.crashes / doc.slug, {name: blanked(data) for name, data in files.items()})


def _shows_in(lane: LaneSpec, doc: FindingDoc) -> bool:
    """Whether the lane takes the finding's own road, perhaps doing more on it; or is known to show it."""
    return covers(lane, doc.lane) or (lane in EVERY_LANE and lane.name in doc.lanes)


def _worth_a_look(count: int) -> bool:
    """The 2nd, 4th, 8th, ... sighting."""
    return count > 1 and count & (count - 1) == 0


def add_elsewhere(folder: Path, slug: str, document: bytes) -> None:
    """Tell a campaign, which perhaps runs, of a finding that another one has saved: its `finding.json`."""
    if Path(slug).name != slug:
        raise Invalid(f"{slug!r} is no finding's name")
    (folder / ELSEWHERE / slug).mkdir(parents=True, exist_ok=True)
    write_atomically(folder / ELSEWHERE / slug / finding_file.NAME, document)


def repair(folder: Path) -> Path | None:
    """An index that agrees with the files; where the damaged one is now, if it was. Nothing is deleted."""
    old, kept = folder / index.NAME, None
    if not ((folder / state.NAME).exists() or old.exists()):
        raise Invalid(why_no_index(folder))
    with locked(folder):
        for _ in findings_in(folder / "crashes"):
            pass  # one that cannot be read is told of before anything is moved
        if old.exists() and not index.is_sound(folder):
            names = (folder / f"{index.NAME}.damaged-{number}" for number in count(1))
            kept = next(name for name in names if not name.exists())
            for suffix in ("", "-wal", "-shm"):
                if (beside := Path(f"{old}{suffix}")).exists():
                    beside.rename(f"{kept}{suffix}")
    with Store(folder, None) as store:
        store.save_state()
    return kept
