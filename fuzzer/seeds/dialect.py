"""What a dialect makes of files: one record for each, in `fuzzer/seeds/<dialect>/dialect.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fuzzer.seeds.resolved import Resolved
from generators.dialect import part_of
from generators.domain import Domain
from generators.graph import Array, Node
from generators.op import Types


@dataclass(frozen=True, slots=True, kw_only=True)
class DialectSeeds:
    """How files become cases of a dialect.

    resolve  by suffix, what makes a model in its rows of a file that was read, its path, and inputs that a person gives
    needed   the domain that a node needs for its operand of this number
    copies   whether the results of a node have the elements of this operand, and nothing else is computed
    """

    resolve: Mapping[str, Callable[[Any, Path, Mapping[str, Array]], Resolved]]
    needed: Callable[[Node, int, Types], Domain]
    copies: Callable[[Node, int], bool]


@cache
def seeds_of(dialect: str) -> DialectSeeds:
    found: DialectSeeds = part_of(dialect, "fuzzer.seeds.{}.dialect").SEEDS
    return found
