"""The sentence of a scope and its table are one thing, in each shipped finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzer.findings.record import read
from fuzzer.triage.scope.statement import Answer, Scope, Variation
from fuzzer.triage.scope.table_conditions import conditions_of_table, separation
from fuzzer.triage.scope.words import sentence

CRASHES = Path(__file__).parents[4] / "crashes"
WITH_SCOPE = [
    folder.parent.name for folder in sorted(CRASHES.glob("*/finding.json")) if read(folder.parent).doc.scope.cases
]


def test_there_are_some() -> None:
    assert len(WITH_SCOPE) >= 29


@pytest.mark.parametrize("slug", WITH_SCOPE)
def test_no_row_separates_better_than_the_sentence_says(slug: str) -> None:
    record = read(CRASHES / slug)
    scope = record.doc.scope
    for known in (scope, Scope(variations=scope.variations, cases=scope.cases)):
        says = sentence(known, record.case.graph)
        rows = conditions_of_table(known.variations)
        assert bool(rows) is not says.startswith("No simple condition") or known.statement is not None
        if known.statement is None and rows:
            assert max(rows, key=separation).words in says


def test_of_many_rows_the_best_are_named() -> None:
    rows = {
        "size": "pppppff",
        "rank of x0": "pf",
        "detect_positive": "fpp",
        "x": "fp",
        "layout of x0": "pf",
    }
    answers = {"p": Answer.PASSES, "f": Answer.FAILS}
    table = tuple(Variation(what, str(n), answers[each]) for what, row in rows.items() for n, each in enumerate(row))
    says = sentence(Scope(variations=table, cases=9), read(CRASHES / WITH_SCOPE[0]).case.graph)
    assert says == (
        "In the table it fails where size is 5 or 6 and the rank of x0 is 1 and detect_positive is 0; "
        "no simple condition fits all other cases."
    )
