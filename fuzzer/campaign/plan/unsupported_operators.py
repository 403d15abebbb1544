"""Operators that TVM's importers do not support. Campaigns draw them seldom, because a graph with one such operator
tests nothing else on that route.

`benchmarks/support.py` prints `unsupported.txt`, for the TVM of constraints.txt. The file changes only how often
operators are drawn. An operator that is listed wrongly is still drawn, and judged like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from oracles.importers import Importer


def _read(text: str) -> Mapping[str, frozenset[Importer]]:
    lines = (line.partition(": ") for line in text.splitlines())
    return {name: frozenset(map(Importer, importers.split())) for name, _, importers in lines}


UNSUPPORTED = _read((files("fuzzer.campaign.plan") / "unsupported.txt").read_text())
"""By operator, the importers that do not support it."""


def supports(importer: Importer, ops: frozenset[str]) -> bool:
    """Whether no operator is known to be unsupported by the importer."""
    route = importer.route
    return not any(route in UNSUPPORTED.get(name, ()) for name in ops)
