"""The rows of all dialects, by name. Those of a dialect are loaded when a name is in no dialect before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from generators.dialect import Dialect, dialects
from generators.op import Op


def dialect_of(row: str) -> Dialect:
    """The dialect that has a row of this name. Raise KeyError where none has."""
    for dialect in dialects():
        if row in dialect.rows():
            return dialect
    raise KeyError(row)


class _Table(Mapping[str, Op]):
    def __getitem__(self, name: str) -> Op:
        return dialect_of(name).rows()[name]

    def __iter__(self) -> Iterator[str]:
        for dialect in dialects():
            yield from dialect.rows()

    def __len__(self) -> int:
        return sum(len(dialect.rows()) for dialect in dialects())


TABLE: Mapping[str, Op] = _Table()
