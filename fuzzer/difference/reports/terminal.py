"""The result of `fuzz diff` for the terminal, and as JSON."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from fuzzer.difference.fixed import FOLDER as FIXED
from fuzzer.difference.reports.lines import Shown, aliased_in_words, shown
from fuzzer.difference.verdict import Comparison, in_words, reach_in_words
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.finding_file import CRASHES
from fuzzer.system.terminal import next_line
from fuzzer.watching.entries import Facts, entries
from fuzzer.watching.formatting import number_of
from fuzzer.watching.ranking import listed_in
from fuzzer.watching.titles import Titles

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
    yield from _entries(comparison, comparison.worse, CRASHES)
    if comparison.aliased:
        yield f"an output shares memory with an input: {aliased_in_words(comparison)}"
        yield from _entries(comparison, comparison.aliased, CRASHES)
    if comparison.unsure:
        yield f"not confirmed by each of three runs: {len(comparison.unsure)}"
        yield from _entries(comparison, comparison.unsure, CRASHES)
    yield f"fixed: {len(comparison.fixed)}"
    yield from _entries(comparison, comparison.fixed, FIXED)
    if comparison.perhaps_fixed:
        yield f"perhaps fixed, not confirmed by each of three runs: {len(comparison.perhaps_fixed)}"
    yield f"failing in both: {comparison.both}, not reported"
    if comparison.waiting:
        yield f"not investigated in time: {number_of(comparison.waiting, 'failure')}"
    yield in_words(comparison)
    if comparison.worse:
        yield next_line("triage", "--campaign", os.path.relpath(comparison.folder))


def _entries(comparison: Comparison, docs: Sequence[FindingDoc], where: str) -> Iterator[str]:
    folders = {doc.slug: comparison.folder / where / doc.slug for doc in docs}
    yield from entries(listed_in(folders.values()), Facts(folders), Titles(), MOST, len(docs))


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
        "worse": [_row(each) for each in shown(comparison, comparison.worse)],
        "aliased": [_row(each) for each in shown(comparison, comparison.aliased)],
        "unsure": [_row(each) for each in shown(comparison, comparison.unsure)],
        "fixed": [_row(each) for each in shown(comparison, comparison.fixed, FIXED)],
        "perhaps_fixed": [_row(each) for each in shown(comparison, comparison.perhaps_fixed, FIXED)],
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


def _row(each: Shown) -> dict[str, object]:
    doc = each.doc
    return {
        "slug": doc.slug,
        "signature": doc.signature,
        "kind": doc.kind,
        "ops": doc.ops,
        "lanes": doc.lanes,
        "severity": each.level,
        "title": each.title,
        "blame": each.blamed,
        "folder": each.folder,
    }
