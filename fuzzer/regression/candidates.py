"""The cases of campaigns that a regression corpus may keep: notable tests, and the reduced cases of findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzzer.campaign.store import index, notable_tests
from fuzzer.campaign.store.features import is_of_compiler, of_case
from fuzzer.campaign.store.index import Index
from fuzzer.campaign.store.presence import why_no_index
from fuzzer.findings import finding_file
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.finding_file import CRASHES
from fuzzer.regression.record import name_of, packed_size
from fuzzer.triage.reproduce import judged_by
from fuzzer.watching.ranking import ranked
from generators import case_file
from generators.graph import Case, Invalid
from oracles.finding import Component
from oracles.lane import Engine, LaneSpec

CPU_SECONDS_OF_A_FINDING = 0.4
"""What a reduced case is expected to cost: its plain lane, the lanes that judge it, and the references."""

COMPILER, OPERATORS, OTHERS = "compiler", "operators", "attributes and forms"
"""Kinds of features: what the compiler did; operators with dtype and rank; the other features of cases."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A case that may be kept.

    source       the test or the finding that it comes from, in words
    features     what it showed; of a finding only what its case has
    cpu_seconds  what a run is expected to cost
    size         bytes that it takes in a corpus
    family       the finding that stands for the family of a finding; "" for a test
    """

    case: Case
    lanes: tuple[LaneSpec, ...]
    source: str
    features: frozenset[str]
    cpu_seconds: float
    size: int
    family: str = ""

    @property
    def name(self) -> str:
        return name_of(self.case)


def kind_of(feature: str) -> str | None:
    """The kind of a feature; None for what only the choice of lanes counts."""
    if is_of_compiler(feature):
        return COMPILER
    if feature.startswith(("compiled ", "imported ")):
        return None
    return OPERATORS if feature.startswith("op ") else OTHERS


def findings_of(campaigns: Sequence[Path]) -> Iterator[tuple[str, list[tuple[Path, FindingDoc]]]]:
    """The families of the steady findings of TVM: the slug of the finding that stands for it, and its findings, that
    one first. The most severe family first."""
    for campaign in campaigns:
        folders = finding_file.folders_in(campaign / CRASHES)
        found = [each for each in finding_file.readable(folders) if _is_kept(each[1])]
        places = {doc.slug: folder for folder, doc in found}
        for family in ranked(found):
            docs = [member.doc for member in family.members]
            yield family.lead.doc.slug, [(places[doc.slug], doc) for doc in docs]


def _is_kept(doc: FindingDoc) -> bool:
    return doc.component is Component.TVM and not doc.flaky and doc.lane.toolchain == "host"


def from_findings(campaigns: Sequence[Path]) -> Iterator[Candidate]:
    """The cases of findings: first one of each family, then the others."""
    families = list(findings_of(campaigns))
    for place in range(max((len(members) for _, members in families), default=0)):
        for family, members in families:
            if place < len(members):
                folder, doc = members[place]
                case = case_file.read(folder)
                lanes = tuple(lane for lane in judged_by(doc.lane, doc.identity) if lane.engine is Engine.TVM)
                features = frozenset(of_case(case.graph))
                yield Candidate(case, lanes, doc.slug, features, CPU_SECONDS_OF_A_FINDING, packed_size(case), family)


def from_tests(campaigns: Sequence[Path]) -> Iterator[Candidate]:
    """The notable tests whose lanes all run in the host. Raise `Invalid` where a campaign has none, or a damaged
    one."""
    for campaign in campaigns:
        if not (campaign / index.NAME).exists():
            raise Invalid(why_no_index(campaign))
        with Index(campaign, writes=False) as opened:
            count = 0
            for origin, number, document in notable_tests.all_in(opened):
                count += 1
                test, case = notable_tests.decoded(document, f"{campaign / index.NAME}: test {number}")
                if all(lane.toolchain == "host" for lane in test.lanes):
                    features = frozenset((*test.features, *of_case(case.graph)))
                    source = f"test {number} of {origin}"
                    yield Candidate(case, tuple(test.lanes), source, features, test.cpu_seconds, packed_size(case))
        if not count:
            raise Invalid(f"{campaign}: no test of it was kept; an earlier version of difftvm ran it")


def features_met(campaigns: Sequence[Path]) -> frozenset[str]:
    """All features that the campaigns met, of a kind."""
    met: set[str] = set()
    for campaign in campaigns:
        with Index(campaign, writes=False) as opened:
            met.update(name for (name,) in opened.each(tuple[str], "SELECT name FROM features") if kind_of(name))
    return frozenset(met)
