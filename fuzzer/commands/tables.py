"""Tables that commands print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from fuzzer.system.terminal import printable


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows as the terminal may show them. The last column, or one without a name, may take several lines."""
    table = Table(box=None)
    for column in columns:
        table.add_column(column, no_wrap=column not in ("", columns[-1]), overflow="fold")
    for row in rows:
        table.add_row(*map(printable, row))
    Console(markup=False, emoji=False).print(table)
