"""Makes a regression corpus: chooses cases of campaigns, runs each, and records how its lanes end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fuzzer.findings.headline import headline
from fuzzer.regression.candidates import COMPILER, OPERATORS, OTHERS, Candidate, findings_of, kind_of
from fuzzer.regression.record import FORMAT, Coverage, Description, Entry, KnownFailure, short
from fuzzer.regression.runs import RIGHT, UNSUPPORTED, Ends, failure_id
from generators.graph import Case
from oracles.finding import Finding
from oracles.lane import LaneSpec
from oracles.outcome import Raised

MOST_TITLE = 200
_NO_MEMORY = re.compile(r"can't allocate memory|\bout of memory\b|\bbad_alloc\b|\bMemoryError\b", re.IGNORECASE)


@dataclass(slots=True)
class Record:
    """Collects what a corpus will contain.

    families       by the id of a failure, the finding that stands for the family of a finding
    kept_families  those of which the case of a finding is kept
    """

    families: Mapping[str, str]
    entries: list[Entry] = field(default_factory=list)
    cases: dict[str, Case] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    features: set[str] = field(default_factory=set)
    unsteady: int = 0
    kept_families: set[str] = field(default_factory=set)
    _names: dict[LaneSpec, str] = field(default_factory=dict)
    _failures: dict[str, KnownFailure] = field(default_factory=dict)

    def add(self, candidate: Candidate, first: Ends, second: Ends) -> None:
        """Add a case whose lanes ended so in two runs. A lane that ended otherwise in the second is left out, and one
        that got no memory: what an uninitialized size asks for is another amount in each run, and small in some."""
        short_of_memory = {end for end, finding in first.findings.items() if _is_short_of_memory(finding)}
        ends = {lane: end for lane, end in first.ends.items() if second.ends.get(lane) == end}
        ends = {lane: end for lane, end in ends.items() if end not in short_of_memory}
        self.unsteady += len(first.ends) - len(ends)
        if not ends:
            return
        entry = Entry(candidate.name, list(candidate.case.graph.ops), candidate.source)
        for lane, end in ends.items():
            name = self._name(lane)
            if end == RIGHT:
                entry.right.append(name)
            elif end == UNSUPPORTED:
                entry.unsupported.append(name)
            else:
                entry.fails[name] = end
                self._failures.setdefault(end, self._known(end, first.findings[end], candidate))
        self.entries.append(entry)
        self.cases[entry.case] = candidate.case
        self.kept_families |= {candidate.family} - {""}
        self.cpu_seconds += first.cpu_seconds
        self.features |= first.features

    def _name(self, lane: LaneSpec) -> str:
        """The lane's own name, with a number where another lane has it."""
        if lane not in self._names:
            taken, name, number = set(self._names.values()), lane.name, 2
            while name in taken:
                name, number = f"{lane.name}-{number}", number + 1
            self._names[lane] = name
        return self._names[lane]

    def _known(self, end: str, finding: Finding, candidate: Candidate) -> KnownFailure:
        return known_failure(finding, candidate.family or self.families.get(end, ""))

    def description(self, met: Iterable[str], versions: Mapping[str, str]) -> Description:
        """`met` are the features that the campaigns met. `versions` are those of packages."""
        lanes = {name: short(lane) for lane, name in self._names.items()}
        coverage = dict(_coverage(self.features, set(met)))
        seconds = round(self.cpu_seconds, 1)
        failures = dict(sorted(self._failures.items()))
        return Description(FORMAT, "host", dict(versions), seconds, coverage, lanes, failures)


def known_failure(finding: Finding, family: str = "") -> KnownFailure:
    """What a corpus says of a failure. `family` is as in `KnownFailure`."""
    return KnownFailure(finding.kind, finding.component, headline(finding)[:MOST_TITLE], family)


def _is_short_of_memory(finding: Finding) -> bool:
    raised = finding.evidence
    return isinstance(raised, Raised) and _NO_MEMORY.search(f"{raised.type}: {raised.message}") is not None


def _coverage(have: set[str], met: set[str]) -> Iterator[tuple[str, Coverage]]:
    for kind in (COMPILER, OPERATORS, OTHERS):
        of = {name for name in met if kind_of(name) == kind}
        yield kind, Coverage(len(of & have), len(of))


def families_by_failure(campaigns: Sequence[Path]) -> dict[str, str]:
    """By the id of a failure, the finding that stands for its family."""
    return {failure_id(doc.finding): family for family, members in findings_of(campaigns) for _, doc in members}
