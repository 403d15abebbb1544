"""The figures of docs/regression.md: what the regression corpus has that ships with difftvm. CPU seconds are those of
the campaign and the run that the page describes, and stay."""

from __future__ import annotations

from functools import cache

from written_text import Written, figures

from fuzzer.regression.known import shown_again
from fuzzer.regression.record import CASES, DESCRIPTION, EXPECTED, Corpus, read
from fuzzer.regression.shipped import KEPT


@cache
def kept() -> Corpus:
    return read(KEPT)


def output(now: str) -> str:
    """What `fuzz corpus keep` and `fuzz corpus run` print."""
    corpus, entries = kept(), kept().entries
    size = sum((KEPT / name).stat().st_size for name in (DESCRIPTION, EXPECTED, CASES)) / 1e6
    findings = sum(not entry.source.startswith("test ") for entry in entries)
    cases = (f"{len(entries):,}", f"{size:.1f}", f"{findings:,}", f"{len(entries) - findings:,}")
    text = figures(now, r"^([\d,]+) cases in corpus/kept, ([\d.]+) MB: ([\d,]+) of findings, ([\d,]+) of tests", *cases)
    for kind, each in corpus.description.coverage.items():
        covered = (f"{each.covered:,}", f"{each.of:,}", f"{100 * each.covered / each.of:.0f}")
        text = figures(text, rf"^{kind}: ([\d,]+) of ([\d,]+) features \((\d+) %\)", *covered)
    lanes = sum(len(entry.right) + len(entry.unsupported) + len(entry.fails) for entry in entries)
    text = figures(text, r"^([\d,]+) cases, ([\d,]+) lanes in host", f"{len(entries):,}", f"{lanes:,}")
    text = figures(text, r"^([\d,]+) failures are expected", f"{len(corpus.description.failures):,}")
    shown = shown_again(corpus, set(corpus.lanes), ())
    known = (f"{len(shown):,}", f"{len({each.family for each in shown}):,}")
    return figures(text, r"^([\d,]+) known failures as expected, in ([\d,]+) families$", *known)


def explained_families(_: str) -> str:
    return f"{len({each.family for each in kept().description.failures.values()} - {''})}"


ROWS = (
    Written("shipped-corpus", "docs/regression.md", output),
    Written("families-of-findings", "docs/regression.md", explained_families),
)
