"""What TVM's importers do not take, and so campaigns draw seldom: a graph with one such operator tests nothing else on
that road.

`unsupported.txt` is printed by `benchmarks/support.py`, for the TVM of constraints.txt. It changes what is drawn and
nothing else: an operator that stands in it wrongly is still drawn, and judged like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from generators.choice import ChoiceSource
from generators.ops import OPS, Op
from oracles.lane import Importer

IMPORTERS = (Importer.EXPORT, Importer.ONNX, Importer.FX)
"""Those that are asked."""


def _read(text: str) -> Mapping[str, frozenset[Importer]]:
    lines = (line.partition(": ") for line in text.splitlines())
    return {name: frozenset(map(Importer, importers.split())) for name, _, importers in lines}


UNSUPPORTED = _read((files("fuzzer.campaign") / "unsupported.txt").read_text())
"""By operator."""


def _taken_by(*importers: Importer) -> tuple[Op, ...]:
    return tuple(op for op in OPS if not UNSUPPORTED.get(op.name, frozenset()) & set(importers))


_MIXES: tuple[tuple[int, tuple[Op, ...]], ...] = (
    (50, _taken_by(Importer.EXPORT, Importer.ONNX)),
    (75, _taken_by(Importer.EXPORT)),
    (85, _taken_by(Importer.EXPORT, Importer.FX)),
    (95, _taken_by(Importer.ONNX)),
    (100, OPS),
)
"""Up to which percent of all cases; the operators they are drawn from."""


def operators(source: ChoiceSource) -> tuple[Op, ...]:
    """What a case is drawn from: mostly what several roads take, sometimes anything."""
    percent = source.integer(1, 100)
    return next(ops for limit, ops in _MIXES if percent <= limit)


SAME_ROUTE = {Importer.EXPORT_TVM: Importer.EXPORT, Importer.DYNAMO: Importer.FX}
"""Importers that read the same graph by the same converters."""


def supports(importer: Importer, ops: frozenset[str]) -> bool:
    """Whether nothing is known among the operators that this importer does not take."""
    asked = SAME_ROUTE.get(importer, importer)
    return not any(asked in UNSUPPORTED.get(name, frozenset()) for name in ops)
