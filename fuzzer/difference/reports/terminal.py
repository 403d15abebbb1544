"""The result of `fuzz diff` for the terminal, and as JSON."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from fuzzer.difference.fixed import FOLDER as FIXED
from fuzzer.difference.reports.lines import aliased_in_words, blamed, title
from fuzzer.difference.verdict import Comparison, in_words, reach_in_words
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.finding_file import CRASHES
from fuzzer.system.terminal import next_line
from fuzzer.watching.finding_summary import found_line
from fuzzer.watching.formatting import number_of
from fuzzer.watching.ranking import listed_in, worth_a_look

MOST = 10
"""The most lines of each list."""


def lines(comparison: Comparison) -> Iterator[str]:
    yield (
        f"{number_of(comparison.tests, 'test')} in {comparison.seconds:.0f} s; "
        f"{number_of(comparison.lanes, 'lane')} ran in both"
    )
    yield f"changed code reached: {reach_in_words(comparison)}"
    yield from _listed("reached", comparison.reached)
    yield from _named("never called", comparison.never_called)
    yield from _named("never met", comparison.never_met)
    yield from _listed("the compilers differ in", comparison.differing)
    yield f"worse: {number_of(len(comparison.worse), 'finding')}"
    folders = [comparison.folder / CRASHES / doc.slug for doc in comparison.worse]
    yield from worth_a_look(listed_in(folders), len(folders), most=MOST)
    if comparison.aliased:
        yield f"an output shares memory with an input: {aliased_in_words(comparison)}"
        yield from (f"  {found_line(doc)}" for doc in comparison.aliased[:MOST])
    for doc in comparison.unsure:
        yield f"not confirmed by each of three runs: {found_line(doc)}"
    yield f"fixed: {len(comparison.fixed)}"
    yield from (f"  {found_line(doc)}" for doc in comparison.fixed[:MOST])
    if comparison.perhaps_fixed:
        yield f"perhaps fixed, not confirmed by each of three runs: {len(comparison.perhaps_fixed)}"
    yield f"failing in both: {comparison.both}, not reported"
    if comparison.waiting:
        yield f"not investigated in time: {number_of(comparison.waiting, 'failure')}"
    yield in_words(comparison)
    if comparison.worse:
        yield next_line("triage", "--campaign", os.path.relpath(comparison.folder))


def _listed(what: str, names: dict[str, int]) -> Iterator[str]:
    if names:
        most = ", ".join(f"{name} ({count})" for name, count in list(names.items())[:3])
        others = f", and {number_of(len(names) - 3, 'other name')}" if len(names) > 3 else ""
        yield f"  {what}: {most}{others}"


def _named(what: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        others = f", and {number_of(len(names) - 3, 'other')}" if len(names) > 3 else ""
        yield f"  {what}: {', '.join(names[:3])}{others}"


def document(comparison: Comparison) -> dict[str, object]:
    """The result as data. `docs/diff.md` describes its fields."""
    return {
        "verdict": in_words(comparison),
        "base": comparison.base,
        "patched": comparison.patched,
        "seconds": round(comparison.seconds, 1),
        "tests": comparison.tests,
        "lanes": comparison.lanes,
        "worse": [_row(comparison, doc, CRASHES) for doc in comparison.worse],
        "aliased": [_row(comparison, doc, CRASHES) for doc in comparison.aliased],
        "unsure": [_row(comparison, doc, CRASHES) for doc in comparison.unsure],
        "fixed": [_row(comparison, doc, FIXED) for doc in comparison.fixed],
        "perhaps_fixed": [_row(comparison, doc, FIXED) for doc in comparison.perhaps_fixed],
        "both": comparison.both,
        "waiting": comparison.waiting,
        "reaching": comparison.reaching if comparison.changed.is_traced else None,
        "touched": comparison.touched,
        "reached": comparison.reached,
        "never_called": comparison.never_called,
        "never_met": comparison.never_met,
        "differing": comparison.differing,
        "untraced": comparison.changed.untraced,
    }


def _row(comparison: Comparison, doc: FindingDoc, folder: str) -> dict[str, object]:
    return {
        "slug": doc.slug,
        "signature": doc.signature,
        "kind": doc.kind,
        "ops": doc.ops,
        "lanes": doc.lanes,
        "title": title(doc),
        "blame": blamed(doc),
        "folder": os.path.relpath(comparison.folder / folder / doc.slug),
    }
