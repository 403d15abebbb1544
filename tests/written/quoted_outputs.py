"""Where documents quote an output, and how it stays true.

A block of code without a language that has more than commands quotes an output. Either `make docs` writes it, or a test
runs its commands and compares what they print, or it has the commit and the date of its run, in the paragraph before
or after it: `at 1a2b3c4d (2026-11-28)`. Drawings and formulas are blocks of `text`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from written_text import BLOCK

FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
OF_A_RUN = re.compile(r"\bat [0-9a-f]{8} \(20\d\d-\d\d-\d\d\)", re.IGNORECASE)

COMPARED: Mapping[str, str] = {
    "docs/tutorial.md": "tests/test_tutorial.py",
    "docs/around.md": "tests/test_around_page.py",
}
"""Pages of which a test runs all commands and compares what they print, and the test."""

FREE = frozenset({"", "text"})
"""Languages of blocks that are not code: an output, or a drawing."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """An output in a document.

    line     the number of the line where its block begins
    begins   the first line of the block
    written  `make docs` writes it
    of_run   the commit and the date of its run stand beside it
    """

    line: int
    begins: str
    written: bool
    of_run: bool


def quoted(text: str) -> Iterator[Quoted]:
    """The outputs that a document quotes."""
    written = [match.span() for match in BLOCK.finditer(text)]
    for block in FENCED.finditer(text):
        lines = block[2].splitlines()
        if block[1] in FREE and _is_output(block[1], lines):
            inside = any(begin < block.start() < end for begin, end in written)
            beside = f"{_last_paragraph(text[: block.start()])}\n\n{_first_paragraph(text[block.end() :])}"
            of_run = OF_A_RUN.search(" ".join(beside.split())) is not None
            yield Quoted(text.count("\n", 0, block.start()) + 1, lines[0], inside, of_run)


def _is_output(language: str, lines: list[str]) -> bool:
    commands = [line.startswith("$ ") for line in lines]
    return any(commands) if language else not all(commands)


def _last_paragraph(text: str) -> str:
    return text.rstrip().rpartition("\n\n")[2]


def _first_paragraph(text: str) -> str:
    return text.lstrip().partition("\n\n")[0]


def unowned(name: str, text: str) -> list[str]:
    """The outputs of a document that nothing keeps true."""
    if name in COMPARED:
        return []
    return [f"{name}:{each.line}: {each.begins}" for each in quoted(text) if not each.written and not each.of_run]
