"""Lanes in toolchains other than the host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fuzzer.toolchains import registry
from fuzzer.toolchains.toolchain import Toolchain, language_of
from generators.graph import Invalid
from oracles.lane import LaneSpec


def named(names: str) -> tuple[Toolchain, ...]:
    """The toolchains of a comma-separated list. Raise `EnvironmentMissing` where one of them is not there."""
    return tuple(dict.fromkeys(registry.find(name.strip()) for name in names.split(",")))


def in_toolchain(lane: LaneSpec, toolchain: str) -> LaneSpec:
    """The same lane in another toolchain. The lane keeps its name: a bug that two releases have is one bug."""
    return replace(lane, toolchain=toolchain)


def in_toolchains(lanes: Sequence[LaneSpec], toolchains: Sequence[Toolchain]) -> tuple[LaneSpec, ...]:
    """Each lane in each toolchain of its graph language. Raise `Invalid` where a toolchain can run none of them."""
    chosen: list[LaneSpec] = []
    for toolchain in toolchains:
        possible = [in_toolchain(lane, toolchain.name) for lane in lanes if runs_in(lane, toolchain)]
        if lanes and not possible:
            listed = ", ".join(lane.name for lane in lanes)
            raise Invalid(f"toolchain {toolchain.name!r} runs lanes of {toolchain.kind}, and none of these: {listed}")
        chosen += possible
    return tuple(chosen)


def runs_in(lane: LaneSpec, toolchain: Toolchain) -> bool:
    """Whether the toolchain can run the lane. The host runs the lanes without TVM; a TVM lane needs a toolchain of its
    graph language."""
    language = language_of(lane)
    return toolchain.is_host if language is None else language is toolchain.kind
