"""The regression corpus that ships with difftvm."""

from __future__ import annotations

from collections.abc import Collection

from fuzzer.evaluation.founding_cases import CORPUS
from fuzzer.regression import record
from generators.graph import Case

KEPT = CORPUS / "kept"


def shipped_cases(ops: Collection[str]) -> list[Case]:
    """Its cases that have no other operators than these. None where difftvm is installed without its corpus."""
    if not record.is_corpus(KEPT):
        return []
    return [case for case in record.read(KEPT).cases.values() if set(case.graph.ops) <= set(ops)]
