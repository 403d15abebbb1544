"""Kept cases that run before fresh ones: where they come from, and in which order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from fuzzer.findings.finding_file import CRASHES
from fuzzer.regression import record
from fuzzer.seeds import corpus
from generators import case_file
from generators.graph import Case, Invalid
from generators.plain_file import LINK


def kept_in(folders: Sequence[Path]) -> list[Case]:
    """The cases of these folders: a corpus, a regression corpus, a campaign with its corpus and its findings, or one
    case. Raise `Invalid` where a folder has none, or one that cannot be read."""
    return [case for folder in folders for case in _cases_of(folder)]


def _cases_of(folder: Path) -> list[Case]:
    if record.is_corpus(folder):
        return list(record.read(folder).cases.values())
    within = [folder / name for name in (corpus.FOLDER, CRASHES)]
    if link := next((each for each in within if each.is_symlink()), None):  # the campaign may come from elsewhere
        raise Invalid(f"{link}: {LINK}")
    found = [folder] if (folder / case_file.JSON_NAME).exists() else []
    found += [path.parent for place in (folder, *within) for path in sorted(place.glob(f"*/{case_file.JSON_NAME}"))]
    if not found:
        raise Invalid(f"{folder}: no case, no corpus and no campaign")
    return [case_file.read(path) for path in found]


def in_turn(cases: Sequence[Case], rows: Collection[str]) -> Iterator[Case]:
    """The cases that have one of the rows. Each row has its turn, and gives the case with the fewest calls that has not
    run: so that the first cases have all rows, and few other operators whose failures would hide one of these."""
    waiting = {row: [case for case in cases if row in case.graph.rows] for row in sorted(rows)}
    for row, some in waiting.items():
        waiting[row] = sorted(some, key=lambda case: -len(case.graph.nodes))
    given: set[int] = set()
    while any(waiting.values()):
        for some in waiting.values():
            while some and id(some[-1]) in given:
                some.pop()
            if some:
                given.add(id(some[-1]))
                yield some.pop()


def widest_first(cases: Sequence[Case]) -> Iterator[Case]:
    """All cases: always the one with the most operators that no case before it had, for each call that it has."""
    left, met = {number: case.graph.rows for number, case in enumerate(cases)}, set[str]()
    while left:
        best = max(left, key=lambda number: len(left[number] - met) / (2 + len(cases[number].graph.nodes)))
        if left[best] <= met:
            break
        met |= left.pop(best)
        yield cases[best]
    yield from (cases[number] for number in left)
