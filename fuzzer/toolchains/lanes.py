"""Lanes in another toolchain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fuzzer.isolate.toolchain import HOST_NAME
from fuzzer.toolchains import registry
from oracles.lane import LaneSpec


def in_toolchain(lane: LaneSpec, toolchain: str) -> LaneSpec:
    """The same road in another toolchain, named e.g. `relax-export-llvm@0.26.0`."""
    plain = lane.name.partition("@")[0]
    if registry.is_host(toolchain):
        return replace(lane, name=plain, toolchain=HOST_NAME)
    return replace(lane, name=f"{plain}@{toolchain}", toolchain=toolchain)


def in_toolchains(lanes: Sequence[LaneSpec], toolchains: Sequence[str]) -> tuple[LaneSpec, ...]:
    """Each lane in each of them."""
    return tuple(in_toolchain(lane, toolchain) for toolchain in toolchains for lane in lanes)
