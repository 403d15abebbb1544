"""The titles of findings and of sightings: what people read in every list. A finding has the title of its report, which
its folder has: no case is read, and no array library is loaded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.headline import without_lane
from fuzzer.findings.severity import KINDS
from fuzzer.signature.in_words import checker_in_words, in_words
from fuzzer.triage.suspect import Certainty
from fuzzer.watching.formatting import number_of
from generators.plain_file import MOST_TEXT, read_plain
from oracles.finding import Kind
from oracles.outcome import IllFormed, Raised

WRONG = {
    Kind.WRONG_VALUE: "gives wrong values",
    Kind.WRONG_SHAPE: "gives a wrong shape",
    Kind.WRONG_DTYPE: "gives a wrong dtype",
    Kind.WRONG_ARITY: "gives a wrong number of outputs",
    Kind.SECOND_RUN_DIFFERS: "gives different results in two runs",
    Kind.NONDETERMINISTIC: "gives different results in different processes",
    Kind.DIED: "ends the process",
    Kind.TIMED_OUT: "does not come to an end",
    Kind.OUT_OF_BOUNDS_READ: "reads outside a tensor",
    Kind.OUT_OF_BOUNDS_WRITE: "writes outside a tensor",
    Kind.UNINITIALISED_READ: "reads unwritten memory",
    Kind.SLOW: "compiles more slowly than needed",
}
"""What a sighting shows, where its kind says it in a few words."""


def title_of(folder: Path, doc: FindingDoc) -> str:
    """The title of a finding's report without its area, in one line; what was seen, where there is no report."""
    try:
        first = read_plain(folder / REPORT, MOST_TEXT).decode(errors="replace").partition("\n")[0]
    except OSError:  # as in the folder of `fuzz diff` with what is fixed
        return sighting_title(doc)
    found = _HEADING.fullmatch(first)
    return one_line(_plain(found["title"])) if found else sighting_title(doc)


REPORT = "issue.md"

_HEADING = re.compile(r"# (?:\\?\[[^\]]*\\?\])* ?(?P<title>.+)")


def _plain(markdown: str) -> str:
    """The text of a heading: without backslashes before punctuation, but for those in code."""
    parts = re.split(r"(`[^`]+`)", markdown)
    return "".join(part if number % 2 else re.sub(r"\\([^\w\s])", r"\1", part) for number, part in enumerate(parts))


def sighting_title(doc: FindingDoc) -> str:
    """What was seen, before it is confirmed and reduced, in at most `LONGEST` characters: "Perhaps `torch.relu` fails:
    indices are bool"."""
    sentences = (one_line(f"{subject}{fails}") for fails in _fails(doc) for subject in _subjects(doc))
    return next((each for each in sentences if len(each) <= LONGEST), KINDS[doc.kind][1].capitalize())


LONGEST = 90
"""The largest number of characters of the title of a sighting. Nothing is cut: what has no room is left out."""

SUSPECTS = 2
"""How many suspects a title names."""


def _subjects(doc: FindingDoc) -> Iterator[str]:
    """What the sighting is suspected of, or its model."""
    names = doc.suspect.called or doc.suspect.operators
    perhaps = "" if doc.suspect.certainty is Certainty.SEEN else "Perhaps "
    for most in range(min(SUSPECTS, len(names)), 0, -1):
        yield perhaps + _one_of([f"`{each}`" for each in names[:most]], len(names) - most)
    if len(doc.ops) == 1 and not names:
        yield f"`{doc.ops[0]}`"
    yield f"A model of {number_of(len(doc.ops), 'operator')}"


def _one_of(names: Sequence[str], others: int) -> str:
    """`a`; `a` or `b`; `a`, `b` or another; `a`, `b` or one of 3 others."""
    *before, last = [*names, *(["another" if others == 1 else f"one of {others} others"] if others else [])]
    return f"{', '.join(before)} or {last}" if before else last


def _fails(doc: FindingDoc) -> Iterator[str]:
    """What it does, the fullest text first."""
    evidence = doc.evidence.evidence
    if doc.kind in WRONG:
        yield f" {WRONG[doc.kind]}"
    elif isinstance(evidence, Raised):
        for problem in in_words(evidence):
            yield f" fails: {problem}"
            yield f": {problem}"
        yield f" fails with `{evidence.type.rpartition('.')[2]}`"
    elif isinstance(evidence, IllFormed):
        yield f" gives an ill-formed module after {evidence.after}: {checker_in_words(evidence.message)}"
        yield " gives an ill-formed module"
    else:
        yield f": {without_lane(doc.finding)}"


MOST_CHARACTERS = 1000
"""The longest title. A report may come from elsewhere."""


def one_line(text: str) -> str:
    return " ".join(text[: 4 * MOST_CHARACTERS].split())[:MOST_CHARACTERS]


class Titles:
    """Titles that are read once: until the report is written again, as when its scope was found. Thread-safe,
    because a title that two threads read is the same."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[int, str]] = {}

    def of(self, folder: Path, doc: FindingDoc) -> str:
        try:
            written = (folder / REPORT).stat().st_mtime_ns
        except OSError:
            written = 0
        held = self._read.get(doc.slug)
        if held is None or held[0] != written:
            held = self._read[doc.slug] = written, title_of(folder, doc)
        return held[1]
