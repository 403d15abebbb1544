"""The rows of Relax that a converter reads: none, because no importer converts their modules. A legalization, a
gradient and a pass name operators, which are rows themselves."""

from __future__ import annotations

from collections.abc import Iterator

from generators.relax.ops import OPS

TABLES: tuple[str, ...] = ()


def rows_of_converter(name: str) -> Iterator[str]:
    """No names of rows."""
    yield from ()


def rows_of_rule(name: str) -> tuple[str, ...]:
    """None: the lanes that compare schedules run cases of PyTorch."""
    return ()


def rows_of_word(word: str) -> Iterator[str]:
    """The rows of operators of this name, in small letters without underscores: `relax.nn.conv2d` for `conv2d`."""
    return (op.name for op in OPS if op.name.rpartition(".")[2].replace("_", "") == word)
