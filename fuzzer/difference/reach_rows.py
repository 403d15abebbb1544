"""The rows whose cases make the map: all of a dialect without versions, and the newest of each operator otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from generators.dialect import dialects
from generators.op import Op


def rows_of_map() -> Mapping[str, Sequence[Op]]:
    """By dialect. The older versions of an operator reach mostly the same."""
    return {
        dialect.name: dialect.rows_at(max(dialect.opsets.drawn()) if dialect.opsets else 0) for dialect in dialects()
    }
