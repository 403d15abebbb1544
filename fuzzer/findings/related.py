"""Which findings are perhaps only consequences of others: for people who read a list of them."""

from __future__ import annotations

from collections.abc import Iterable

from fuzzer.findings.finding_file import FindingDoc
from oracles.finding import Kind

SPREADING = (Kind.WRONG_DTYPE, Kind.WRONG_SHAPE)
"""A wrong dtype goes unnoticed until an operator further down refuses it, or gives a result of too little precision."""


def causes(docs: Iterable[FindingDoc]) -> dict[str, FindingDoc]:
    """By signature: a finding of which this one is perhaps a consequence.

    It needs several operators, and one of them, or some, already give a wrong dtype or shape on the same lanes. A hint,
    not a verdict: nothing is dropped for it.
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
