"""A sighting that waits for triage: what the queue knows of it, and its folder.

The folder has the form of a finding that no run has confirmed, so that `fuzz --replay` takes it, and the file
`attempts.txt` (`fuzzer.campaign.triage.attempts`).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto
from pathlib import Path

import msgspec

from fuzzer.campaign.triage import attempts
from fuzzer.campaign.triage.attempts import Attempts
from fuzzer.campaign.triage.priority import LEAST_DISTANCE, Traits, expected_seconds, severity, traits_of
from fuzzer.campaign.triage.provisional import Key, key_of_cause
from fuzzer.findings import finding_file
from fuzzer.findings.finding_doc import FindingDoc, StoredEvidence
from fuzzer.lanes import EVERY_LANE
from fuzzer.signature import Signature, interchangeable_kinds, signature_of
from fuzzer.system.files import make_folder, write_folder
from fuzzer.system.interned import interned
from fuzzer.system.terminal import one_sentence, say
from fuzzer.triage.investigate import Sighting, unconfirmed
from fuzzer.triage.naming import beyond_sibling
from fuzzer.triage.suspect import NO_SUSPECT, Certainty, Suspect
from generators import case_file
from generators.graph import Case, Invalid
from oracles.finding import Kind
from oracles.lane import LaneSpec
from oracles.outcome import Stage

_NAMED = {lane.name: lane for lane in EVERY_LANE}


class Turn(Enum):
    """What is investigated next: what is worth most for its cost, the most severe, or what costs least."""

    USUAL = auto()
    SEVERE = auto()
    CHEAP = auto()


@dataclass(slots=True)
class Item:
    """A sighting that waits. Only what the queue compares is in memory: thousands may wait.

    parent    the folder of all that wait, or are parked; its own folder there has its `name`
    lane      the lane that failed first, at `stage`
    key       equal for sightings that may be one bug
    suspect   what the failure is suspected of
    cause     equal for sightings of one provisional cause
    calls     how many calls its case has
    distance  the distance to the nearest sighting that was investigated
    lacking   what this machine lacks to show it; "" where it can be investigated here
    until     the time from which it can be asked again whether the machine lacks it (time.monotonic)
    begun     whether it is being investigated
    """

    parent: Path
    name: str
    kind: Kind
    lane: LaneSpec
    stage: Stage
    key: Signature
    traits: Traits
    severity: float
    attempts: Attempts
    suspect: Suspect
    cause: Key
    calls: int
    distance: float = 1.0
    lacking: str = ""
    until: float = math.inf
    begun: bool = False

    @property
    def folder(self) -> Path:
        return self.parent / self.name

    @property
    def lacks_for_good(self) -> bool:
        """Whether this machine cannot show it until something is installed."""
        return bool(self.lacking) and self.until == math.inf

    @property
    def ops(self) -> frozenset[str]:
        return frozenset(self.traits.operators)

    def worth(self, turn: Turn = Turn.USUAL) -> tuple[int, float, float]:
        """The cause of the item with the highest worth is investigated next. What was tried less often goes first: an
        investigation that fails, or that takes long, holds up no other."""
        tried, worth = self.attempts.begun, self.severity * (LEAST_DISTANCE + self.distance)
        cost = expected_seconds(self.kind, self.stage, self.lane)
        match turn:
            case Turn.USUAL:
                return -tried, worth / cost, 0.0
            case Turn.SEVERE:
                return self.attempts.left - tried, worth, 0.0
            case Turn.CHEAP:
                return -tried, -cost, worth

    @property
    def order_in_cause(self) -> tuple[int, bool, int, str]:
        """The sighting of a cause that comes first in this order is investigated first."""
        one_operator = self.suspect.certainty is Certainty.SEEN
        return self.attempts.begun, not one_operator, self.calls, self.name

    def read(self) -> tuple[Case, Sighting]:
        """Its case and its sighting, from the disk. Raise `Invalid` where a file is missing or was changed."""
        doc, case = finding_file.read_with_case(self.folder)
        return case, _sighting(doc)

    def excludes(self, other: Item) -> bool:
        """Whether the two are perhaps one bug, so that only one of them is investigated at a time."""
        return self.cause == other.cause or (
            self.key == other.key and (not self.key.needs_ops or not self.ops.isdisjoint(other.ops))
        )


def key_of(signature: Signature) -> Signature:
    """The coarse signature, with one kind for those that one bug can show as."""
    may_be_value = interchangeable_kinds(signature.kind, Kind.WRONG_VALUE)
    return replace(signature.coarse, kind=Kind.WRONG_VALUE if may_be_value else signature.kind)


def document(case: Case, sighting: Sighting, versions: dict[str, str], suspect: Suspect = NO_SUSPECT) -> FindingDoc:
    """The sighting as a finding. What the lane adds to its plain sibling is part of the name: one case may show two
    bugs of two passes. The evidence keeps the node that it points at, because the case is not renumbered."""
    doc = finding_file.document(unconfirmed(case, sighting), versions)
    mark = hashlib.sha256(f"{case_file.digest(case)} {beyond_sibling(sighting.finding)}".encode()).hexdigest()[:8]
    evidence = StoredEvidence.of(sighting.finding.evidence)
    named = msgspec.structs.replace(doc, slug=f"{doc.slug}-{mark}", signature=sighting.signature.id)
    return msgspec.structs.replace(named, evidence=evidence, suspect=suspect)


def written(folder: Path, doc: FindingDoc, case: Case, attempted: bytes = b"") -> Item:
    """Write the folder of a new sighting. `attempted` is its file `attempts.txt`."""
    text, tensors = case_file.encode(case)
    files = {
        case_file.JSON_NAME: text,
        case_file.TENSORS_NAME: tensors,
        finding_file.NAME: finding_file.encode(doc),
        attempts.NAME: attempted,
    }
    make_folder(folder.parent, folder.parents[1])
    write_folder(folder, files)
    return _item(folder, doc, case)


def read_all(folder: Path) -> Iterator[Item]:
    """The sightings of a folder. One that cannot be read is reported and left out."""
    for path in finding_file.folders_in(folder):
        try:
            doc, case = finding_file.read_with_case(path)
        except Invalid as error:
            say(one_sentence(f"sighting left out: {error}"))
            continue
        yield _item(path, doc, case)


def _item(folder: Path, doc: FindingDoc, case: Case) -> Item:
    sighting = _sighting(doc)
    traits = traits_of(case.graph, sighting.signature, sighting.lanes)
    usual = _NAMED.get(doc.lane.name)
    return Item(
        interned(folder.parent),
        folder.name,
        doc.finding.kind,
        usual if usual == doc.lane else doc.lane,
        doc.finding.stage,
        interned(key_of(sighting.signature)),
        traits,
        severity(doc.finding),
        attempts.read(folder),
        interned(doc.suspect),
        interned(key_of_cause(sighting.signature, doc.lane, doc.suspect, doc.ops)),
        len(case.graph.nodes),
    )


def _sighting(doc: FindingDoc) -> Sighting:
    others = [_NAMED[name] for name in doc.lanes if name in _NAMED and name != doc.lane.name]
    lanes = (doc.lane, *(replace(lane, toolchain=doc.lane.toolchain) for lane in others))
    return Sighting(signature_of(doc.finding), doc.finding, lanes, doc.suspect)
