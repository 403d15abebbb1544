"""Hints for people who read a list of findings: which of them may be consequences of others."""

from __future__ import annotations

from collections.abc import Iterable

from fuzzer.findings.finding_doc import FindingDoc
from oracles.finding import Kind

SPREADING = (Kind.WRONG_DTYPE, Kind.WRONG_SHAPE)
"""Kinds that cause further failures: a later operator refuses the wrong dtype or shape, or computes too imprecisely."""


def causes(docs: Iterable[FindingDoc]) -> dict[str, FindingDoc]:
    """Return, by signature, a finding that may be the cause of another finding.

    The cause is a wrong dtype or shape of some of the other finding's operators, on all of its lanes. This is a hint:
    no finding is dropped for it.
    """
    docs = [doc for doc in docs if not doc.flaky]
    found = {}
    for doc in docs:
        for other in docs:
            spreads = other.kind in SPREADING and other.component is doc.component
            if spreads and set(other.ops) < set(doc.ops) and set(doc.lanes) <= set(other.lanes):
                found[doc.signature] = other
                break
    return found
