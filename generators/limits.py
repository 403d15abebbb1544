"""How large a graph may become, and which sizes are drawn."""

from __future__ import annotations

from dataclasses import dataclass

SIZES = (1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 13, 16)
TILES = (15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129)
LONG = (2047, 2048, 2049, 2053)


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a generated graph may become. `max_work` counts multiply-adds (terms x elements), over all nodes."""

    max_nodes: int = 8
    max_numel: int = 4096
    max_bytes: int = 64 << 20
    max_work: int = 50_000_000
