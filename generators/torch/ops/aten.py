"""The operators of aten that a case may call by their exact overload: `torch.ops.aten.add.Tensor`.

Data, so that files can be checked without PyTorch: `aten.json`, which `benchmarks/aten_operators.py` writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

PREFIX = "torch.ops.aten."
FILE = Path(__file__).with_name("aten.json")


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    functional: dict[str, list[str]]
    random: dict[str, list[str]]


def _full(named: Mapping[str, list[str]]) -> Iterator[str]:
    return (f"{PREFIX}{name}.{overload}" for name, overloads in named.items() for overload in overloads)


_DOCUMENT = msgspec.json.decode(FILE.read_bytes(), type=_Document)

ATEN = frozenset(_full(_DOCUMENT.functional))
"""Those whose results depend on their operands alone, and that do nothing else."""

RANDOM = frozenset(_full(_DOCUMENT.random))
"""Those that draw random numbers."""
