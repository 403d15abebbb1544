"""What `fuzz ops --coverage` shows of the toy."""

from __future__ import annotations

from rich.console import Console

from fuzzer.coverage.measure import CoverageOptions
from fuzzer.coverage.shown import Shown
from generators.toy.rows import OPS


def shown(options: CoverageOptions, console: Console) -> Shown:
    return Shown({"rows": len(OPS)}, [f"{len(OPS)} rows, which is all that the toy has"])
