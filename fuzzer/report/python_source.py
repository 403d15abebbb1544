"""Write Python source in the format of `ruff format`. No text in it can end a string or a comment."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

WIDTH = 120
INDENT = "    "
_OPENING, _CLOSING = "([{", ")]}"
_STRING = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""


def docstring(paragraphs: list[str]) -> str:
    """A module's docstring. Quotes, backslashes and what is not printable in the paragraphs are escaped."""
    filled = [textwrap.fill(" ".join(each.split()), WIDTH - 10, break_long_words=False) for each in paragraphs if each]
    text = in_docstring("\n\n".join(filled))
    return f'"""{text}' + ("\n" if "\n" in text or text.endswith('"') else "") + '"""'


def in_docstring(text: str) -> str:
    """The text as it may stand in a docstring. What is not printable, such as NUL, becomes an escape sequence."""
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    return "".join(char if char.isprintable() or char == "\n" else ascii(char)[1:-1] for char in text)


def powers_without_spaces(source: str) -> str:
    """Write `x ** 3` as `x**3`, as ruff does for simple operands."""
    return re.sub(r"(?<![\w.)\]])([\w.]+) \*\* (-?[\w.]+)(?![\w.(\[])", r"\1**\2", source)


def formatted(source: str) -> str:
    """Split long lines at their brackets, and put two empty lines around functions and classes."""
    text = "\n".join(part for line in source.split("\n") for part in wrapped(line))
    text = re.sub(r"\n{2,}(?=def |class |@)", "\n\n\n", text)
    return re.sub(r"(?m)^( +\S.*)\n{2,}(?=\S)", r"\1\n\n\n", text)


def wrapped(line: str) -> list[str]:
    """Split a line at its brackets if it is longer than `WIDTH`."""
    if len(line) <= WIDTH:
        return [line]
    code, comment = _split_comment(line)
    if comment:
        return wrapped(code) if code.strip() else [line]
    pair = _widest_pair(code)
    if pair is None:
        return [line]
    start, end = pair
    indent = line[: len(line) - len(line.lstrip())]
    items = split(code[start + 1 : end])
    last = _needs_trailing_comma(code, start, items) or code[start + 1 : end].rstrip().endswith(",")
    result: list[str] = []
    for position, item in enumerate(items):
        lines = [f"{indent}{INDENT}{piece}" for piece in _pieces(item)]
        lines = [part for each in lines for part in wrapped(each)]
        result += _with_comma(lines, last or position < len(items) - 1)
    return [code[: start + 1], *result, f"{indent}{code[end:]}"]


def _pieces(item: str) -> list[str]:
    """The parts of an item that get lines of their own: the loops of a generator, adjacent strings."""
    if begins := _loops(item):
        ends = [*begins[1:], len(item)]
        return [item[: begins[0]], *(item[a + 1 : b] for a, b in zip(begins, ends, strict=True))]
    return re.findall(_STRING, item) if re.fullmatch(f"{_STRING}( {_STRING})+", item) else [item]


def _with_comma(lines: list[str], comma: bool) -> list[str]:
    return [*lines[:-1], lines[-1] + ","] if comma else lines


def _needs_trailing_comma(code: str, start: int, items: list[str]) -> bool:
    """Whether ruff adds a trailing comma: in calls, lists, dicts and longer tuples, not in subscripts and
    generators."""
    if any(_loops(item) for item in items):
        return False
    before = code[:start].rstrip()[-1:]
    called = before.isalnum() or before in ("_", ")", "]")
    return (code[start] == "(" and called) or (code[start] in "[{" and not called) or len(items) > 1


def _loops(item: str) -> list[int]:
    """The positions at which the loops of a generator begin."""
    return [at for at, depth, quote in _scan(item) if depth == 0 and not quote and item.startswith(" for ", at)]


def _split_comment(line: str) -> tuple[str, str]:
    for position, _, quote in _scan(line):
        if line[position] == "#" and not quote:
            return line[:position].rstrip(), line[position:]
    return line, ""


def _widest_pair(code: str) -> tuple[int, int] | None:
    """The positions of the outermost pair of brackets with the longest contents."""
    opened, pairs = 0, []
    for position, depth, quote in _scan(code):
        if not quote and code[position] in _OPENING and depth == 0:
            opened = position
        if not quote and code[position] in _CLOSING and depth == 1:
            pairs.append((opened, position))
    filled = [pair for pair in pairs if pair[1] > pair[0] + 1]
    return max(filled, key=lambda pair: pair[1] - pair[0], default=None)


def split(text: str) -> list[str]:
    """Split at commas outside of brackets and strings."""
    items, begin = [], 0
    for position, depth, quote in _scan(text):
        if text[position] == "," and depth == 0 and not quote:
            items.append(text[begin:position].strip())
            begin = position + 1
    items.append(text[begin:].strip())
    return [item for item in items if item]


def _scan(text: str) -> Iterator[tuple[int, int, str]]:
    """For each character: its position, the number of open brackets before it, and the quote of the string around
    it."""
    depth, quote, position = 0, "", 0
    while position < len(text):
        char = text[position]
        yield position, depth, quote
        if quote:
            if char == "\\":
                position += 1
            elif char == quote:
                quote = ""
        elif char in "\"'":
            quote = char
        elif char in _OPENING:
            depth += 1
        elif char in _CLOSING:
            depth -= 1
        position += 1
