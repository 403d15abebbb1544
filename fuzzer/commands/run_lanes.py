"""The lanes and the dialects of `fuzz run`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fuzzer.campaign.plan.configuration_file import PLAIN as USUAL
from fuzzer.campaign.plan.own_lanes import PLAIN, own_lanes
from fuzzer.campaign.plan.selection import lanes_named
from fuzzer.campaign.plan.settings import DRAWN, LaneMix
from fuzzer.lanes import DIALECT_LANES, RELAY_OFTEN, RELAY_ROUTES, RELAY_SAMPLED
from fuzzer.lanes.base.availability import available
from fuzzer.toolchains.lanes import in_toolchains
from fuzzer.toolchains.toolchain import HOST, Toolchain
from generators.dialect import dialect_named
from generators.dialect_names import NAMES
from generators.graph import Invalid
from oracles.lane import LaneSpec


def lanes_of_run(globs: str, where: Sequence[Toolchain], own: Sequence[LaneSpec]) -> LaneMix:
    """The default mix; or the lanes that the user named, and those of the user's own passes."""
    if own or globs != "*":
        plain = (PLAIN,) if globs == "*" else lanes_named(globs)
        return LaneMix((*in_toolchains(plain, where), *own))
    each = DIALECT_LANES.values()
    sampled = available([lane for lanes in each for lane in lanes.sampled])
    return LaneMix(
        in_toolchains((*(lane for lanes in each for lane in lanes.screening), *RELAY_ROUTES), where),
        in_toolchains((*sampled, *RELAY_SAMPLED), where),
        in_toolchains((*(lane for lanes in each for lane in lanes.often), *RELAY_OFTEN), where),
        DRAWN if HOST in where else 0,
        steered=True,
    )


def with_own_passes(names: Sequence[str], where: Sequence[Toolchain], preload: Path | None) -> tuple[LaneSpec, ...]:
    """The lanes of the user's own passes. Raise `Invalid` where no file can register them."""
    if names and preload is None:
        raise Invalid(f"--own-pass {names[0]} needs --preload FILE.py, the file that registers the pass")
    return in_toolchains([lane for name in names for lane in own_lanes(name)], where)


def dialects_of_run(names: str, lanes: Sequence[LaneSpec], listed: bool) -> str:
    """The dialects that were asked for, without those whose cases no lane runs. Raise `Invalid` where none is left.
    `listed`: whether lanes compile configurations of the user. Their importers read cases of PyTorch."""
    run = {USUAL.dialect} if listed else {lane.dialect for lane in lanes}
    wanted = [name.strip() for name in names.split(",")]
    left = [name for name in wanted if name in run or name not in NAMES]
    if not left and listed:
        only = dialect_named(USUAL.dialect).title
        raise Invalid(f"--configurations compiles cases of {only} only, so it excludes --dialect {names}")
    if not left:
        raise Invalid(f"--dialect {names}: no lane of this run has cases of {' or '.join(wanted)}")
    return ",".join(left)
