"""One line for each cause in a list: its severity, its title, whether it is new, how often and when it was met, and
the name of its first finding."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.finding_file import CRASHES
from fuzzer.watching.causes import Causes
from fuzzer.watching.formatting import duration, number_of
from fuzzer.watching.ranking import Family
from fuzzer.watching.titles import Titles


@dataclass(frozen=True, slots=True)
class Facts:
    """What lists say of findings beside their titles.

    folders  by name, the folder of a finding
    met      by name, how many tests met it
    shipped  the names of those that ship with difftvm
    began    when the last run began, as Unix time; None where no run is recorded
    now      the Unix time of the list
    last     by name, the Unix time at which a test was last counted for a finding
    """

    folders: Mapping[str, Path]
    met: Mapping[str, int] = field(default_factory=dict)
    shipped: frozenset[str] = frozenset()
    began: float | None = None
    now: float = field(default_factory=time.time)
    last: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, causes: Causes) -> Facts:
        return cls(causes.folders, causes.met, causes.shipped, causes.began, last=causes.last)

    @classmethod
    def of_new(cls, campaign: Path, docs: Sequence[FindingDoc]) -> Facts:
        """The facts of findings that are all new, and need no mark."""
        return cls({doc.slug: campaign / CRASHES / doc.slug for doc in docs})


def entry(family: Family, facts: Facts, titles: Titles, number: int | None = None) -> str:
    """The line of a cause. Its columns are two blanks apart."""
    doc = family.lead.doc
    title, words = titles.of(facts.folders[doc.slug], doc), "; ".join(_words(family, facts))
    parts = [f"{family.lead.severity.level:8}", title, words and f"[{words}]", doc.slug]
    first = "  " if number is None else f"{number:3}  "
    return first + "  ".join(filter(None, parts))


def _words(family: Family, facts: Facts) -> Iterator[str]:
    docs = [each.doc for each in family.members]
    known = all(doc.slug in facts.shipped for doc in docs)
    if known:
        yield "known"
    elif any(facts.began is not None and doc.found >= facts.began and doc.slug not in facts.shipped for doc in docs):
        yield "new"
    own = [doc for doc in docs if known or doc.slug not in facts.shipped]
    if len(own) > 1:
        yield number_of(len(own), "finding")
    if len(own) < len(docs):
        yield f"perhaps the known {docs[len(own)].slug}"
    last = max((facts.last.get(doc.slug, 0.0) for doc in docs), default=0.0)
    found = max((doc.found for doc in docs if doc.slug not in facts.shipped), default=0.0)
    if met := sum(facts.met.get(doc.slug, 0) for doc in docs):
        yield f"met in {number_of(met, 'test')}{f', last {_ago(last, facts)}' if last else ''}"
    elif known:
        yield "not met"
    if found and not last:
        yield f"found {_ago(found, facts)}"


def _ago(at: float, facts: Facts) -> str:
    return f"{duration(max(0.0, facts.now - at))} ago"


def entries(
    families: Sequence[Family],
    facts: Facts,
    titles: Titles,
    most: int,
    findings: int,
    *,
    numbered: bool = False,
    lists: str = "",
) -> Iterator[str]:
    """The lines of the first `most` causes, and the number of the others, which the command `lists` shows. `findings`
    counts all findings, with those that are not listed."""
    for number, family in enumerate(families[:most], start=1):
        yield entry(family, facts, titles, number if numbered else None)
    if len(families) > most:
        yield f"  and {number_of(len(families) - most, 'other cause')}{lists and f'; `{lists}` lists all'}"
    if not_listed := findings - sum(len(family.members) for family in families):
        yield f"  and {number_of(not_listed, 'finding')} that `fuzz triage` only counts"
