"""The queue of triage: sightings that wait to be investigated. Thread-safe.

Each sighting is a folder of `waiting/`, in the form of a finding that no run has confirmed, so that `fuzz --replay`
takes it. The folder is written before its test counts as finished, and is deleted after its investigation was saved. A
process that is killed at any moment loses no sighting: the next run finds the folder, or repeats the test.

The file `attempts.txt` of a folder gets a line when an investigation begins, and one if it fails. After
`MOST_ATTEMPTS` the folder is moved to `parked/`.
"""

from __future__ import annotations

import hashlib
import shutil
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from fuzzer.campaign.layout import PARKED, WAITING
from fuzzer.campaign.priority import LEAST_DISTANCE, Traits, distance, severity, traits_of
from fuzzer.findings import finding_file
from fuzzer.findings.finding_file import FindingDoc, StoredEvidence
from fuzzer.lanes import EVERY_LANE
from fuzzer.signature import Signature, interchangeable_kinds, signature_of
from fuzzer.system.files import copy_folder, write_folder
from fuzzer.system.secrets import blanked
from fuzzer.system.terminal import say
from fuzzer.triage.investigate import Sighting, unconfirmed
from fuzzer.triage.naming import beyond_sibling
from generators import case_file
from generators.graph import Case, Invalid
from oracles.finding import Kind

ATTEMPTS = "attempts.txt"

MOST_ATTEMPTS = 3
"""How often an investigation is begun. It fails if it raises an error, or if its process is killed."""

MOST_ALIKE = 16
"""How many wrong results or deaths with the same coarse signature wait before another one in a case that has all the
operators of each of them is counted only."""

_BEGUN, _STOPPED = "begun", "stopped"
"""Lines of `attempts.txt`. Each has the time before it. Other lines are those of errors."""

_NAMED = {lane.name: lane for lane in EVERY_LANE}


@dataclass(slots=True)
class Item:
    """A sighting that waits. Its case is on the disk.

    key       equal for sightings that may be one bug
    count     how many tests showed it
    distance  the distance to the nearest sighting that was investigated
    attempts  how many investigations were begun
    """

    folder: Path
    sighting: Sighting
    ops: frozenset[str]
    key: Signature
    traits: Traits
    severity: float
    count: int = 1
    distance: float = 1.0
    attempts: int = 0

    @property
    def priority(self) -> float:
        return self.severity * (LEAST_DISTANCE + self.distance)

    def case(self) -> Case:
        """Raise `Invalid` where the file of the case is missing or was changed."""
        return finding_file.read_with_case(self.folder)[1]

    def excludes(self, other: Item) -> bool:
        """Whether the two are perhaps one bug, so that only one of them is investigated at a time."""
        return self.key == other.key and (not self.key.needs_ops or not self.ops.isdisjoint(other.ops))


@dataclass(slots=True)
class Queue:
    """The sightings of the campaign in `folder`. `investigated` has the traits of what was investigated earlier."""

    folder: Path
    investigated: list[Traits] = field(default_factory=list)
    _waiting: dict[str, Item] = field(default_factory=dict)
    _in_work: dict[str, Item] = field(default_factory=dict)
    _parked: dict[str, Item] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        for leftover in (*self.folder.glob(f"{WAITING}/.tmp-*"), *self.folder.glob(f"{PARKED}/.tmp-*")):
            shutil.rmtree(leftover, ignore_errors=True)
        self._waiting = {item.folder.name: item for item in _read(self.folder / WAITING)}
        self._parked = {item.folder.name: item for item in _read(self.folder / PARKED)}
        for item in self._waiting.values():
            item.distance = min((distance(item.traits, each) for each in self.investigated), default=1.0)

    def __len__(self) -> int:
        """How many sightings wait, with those that are investigated now."""
        return len(self._waiting) + len(self._in_work)

    @property
    def parked(self) -> int:
        return len(self._parked)

    def add(self, case: Case, sighting: Sighting, versions: dict[str, str]) -> bool:
        """Write the sighting to the disk. Return False, and only count it, where one like it waits or is parked."""
        with self._lock:
            doc = _document(case, sighting, versions)
            if alike := self._like(doc.slug, sighting, frozenset(case.graph.ops)):
                alike.count += 1
                return False
            if (self.folder / WAITING / doc.slug).exists():
                return False  # it could not be read at the start, and is this sighting
            item = _item(self.folder / WAITING / doc.slug, doc, case)
            item.distance = min((distance(item.traits, each) for each in self.investigated), default=1.0)
            text, tensors = case_file.encode(case)
            files = {
                case_file.JSON_NAME: text,
                case_file.TENSORS_NAME: tensors,
                finding_file.NAME: finding_file.encode(doc),
                ATTEMPTS: b"",
            }
            item.folder.parent.mkdir(exist_ok=True)
            write_folder(item.folder, {name: blanked(data) for name, data in files.items()})
            self._waiting[doc.slug] = item
            return True

    def take(self) -> Item | None:
        """The sighting to investigate now: the one with the highest priority, unless one like it is investigated. None
        where there is none. Call `done`, `failed` or `put_back` with it."""
        with self._lock:
            self._park_those_that_failed()
            free = [item for item in self._waiting.values() if not any(map(item.excludes, self._in_work.values()))]
            if not free:
                return None
            item = max(free, key=lambda item: item.priority)
            self._in_work[item.folder.name] = self._waiting.pop(item.folder.name)
            return item

    def begin(self, item: Item) -> None:
        """Record that an investigation begins."""
        _note(item, _BEGUN)
        item.attempts += 1

    def done(self, item: Item) -> None:
        """Delete the sighting: it is a finding now, or was counted as one."""
        with self._lock:
            emptied = item.folder.rename(item.folder.with_name(f".tmp-{item.folder.name}"))
            self._in_work.pop(item.folder.name, None)
            self.investigated.append(item.traits)
            for other in self._waiting.values():
                other.distance = min(other.distance, distance(other.traits, item.traits))
        shutil.rmtree(emptied)

    def failed(self, item: Item, error: str) -> None:
        """Put the sighting back after an error of difftvm itself. `error` is kept beside it."""
        with self._lock:
            self._waiting[item.folder.name] = self._in_work.pop(item.folder.name)
            _note(item, error)
            self._park_those_that_failed()

    def put_back(self, item: Item) -> None:
        """Put the sighting back where its investigation was stopped. This is no failed attempt."""
        with self._lock:
            self._waiting[item.folder.name] = self._in_work.pop(item.folder.name)
            if item.attempts:
                item.attempts -= 1
                with suppress(OSError):  # the disk may be full
                    _note(item, _STOPPED)

    def unpark(self) -> None:
        """Let the parked sightings wait again, as if no investigation had failed."""
        with self._lock:
            for item in list(self._parked.values()):
                del self._parked[item.folder.name]
                item.folder = _moved(item.folder, self.folder / WAITING)
                (item.folder / ATTEMPTS).write_bytes(b"")
                item.attempts = 0
                self._waiting[item.folder.name] = item

    def adopt(self, source: Path) -> int:
        """Copy the sightings of another campaign; return how many are new here."""
        new = 0
        for item in (*_read(source / WAITING), *_read(source / PARKED)):
            with self._lock:
                if self._like(item.folder.name, item.sighting, item.ops):
                    continue
                here = self.folder / WAITING / item.folder.name
                here.parent.mkdir(exist_ok=True)
                copy_folder(item.folder, here, blanked)
                item.folder, item.attempts = here, 0
                (here / ATTEMPTS).write_bytes(b"")
                self._waiting[here.name] = item
                new += 1
        return new

    def _like(self, slug: str, sighting: Sighting, ops: frozenset[str]) -> Item | None:
        """The item that stands for a sighting too: one with the same message, or with the same case and failure. Where
        `MOST_ALIKE` wrong results wait that need no operator that this case lacks, the first of them."""
        key = _key(sighting.signature)
        every = (*self._waiting.values(), *self._in_work.values(), *self._parked.values())
        alike = [item for item in every if item.key == key]
        if not key.needs_ops:
            return alike[0] if alike else None
        same = next((item for item in alike if item.folder.name == slug), None)
        crowd = [item for item in alike if item.ops <= ops]
        return same or (crowd[0] if len(crowd) >= MOST_ALIKE else None)

    def _park_those_that_failed(self) -> None:
        for item in [item for item in self._waiting.values() if item.attempts >= MOST_ATTEMPTS]:
            del self._waiting[item.folder.name]
            item.folder = _moved(item.folder, self.folder / PARKED)
            self._parked[item.folder.name] = item
            say(f"{item.folder}: {MOST_ATTEMPTS} investigations failed; `fuzz triage --work` tries again")


def _document(case: Case, sighting: Sighting, versions: dict[str, str]) -> FindingDoc:
    """The sighting as a finding. What the lane adds to its plain sibling is part of the name: one case may show two
    bugs of two passes. The evidence keeps the node that it points at, because the case is not renumbered."""
    doc = finding_file.document(unconfirmed(case, sighting), versions)
    mark = hashlib.sha256(f"{case_file.digest(case)} {beyond_sibling(sighting.finding)}".encode()).hexdigest()[:8]
    evidence = StoredEvidence.of(sighting.finding.evidence)
    return msgspec.structs.replace(doc, slug=f"{doc.slug}-{mark}", signature=sighting.signature.id, evidence=evidence)


def _item(folder: Path, doc: FindingDoc, case: Case) -> Item:
    others = [_NAMED[name] for name in doc.lanes if name in _NAMED and name != doc.lane.name]
    lanes = (doc.lane, *(replace(lane, toolchain=doc.lane.toolchain) for lane in others))
    sighting = Sighting(signature_of(doc.finding), doc.finding, lanes)
    traits = traits_of(case.graph, sighting.signature, lanes)
    return Item(folder, sighting, frozenset(case.graph.ops), _key(sighting.signature), traits, severity(doc.finding))


def _key(signature: Signature) -> Signature:
    """The coarse signature, with one kind for those that one bug can show as."""
    may_be_value = interchangeable_kinds(signature.kind, Kind.WRONG_VALUE)
    return replace(signature.coarse, kind=Kind.WRONG_VALUE if may_be_value else signature.kind)


def _read(folder: Path) -> Iterator[Item]:
    """The sightings of a folder. One that cannot be read is reported and left out."""
    for path in finding_file.folders_in(folder):
        try:
            doc, case = finding_file.read_with_case(path)
        except Invalid as error:
            say(f"sighting left out: {error}")
            continue
        item = _item(path, doc, case)
        item.attempts = _attempts(path / ATTEMPTS)
        yield item


def _attempts(path: Path) -> int:
    lines: Iterable[str] = path.read_text(errors="replace").splitlines() if path.is_file() else ()
    words = [line.split(" ")[2:] for line in lines]
    return max(0, words.count([_BEGUN]) - words.count([_STOPPED]))


def _note(item: Item, text: str) -> None:
    with (item.folder / ATTEMPTS).open("a") as file:
        file.write(blanked(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n".encode()).decode())


def _moved(folder: Path, to: Path) -> Path:
    to.mkdir(exist_ok=True)
    return folder.rename(to / folder.name)
