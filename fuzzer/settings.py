"""What a campaign is asked to do: one frozen value, made by the command line."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from fuzzer.campaign.numbers import ALL, Share
from fuzzer.campaign.room import RESERVE
from generators.builder import Limits
from generators.ops import OPS, Op
from oracles.lane import LaneSpec

DRAWN = 3
"""Lanes that are drawn for each test: of the default mix, see benchmarks/throughput.py."""


@dataclass(frozen=True, slots=True)
class Settings:
    """`seconds`, `tests` and `until_new`, that many new findings, bound this run, not the campaign; None is no bound.
    `disk_limit` and `disk_reserve` are in bytes (`fuzzer.campaign.room`).

    Every test takes `lanes`, one of the `sampled` ones in turn, and so many that are `drawn` for it alone; some tests
    take `often` (`fuzzer.campaign.mix`). Where lanes are `steered`, what an importer is known not to take is seldom
    tried on it; lanes that somebody asked for are not. Where it is `guided`, what tests showed decides what comes next.
    New findings are held against the toolchains of `releases` as well, where no test's lanes run.
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
    steered: bool = False
    often: tuple[LaneSpec, ...] = ()
    drawn: int = 0
    guided: bool = False
    releases: tuple[str, ...] = ()
    until_new: int | None = None
    share: Share = ALL
    disk_limit: int | None = None
    disk_reserve: int = RESERVE
