"""From the entries of TVM that differ to the operators of the tables whose cases run them, without a run.

A converter is found by what it converts (`fuzzer/difference/<dialect>/rows.py`). The rows of a legalization or gradient
are those of the converters that make its operator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from fuzzer.difference.changed_entries import ChangedEntry, ChangedTable
from fuzzer.toolchains.code_entries import Kind
from generators.dialect import dialect_named, part_of
from generators.dialect_names import NAMES
from generators.table import TABLE
from oracles.transforms import TRANSFORMS

_RELAX = re.compile(r"relax(?:\.op)?(?:\.nn|\.image|\.memory|\.vision)?\.[a-z]\w+")


def touched_rows(entry: ChangedEntry, table: ChangedTable) -> frozenset[str]:
    """The names of the rows whose cases run an entry; empty where they are not known, or where all are."""
    match entry.kind:
        case Kind.CONVERTER:
            return rows_of_converter(entry.name)
        case Kind.LEGALIZATION | Kind.GRADIENT:
            return rows_of_operator(entry.name, table)
        case Kind.PASS:
            return _rewritten_by(entry.name.rpartition(".")[2])
        case Kind.SCHEDULE:
            return _of_rule(entry.name.rpartition(".")[2])
        case _:
            return frozenset()


def hinted_rows(entries: Iterable[ChangedEntry], text: str, table: ChangedTable) -> frozenset[str]:
    """The rows that the code of changed passes names: operators of Relax that it makes or looks for, and words of its
    texts. `text` is the text of the changed code."""
    operators = {operator for entry in entries for operator in entry.operators}
    operators |= {name.replace("relax.op.", "relax.") for name in _RELAX.findall(text)}
    words = {_plain(word) for quoted in re.findall(r"[\"']([\w.]+)[\"']", text) for word in quoted.split(".")}
    named = (name for word in words for name in _rows_of_word(word))
    return frozenset((*named, *(name for operator in operators for name in rows_of_operator(operator, table))))


def rows_of_operator(operator: str, table: ChangedTable) -> frozenset[str]:
    """The rows that become an operator of Relax, or that are one."""
    makers = table.makers.get(operator, ())
    made = frozenset(name for maker in makers for name in rows_of_converter(maker))
    named = made or frozenset(_rows_of_word(_plain(operator.rpartition(".")[2])))
    return named | {operator} if operator in TABLE else named


@cache
def rows_of_converter(name: str) -> frozenset[str]:
    """The rows that become a call that a converter reads, by the name of its entry."""
    table, _, key = name.partition(" ")
    modules = (part_of(dialect, "fuzzer.difference.{}.rows") for dialect in NAMES)
    return frozenset(row for module in modules if table in module.TABLES for row in module.rows_of_converter(key))


def _rows_of_word(word: str) -> Iterator[str]:
    for dialect in NAMES:
        yield from part_of(dialect, "fuzzer.difference.{}.rows").rows_of_word(word)


def _of_rule(name: str) -> frozenset[str]:
    modules = (part_of(dialect, "fuzzer.difference.{}.rows") for dialect in NAMES)
    return frozenset(row for module in modules for row in module.rows_of_rule(name))


def _rewritten_by(name: str) -> frozenset[str]:
    """The rows of the classes of operators that a pass rewrites."""
    passes = [row for row in TRANSFORMS if row.pass_name == name and row.relevant]
    every = (op for dialect in NAMES for op in dialect_named(dialect).drawn())
    return frozenset(op.name for op in every if any(row.rewrites(op) for row in passes))


def _plain(name: str) -> str:
    return name.replace("_", "").lower()
