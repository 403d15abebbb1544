"""Why a key of a converter table is not reached: reviewed by people, printed by `fuzz ops --coverage`.

A key without a reason that is not reached is a gap. A reason for a key that is reached, or that no table has, is stale.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from fuzzer.coverage.question import Table


class Kind(StrEnum):
    IMPOSSIBLE = "impossible"  # no PyTorch program becomes this
    LEFT_OUT = "left out"  # programs could, and the generator does not make them


@dataclass(frozen=True, slots=True)
class Reason:
    table: Table
    kind: Kind
    text: str
    keys: tuple[str, ...]


def _no(table: Table, text: str, keys: str) -> Reason:
    return Reason(table, Kind.IMPOSSIBLE, text, tuple(keys.split()))


def _out(table: Table, text: str, keys: str) -> Reason:
    return Reason(table, Kind.LEFT_OUT, text, tuple(keys.split()))


REASONS: tuple[Reason, ...] = ()


def of(table: Table, key: str) -> Reason | None:
    return next((reason for reason in REASONS if reason.table is table and key in reason.keys), None)


def stale(tables: Mapping[Table, frozenset[str]], reached: Mapping[Table, Mapping[str, str]]) -> Iterator[str]:
    """Entries that say nothing of this TVM, or nothing true."""
    for reason in REASONS:
        for key in reason.keys:
            if key not in tables[reason.table]:
                yield f"{reason.table}: {key} stands in no table any more"
            elif key in reached[reason.table]:
                yield f"{reason.table}: {key} is reached by {reached[reason.table][key]}"
