"""What benchmarks/causes.py counts."""

from __future__ import annotations

from dataclasses import replace

import causes

from fuzzer.triage.scope.statement import NO_SCOPE, Hits, Statement


def test_families_scopes_and_held_out_cases_are_counted() -> None:
    certain = replace(NO_SCOPE, statement=Statement(), inside=Hits(9, 9), cases=40, cpu_seconds=6.0)
    unsure = replace(NO_SCOPE, statement=Statement(), inside=Hits(2, 3), outside=Hits(1, 1), cases=40, cpu_seconds=9.0)
    nothing = replace(NO_SCOPE, cases=40, cpu_seconds=7.5)
    assert list(causes.lines([1, 3, 1, 2], [certain, unsure, nothing, NO_SCOPE])) == [
        "7 findings, 4 families of 1.5 in the median; 2 have several findings; the largest have [3, 2, 1, 1]",
        "3 scopes: 7.5 CPU s in the median, 22 in all",
        "2 statements, 1 of them certain; held-out cases that agree: 11 of 12 inside, 1 of 1 outside",
        "statements with which all held-out cases agree: 1 of 2",
    ]
    assert list(causes.lines([1], [NO_SCOPE]))[1:] == ["no scopes"]
