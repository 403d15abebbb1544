"""How a line of text fits a terminal: it is wrapped at blanks, and never within a word or a command."""

from __future__ import annotations

import re
from collections.abc import Iterator

LEAST_WIDTH = 40
"""A narrower terminal wraps lines itself."""

MOST_INDENT = 0.5
"""Continuation lines begin where the text of a list's line begins, but no further to the right than this part of the
width."""

_WORD = re.compile(r"(?:next: |\S*fuzz --replay ).*$|`[^`]*`[^\s`]*|\S+")
"""What stays in one piece: the command at the end of a line, what is quoted, and words."""

_FACTS = re.compile(r"(?<=  )\[[^\[\]]*\](?=  |$)")
"""The column of a list in brackets, with facts between semicolons. It is wrapped between facts alone."""

_FACT = re.compile(r"\S[^;]*(?:;|$)")

_COLUMN = re.compile(r"\s*(?:\S+\s{2,})*")
"""The columns before the text of a line: a number, a level, a name."""


def wrapped(line: str, width: int) -> list[str]:
    """The line in pieces of at most `width` characters, the first of which begins as it does. A longer word has a line
    of its own, which the terminal wraps, so that a command can be copied."""
    if len(line) <= width or width < LEAST_WIDTH:
        return [line]
    indent = _indent(line, round(MOST_INDENT * width))
    lines: list[str] = []
    start, end, begins = 0, indent, indent  # of the present piece in the line, and of its words
    for word_begins, word_ends in _pieces(line, indent, width - indent):
        room = width if not lines else width - indent
        if word_ends - start > room and end > begins:
            lines.append(line[start:end])
            start = begins = word_begins
        end = word_ends
    lines.append(line[start:end])
    return [lines[0], *(f"{' ' * indent}{piece}" for piece in lines[1:])]


def _pieces(line: str, begin: int, room: int) -> Iterator[tuple[int, int]]:
    """Where each piece of a line begins and ends, from `begin` on. Facts in brackets are one piece where they fit into
    `room` characters, and else each is one."""
    facts = _FACTS.search(line, begin)
    if facts is None:
        yield from (word.span() for word in _WORD.finditer(line, begin))
        return
    yield from (word.span() for word in _WORD.finditer(line, begin, facts.start()))
    if len(facts[0]) <= room:
        yield facts.span()
    else:
        yield from (fact.span() for fact in _FACT.finditer(line, facts.start(), facts.end()))
    yield from _pieces(line, facts.end(), room)


def _indent(line: str, most: int) -> int:
    found = _COLUMN.match(line)
    columns = found.end() if found else 0
    own = len(line) - len(line.lstrip())
    return columns if own + 2 <= columns <= most else min(own + 4, most)


def fitted(text: str, width: int) -> str:
    """All lines of a text, wrapped."""
    return "\n".join(piece for line in text.split("\n") for piece in wrapped(line, width))


BOLD_RED, RED, DIM, PLAIN = "\x1b[1;31m", "\x1b[31m", "\x1b[2m", "\x1b[0m"

_LEVEL = re.compile(r"^( *(?:\d+ +)?)(critical|high)(?=  |:|$)", re.MULTILINE)
_NAME = re.compile(r"(?<=[ ])[a-z]+(?:-[A-Za-z0-9]+)*-[0-9a-f]{12}(?=[ ,]|$)", re.MULTILINE)


def coloured(text: str) -> str:
    """The text with levels of severity in red and names of findings dim: they are for commands, not for reading."""
    text = _LEVEL.sub(lambda found: f"{found[1]}{_looks(found[2])}{found[2]}{PLAIN}", text)
    return _NAME.sub(lambda found: f"{DIM}{found[0]}{PLAIN}", text)


def _looks(level: str) -> str:
    return BOLD_RED if level == "critical" else RED
