"""Texts from compilers and models in Markdown, so that they make no link, mention, tag or heading.

GitHub makes links of more than Markdown has: addresses, mentions, numbers of issues and hashes of commits
(https://github.github.com/gfm/#autolinks-extension-, https://docs.github.com, "Autolinked references and URLs"). A
backslash does not prevent that, but it makes none in code spans. So a word that may become a link is a code span here.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence

from fuzzer.system.terminal import printable

LINE_WIDTH = 400
"""The number of characters of a line that `shortened` keeps. The longest line in the shipped findings, a C++ signature,
has 359. The 150 lines that an issue may show stay below GitHub's limit of 65,536 characters."""

LINKED = re.compile(
    r"@|://|www\.|mailto:|xmpp:|#\w|\bGH-\d|(?<![0-9a-z])[0-9a-f]{7,40}(?![0-9a-z])", re.ASCII | re.IGNORECASE
)
"""What GitHub may make a link of: an address, a mention, the number of an issue, the hash of a commit."""

_SPECIAL = re.compile(r"[\\<>\[\]*_|~&$]")
_SPECIAL_IN_TITLES = re.compile(r"[\\<*|~&$]|(?<=\])\(")
"""What Markdown or GitHub gives a meaning. Titles have many brackets and underscores, which do no harm without "](".
"""

_BLOCK = re.compile(r"^(?=[#+-]+(?: |$)|[=-]+$)|^\d+(?=[.)](?: |$))")
"""Where a backslash prevents that a line begins a heading or a list."""

_APART = "<!-- -->"
"""Stands between two code spans, which would become one."""


def code(text: str) -> str:
    """A code span. CommonMark asks for more backticks around it than the text contains in a row."""
    line = printable(" ".join(text.split()))
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    fence = "`" * (longest + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line}{space}{fence}" if line else ""


def prose(text: str) -> str:
    """A line of text. What stands between backticks is a code span, and so is each other word that GitHub would make a
    link of. The rest is escaped."""
    return _line(text, _SPECIAL)


def heading(text: str) -> str:
    """A line of text for a heading, like `prose`."""
    return _line(text, _SPECIAL_IN_TITLES)


def cell(text: str) -> str:
    """A line of text for a cell of a table, like `prose`."""
    return _line(text, _SPECIAL, in_cell)


def in_cell(span: str) -> str:
    """A code span in a cell: each bar in it needs a backslash, and no other one before that."""
    return re.sub(r"(\\?)\|", lambda found: f"{found[1]} \\|" if found[1] else "\\|", span)


def _line(text: str, special: re.Pattern[str], span: Callable[[str], str] = str) -> str:
    line = ""
    for index, piece in enumerate(re.split(r"(`[^`]+`)", printable(" ".join(text.split())))):
        for part in [piece] if index % 2 else _words(piece, special):
            is_span = part.startswith("`")
            line += (_APART if is_span and line.endswith("`") else "") + (span(part) if is_span else part)
    return _BLOCK.sub(r"\g<0>\\", line)


def _words(text: str, special: re.Pattern[str]) -> list[str]:
    """The words and the space of a text without code spans. A word that may become a link is a code span."""
    words: list[str] = []
    for word in re.split(r"([ `])", text):
        if LINKED.search(word):
            begin, core, end = _bare(word)
            words += [_escaped(begin, special), f"`{core}`", _escaped(end, special)]
        else:
            words.append(_escaped(word, special))
    return words


def _bare(word: str) -> tuple[str, str, str]:
    """A word that may become a link, without the punctuation before and after it."""
    core = word.strip("()[]{}\"',.;:!?")
    if not LINKED.search(core):
        return "", word, ""
    begin, _, end = word.partition(core)
    return begin, core, end


def _escaped(text: str, special: re.Pattern[str]) -> str:
    return special.sub(r"\\\g<0>", text).replace("`", "\\`")


def block(text: str, language: str = "") -> str:
    """A fenced code block. The fence has more backticks than the text contains in a row."""
    text = printable(text)
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def table(rows: Sequence[tuple[str, str]]) -> str:
    """A table of two columns, the second as code. Rows without a value are left out."""
    lines = "".join(f"| {cell(key)} | {in_cell(code(value))} |\n" for key, value in rows if value)
    return f"| | |\n|---|---|\n{lines}"


def details(summary: str, body: str) -> str:
    """A folded section. In its summary, GitHub renders HTML and makes links."""
    words = [html.escape(word, quote=False) for word in printable(summary).split()]
    words = [f"<code>{word}</code>" if LINKED.search(html.unescape(word)) else word for word in words]
    return f"<details>\n<summary>{' '.join(words)}</summary>\n\n{body}\n</details>\n"


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
