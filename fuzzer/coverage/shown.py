"""What `fuzz ops --coverage` shows of a dialect: `fuzzer/coverage/<dialect>/shown.py` measures it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console

from fuzzer.coverage.measure import CoverageOptions
from generators.dialect import part_of


@dataclass(frozen=True, slots=True)
class Shown:
    """A measured coverage, for `--json` and as lines."""

    document: object
    lines: Iterable[str]


def shown(dialect: str, options: CoverageOptions, console: Console) -> Shown:
    """Measure the coverage of the rows of a dialect. The console shows how far it is."""
    found: Shown = part_of(dialect, "fuzzer.coverage.{}.shown").shown(options, console)
    return found
