"""Tables that commands print: a line of names, and a line for each row, in columns two blanks apart."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence

from fuzzer.system.terminal import echo, printable


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows as the terminal may show them."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    echo(*table_lines(columns, rows, width), sep="\n")


def table_lines(columns: Sequence[str], rows: Iterable[Sequence[str]], width: int | None = None) -> Iterator[str]:
    """A row with several lines is one line, so that each tool that reads lines can read it. Where the columns do not
    fit into `width`, only the first one is a column: the other cells follow it, with commas."""
    cells = [[" ".join(printable(cell).split()) for cell in row] for row in (columns, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    fits = width is None or sum(widths) + 2 * len(widths) <= width
    for first, *rest in cells:
        shown = "  ".join(map(str.ljust, rest, widths[1:])) if fits else ", ".join(filter(None, rest))
        yield f"{first:{widths[0]}}  {shown}".rstrip()
