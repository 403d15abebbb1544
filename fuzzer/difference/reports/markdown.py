"""The result of `fuzz diff` as Markdown, for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fuzzer.difference.fixed import FOLDER as FIXED
from fuzzer.difference.reports.lines import Shown, shown, wrong_with
from fuzzer.difference.verdict import Comparison, in_words, reach_in_words
from fuzzer.findings.finding_file import CRASHES
from fuzzer.report.markdown import cell, prose
from fuzzer.system.terminal import number_of

MOST = 30
"""The most findings that a table lists."""


def page(comparison: Comparison) -> str:
    return "\n".join(_lines(comparison)) + "\n"


def _lines(comparison: Comparison) -> Iterator[str]:
    yield f"### difftvm: {prose(in_words(comparison))}"
    yield ""
    tests, lanes = number_of(comparison.tests, "test"), number_of(comparison.lanes, "lane")
    yield f"- {tests} in {comparison.seconds:.0f} s; {lanes} ran in both"
    yield f"- changed code reached: {prose(reach_in_words(comparison))}"
    if comparison.touched:
        yield f"- {prose(comparison.touched)}"
    for what, names in (("never called", comparison.never_called), ("never met", comparison.never_met)):
        if names:
            yield f"- {what}: {prose(', '.join(names[:MOST]))}"
    yield f"- failing in both, not listed: {comparison.both:,}"
    if comparison.waiting:
        yield f"- not investigated in time: {number_of(comparison.waiting, 'failure')}"
    for name, docs, where in (
        (f"Worse ({prose(wrong_with(comparison))})", comparison.worse, CRASHES),
        ("An output shares memory with an input", comparison.aliased, CRASHES),
        ("Not confirmed by each of three runs", comparison.unsure, CRASHES),
        ("Fixed", comparison.fixed, FIXED),
        ("Perhaps fixed, not confirmed by each of three runs", comparison.perhaps_fixed, FIXED),
    ):
        yield from docs_table(name, shown(comparison, docs, where))


def docs_table(name: str, docs: Sequence[Shown]) -> Iterator[str]:
    if not docs:
        return
    yield from ("", f"#### {name}", "", "| severity | | at fault | finding |", "|---|---|---|---|")
    for each in docs[:MOST]:
        cells = (each.level, cell(each.title), cell(each.blamed), f"`{each.doc.slug}`")
        yield f"| {' | '.join(cells)} |"
    if len(docs) > MOST:
        yield ""
        yield f"And {len(docs) - MOST:,} more."
