"""What is in the directory of a campaign, of this version of difftvm or of an earlier one: findings, waiting and parked
sightings, and counters. Other benchmarks import it.

A campaign that runs may be read: a folder that is moved away while it is read is left out. What an earlier version does
not write is missing: a folder is empty then, and a counter is None.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import msgspec

from fuzzer.campaign.store import index, state
from fuzzer.findings import finding_file
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.signature import Signature, signature_of
from generators.graph import Case, Invalid
from oracles.finding import Component

SAVED, WAITING, PARKED = "crashes", "waiting", "parked"


@dataclass(frozen=True, slots=True)
class Folders:
    """The findings and sightings of a campaign, by the name of their folder.

    saved       findings that were investigated
    waiting     sightings that are to be investigated
    parked      sightings that will not be investigated again by themselves
    unreadable  one line for each folder that cannot be read
    """

    saved: Mapping[str, FindingDoc]
    waiting: Mapping[str, FindingDoc]
    parked: Mapping[str, FindingDoc]
    unreadable: tuple[str, ...] = ()

    @property
    def docs(self) -> Mapping[str, FindingDoc]:
        return {**self.saved, **self.waiting, **self.parked}

    def without(self, known: Folders) -> Folders:
        """The folders that are new since `known` was read."""
        pairs = ((self.saved, known.saved), (self.waiting, known.waiting), (self.parked, known.parked))
        saved, waiting, parked = ({name: mine[name] for name in mine.keys() - its.keys()} for mine, its in pairs)
        return Folders(saved, waiting, parked, tuple(line for line in self.unreadable if line not in known.unreadable))


NOTHING = Folders({}, {}, {})


def read(campaign: Path, *, with_cases: bool = False) -> Folders:
    """Read every folder. `with_cases` also reads the cases, and checks that they are those of the findings."""
    unreadable: list[str] = []
    saved, waiting, parked = (
        _read_in(campaign / name, unreadable, with_cases=with_cases) for name in (SAVED, WAITING, PARKED)
    )
    return Folders(saved, waiting, parked, tuple(unreadable))


def _read_in(folder: Path, unreadable: list[str], *, with_cases: bool) -> dict[str, FindingDoc]:
    docs = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name.startswith(".tmp-") or not path.is_dir():  # a folder gets its name when it is complete
            continue
        try:
            docs[path.name] = finding_file.read_with_case(path)[0] if with_cases else finding_file.read(path)
        except Invalid as error:
            if path.exists():
                unreadable.append(str(error))
    return docs


def case_in(campaign: Path, name: str) -> Case:
    """The case of a finding or sighting. Raise `Invalid` where it cannot be read."""
    places = [campaign / folder / name for folder in (SAVED, WAITING, PARKED)]
    return finding_file.read_with_case(next((place for place in places if place.is_dir()), places[0]))[1]


# Which of them are different failures


def coarse(doc: FindingDoc) -> Signature:
    return signature_of(doc.finding)


def accounts_for(other: FindingDoc, doc: FindingDoc) -> bool:
    """Whether two findings or sightings may be one bug, so that `other` stands for `doc`: they have the same failure.
    Where operators identify that, `other` was found in a case of the same operators, or needs no others than `doc`."""
    if not coarse(other).same_failure(coarse(doc)):
        return False
    same_case = set(other.found_in) == set(doc.found_in)
    return not coarse(doc).needs_ops or same_case or set(other.ops) <= set(doc.ops)


def distinct(signatures: Iterable[Signature]) -> list[Signature]:
    """One signature for each failure."""
    kept: list[Signature] = []
    for signature in signatures:
        if not any(other.same_failure(signature) for other in kept):
            kept.append(signature)
    return kept


def of_tvm(docs: Mapping[str, FindingDoc]) -> list[FindingDoc]:
    return [doc for doc in docs.values() if doc.component is Component.TVM]


@dataclass(frozen=True, slots=True)
class Distinct:
    """How many different failures of TVM a campaign has.

    final    findings, by final signature, without flaky ones
    waiting  waiting sightings, by coarse signature, without those whose coarse signature a finding has
    coarse   findings, without flaky ones, and waiting sightings together, by coarse signature
    parked   parked sightings
    flaky    flaky findings
    """

    final: int
    waiting: int
    coarse: int
    parked: int
    flaky: int

    @property
    def total(self) -> int:
        return self.final + self.waiting


def distinct_in(now: Folders, known: Folders = NOTHING) -> Distinct:
    """Count what is new since `known` was read. A failure that was known then is not, whatever its name is now."""
    new = now.without(known)
    saved, waiting, parked = (_unknown(docs, known) for docs in (new.saved, new.waiting, new.parked))
    steady = [doc for doc in saved if not doc.flaky]
    investigated = distinct(map(coarse, saved))
    left = [
        signature
        for signature in distinct(map(coarse, waiting))
        if not any(other.same_failure(signature) for other in investigated)
    ]
    return Distinct(
        len({doc.signature for doc in steady}),
        len(left),
        len(distinct(map(coarse, steady))) + len(left),
        len(parked),
        len(saved) - len(steady),
    )


def _unknown(docs: Mapping[str, FindingDoc], known: Folders) -> list[FindingDoc]:
    """Those of TVM that no known finding or sighting stands for."""
    before = known.docs.values()
    return [doc for doc in of_tvm(docs) if not any(accounts_for(other, doc) for other in before)]


# Counters


class Tally(msgspec.Struct, frozen=True):
    """Some of the counters in campaign.json. CPU seconds of tests and of triage are None in earlier versions."""

    tests: int = 0
    cpu_seconds: float = 0.0
    test_cpu_seconds: float | None = None
    triage_cpu_seconds: float | None = None


class Counted(msgspec.Struct, frozen=True):
    """The part of campaign.json that every version writes. `found` counts tests by finding, `known` by known issue."""

    tally: Tally = Tally()
    next_test: int = 0
    found: dict[str, int] = msgspec.field(default_factory=dict, name="seen")
    known: dict[str, int] = {}


def counted_in(campaign: Path) -> Counted:
    """The counters as they were last committed; zeros where nothing was."""
    path = campaign / state.NAME
    return msgspec.json.decode(path.read_bytes(), type=Counted) if path.exists() else Counted()


def cpu_seconds_of_tests(campaign: Path) -> float | None:
    """CPU seconds of the lanes of all tests: the counter, or in earlier versions the sum in the index; None where there
    is neither."""
    if (counter := counted_in(campaign).tally.test_cpu_seconds) is not None:
        return counter
    path = campaign / index.NAME
    if not path.exists():
        return None
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return float(db.execute("SELECT total(cpu_ms) FROM tests").fetchone()[0]) / 1000
