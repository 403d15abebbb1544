"""What campaigns draw seldom: operators that no importer of TVM takes. A graph with one of them tests nothing else.

`unsupported.txt` is printed by `benchmarks/support.py`, for the TVM of constraints.txt. It changes what is drawn and
nothing else: an operator that stands in it wrongly is still drawn, and judged like any other.
"""

from __future__ import annotations

from importlib.resources import files

from generators.ops import OPS, Op

TIMES = 8
"""How often a supported operator is drawn for each time that an unsupported one is."""

UNSUPPORTED = frozenset((files("fuzzer") / "unsupported.txt").read_text().split())

FAVOURED: tuple[Op, ...] = tuple(op for op in OPS for _ in range(1 if op.name in UNSUPPORTED else TIMES))
