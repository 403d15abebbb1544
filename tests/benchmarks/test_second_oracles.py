"""The lines and the summary of `benchmarks/second_oracles.py`."""

from __future__ import annotations

from second_oracles import Judged, summary

from oracles.finding import Kind

RAISED = Judged((Kind.INTERNAL_ERROR,), has_result=False, besides="")
DTYPE = Judged((Kind.WRONG_DTYPE,), has_result=True, besides="float32 instead of int64")
READ = Judged((Kind.OUT_OF_BOUNDS_READ, Kind.WRONG_VALUE), has_result=True, besides="")
GONE = Judged((), has_result=True, besides="")


def test_a_line_names_what_comes_after_the_first_objection() -> None:
    assert [each.words for each in (RAISED, DTYPE, READ, GONE)] == [
        "internal-error; then no result to judge",
        "wrong-dtype, with float32 instead of int64; then nothing",
        "out-of-bounds-read; then wrong-value",
        "it does not show",
    ]


def test_findings_are_counted_by_what_follows() -> None:
    assert summary([RAISED, DTYPE, READ, READ, GONE]) == [
        "5 findings, 4 show, 3 of them with a result",
        "a second oracle objects: 2; the finding names a second symptom: 1",
        "  2 out-of-bounds-read, then wrong-value",
    ]
