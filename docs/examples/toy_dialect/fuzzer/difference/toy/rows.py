"""The rows of the toy that a converter reads: none, because none is in TVM."""

from __future__ import annotations

from collections.abc import Iterator

from generators.toy.rows import OPS

TABLES: tuple[str, ...] = ()


def rows_of_converter(name: str) -> Iterator[str]:
    yield from ()


def rows_of_rule(name: str) -> tuple[str, ...]:
    return ()


def rows_of_word(word: str) -> Iterator[str]:
    return (op.name for op in OPS if op.name.rpartition(".")[2] == word)
