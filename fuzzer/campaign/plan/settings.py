"""The settings of a campaign, as frozen values. The command line makes them once."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fuzzer.campaign.plan.aim import Aim, Covering, Model
from fuzzer.campaign.plan.configurations import Configurations
from fuzzer.campaign.plan.test_numbers import ALL, Share
from fuzzer.seeds.around import Around
from fuzzer.system.free_space import RESERVE
from generators.builder import Limits
from generators.dialect import dialect_named
from generators.dialect_names import DEFAULT, NAMES
from generators.op import Op
from oracles.lane import LaneSpec

DRAWN = 3
"""How many lanes the default mix draws for each test."""


@dataclass(frozen=True, slots=True)
class LaneMix:
    """Which lanes a test takes (`fuzzer.campaign.lanes.lane_mix`; with tiers, `fuzzer.campaign.test.tier_lanes`).

    always   every test without tiers takes these. The importers of their toolchains are those of tier 1
    in_turn  every test without tiers takes one of these. With tiers, they are candidates for tier 2
    often    some tests without tiers take these. With tiers, they are candidates for tier 2
    drawn    this many lanes are drawn for each test without tiers. With tiers, 0 means that none is drawn
    steered  whether tests have tiers, and an importer seldom gets an operator that it is known not to support. Lanes
             that the user named run in every test, without tiers
    configurations  each test takes some of these, without tiers
    """

    always: tuple[LaneSpec, ...] = ()
    in_turn: tuple[LaneSpec, ...] = ()
    often: tuple[LaneSpec, ...] = ()
    drawn: int = 0
    steered: bool = False
    configurations: Configurations | None = None


@dataclass(frozen=True, slots=True)
class RunLimits:
    """When this run of the campaign ends: after this many seconds, tests or new findings. None means no limit. Without
    `aliasing`, an output that shares memory with an input is not counted among the new findings. `clock` tells the time
    in seconds."""

    seconds: float | None = None
    tests: int | None = None
    new_findings: int | None = None
    aliasing: bool = True
    clock: Callable[[], float] = field(default=time.monotonic, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Disk:
    """Bytes: `limit` is the most that the campaign's directory may take, `reserve` must stay free on its file system
    (`fuzzer.campaign.store.disk_space`)."""

    limit: int | None = None
    reserve: int = RESERVE


SCOPES = 0.1
"""The part of the CPU of triage that `fuzz run` spends on scopes. A scope costs some five times what an investigation
costs."""


@dataclass(frozen=True, slots=True)
class TriageLimits:
    """`share` is the least part of the CPU for triage while sightings wait (`triage.triage_share`). `drain` is
    how many seconds a run that has ended its tests may go on with triage. `scopes` is the part of the CPU of triage
    that finds the scope of new findings while sightings wait; with 0, none is found. Where `only` has names of
    sightings, no other is investigated."""

    share: float = 0.35
    drain: float = math.inf
    scopes: float = 0.0
    only: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Settings:
    """`ops` and `limits` say what is drawn: by dialect, its operators. A dialect of which there are none is not drawn.
    `share` says which tests of the seed are run. Where there is a model `around`, cases are made of it. In a `guided`
    campaign, the results of earlier tests decide what comes next. `releases` are toolchains in which no test runs: new
    findings are run in them too."""

    campaign: Path
    seed: int
    lanes: LaneMix = LaneMix()
    run: RunLimits = RunLimits()
    disk: Disk = Disk()
    triage: TriageLimits = TriageLimits()
    workers: int = 1
    ops: Mapping[str, tuple[Op, ...]] = field(default_factory=lambda: {DEFAULT: dialect_named(DEFAULT).drawn()})
    limits: Limits = field(default_factory=Limits)
    around: Around | None = None
    share: Share = ALL
    guided: bool = False
    releases: tuple[str, ...] = ()
    json: bool = False

    @property
    def dialects(self) -> tuple[str, ...]:
        """The dialects of the cases that are drawn."""
        return tuple(name for name in NAMES if self.ops.get(name))

    @property
    def draws_all_operators(self) -> bool:
        """Whether all operators of each dialect that is drawn are drawn."""
        return all(map(self.draws_all_of, self.dialects))

    def draws_all_of(self, dialect: str) -> bool:
        """Whether all operators of a dialect that is drawn are drawn."""
        return self.ops[dialect] is dialect_named(dialect).drawn()

    @property
    def aim(self) -> Aim:
        """What the run is aimed at, for people."""
        around, configurations = self.around, self.lanes.configurations
        model, covering = None, None
        if around:
            model = Model(len(around.pieces), dict(around.calls), dict(around.lacking))
        if configurations:
            rows, listed = list(configurations.rows), configurations.listed
            covering = Covering(listed.n, rows, configurations.tuples, configurations.prefix)
        return Aim(model, covering)
