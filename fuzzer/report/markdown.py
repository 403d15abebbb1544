"""Escape text from compilers and models for Markdown, so that it makes no mention, link or tag."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence

from fuzzer.system.terminal import printable

LINE_WIDTH = 400
"""The number of characters of a line that `shortened` keeps. The longest line in the shipped findings, a C++ signature,
has 359. The 150 lines that an issue may show stay below GitHub's limit of 65,536 characters."""


def code(text: str) -> str:
    """A code span. CommonMark asks for more backticks around it than the text contains in a row."""
    line = printable(" ".join(text.split()))
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    fence = "`" * (longest + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line}{space}{fence}" if line else ""


def prose(text: str) -> str:
    """Text with code spans. Outside of these, mentions, links and tags are escaped."""
    return _outside_of_code(text, _harmless)


def heading(text: str) -> str:
    """A line of text for a heading. Brackets and underscores stay as they are, because titles have many."""
    return _outside_of_code(text, lambda piece: _no_mention(piece.replace("<", "\\<")))


def _outside_of_code(text: str, escape: Callable[[str], str]) -> str:
    pieces = re.split(r"(`[^`]+`)", printable(" ".join(text.split())))
    return "".join(piece if index % 2 else escape(piece) for index, piece in enumerate(pieces))


def _harmless(text: str) -> str:
    text = re.sub(r"([\\<>\[\]*_|~])", r"\\\1", text)
    return _no_mention(text.replace("`", "\\`"))


def _no_mention(text: str) -> str:
    return re.sub(r"([@#])(?=\w)", r"\1<!-- -->", text)


def block(text: str, language: str = "") -> str:
    """A fenced code block. The fence has more backticks than the text contains in a row."""
    text = printable(text)
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def table(rows: Sequence[tuple[str, str]]) -> str:
    """A table of two columns, the second as code. Rows without a value are left out."""
    cells = [(key, code(value).replace("|", "\\|")) for key, value in rows if value]
    lines = "".join(f"| {prose(key)} | {value} |\n" for key, value in cells)
    return f"| | |\n|---|---|\n{lines}"


def details(summary: str, body: str) -> str:
    """A folded section. In its summary, GitHub renders HTML and mentions."""
    escaped = "".join(f"&#{ord(each)};" if each in "@#" else html.escape(each) for each in printable(summary))
    return f"<details>\n<summary>{escaped}</summary>\n\n{body}\n</details>\n"


def shortened(text: str, lines: int, file: str) -> str:
    """The first and last lines of a long text. A note stands where lines are left out, and where a line is cut at
    `LINE_WIDTH` characters. It names `file`, which has the whole text."""
    every = [_cut(line, file) for line in text.rstrip().split("\n")]
    if len(every) <= lines:
        return "\n".join(every)
    head = lines * 2 // 3
    note = f"... {len(every) - lines} more lines in {file} ..."
    return "\n".join([*every[:head], note, *every[len(every) - (lines - head) :]])


def _cut(line: str, file: str) -> str:
    more = len(line) - LINE_WIDTH
    return line if more <= 0 else f"{line[:LINE_WIDTH]} ... {more} more characters in {file}"
