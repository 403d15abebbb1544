"""What a campaign is asked to do: one frozen value, made by the command line."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from generators.builder import Limits
from generators.ops import OPS, Op
from oracles.lane import LaneSpec


@dataclass(frozen=True, slots=True)
class Settings:
    """`seconds` and `tests` bound this run, not the campaign; None is no bound.

    Every test takes `lanes`, and one of the `sampled` ones in turn.
    """

    campaign: Path
    seed: int
    lanes: tuple[LaneSpec, ...]
    sampled: tuple[LaneSpec, ...] = ()
    seconds: float | None = None
    tests: int | None = None
    workers: int = 1
    ops: tuple[Op, ...] = OPS
    limits: Limits = field(default_factory=Limits)
    json: bool = False
