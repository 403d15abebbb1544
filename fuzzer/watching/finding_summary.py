"""Findings in short: how many of each component and kind, and when each was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from fuzzer.findings.finding_doc import FindingDoc

DAY = 86400.0


def kinds_of(docs: Iterable[FindingDoc]) -> dict[tuple[str, str], int]:
    return dict(Counter((str(doc.component), str(doc.kind)) for doc in docs))


def by_component(findings: Mapping[tuple[str, str], int]) -> dict[str, int]:
    counted: Counter[str] = Counter()
    for (component, _), count in findings.items():
        counted[component] += count
    return dict(counted.most_common())


def found_at(docs: Iterable[FindingDoc]) -> dict[str, float]:
    """By slug, when a finding was found, as Unix time. Findings of earlier versions have no time, and are left out."""
    return {doc.slug: doc.found for doc in docs if doc.found}
