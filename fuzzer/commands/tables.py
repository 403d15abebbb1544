"""Tables that commands print: a line of names, and a line for each row, in columns two blanks apart."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from fuzzer.system.terminal import echo, printable


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows as the terminal may show them."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    echo(*table_lines(columns, rows, width), sep="\n")


LEAST = 24
"""A column that has no more room than this is not wrapped."""


def table_lines(columns: Sequence[str], rows: Iterable[Sequence[str]], width: int | None = None) -> Iterator[str]:
    """A row with several lines is one line, so that each tool that reads lines can read it. Where the columns do not
    fit into `width`, the widest one is wrapped at blanks; where little room is left for that, only the first one is a
    column, and the other cells follow it, with commas."""
    cells = [[" ".join(printable(cell).split()) for cell in row] for row in (columns, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    widest = max(range(1, len(widths)), key=widths.__getitem__)
    excess = 0 if width is None else max(0, sum(widths) + 2 * len(widths) - width)
    if excess and widths[widest] - excess < LEAST:
        for first, *rest in cells:
            yield f"{first:{widths[0]}}  {', '.join(filter(None, rest))}".rstrip()
        return
    widths[widest] -= excess
    for row in cells:
        for number, part in enumerate(wrap(row[widest], widths[widest]) or [""]):
            shown = [part if place == widest else cell if not number else "" for place, cell in enumerate(row)]
            yield "  ".join(map(str.ljust, shown, widths)).rstrip()
