"""The two toolchains that `fuzz diff` compares: the base, and the patched one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from fuzzer.toolchains import registry
from fuzzer.toolchains.lanes import in_toolchain
from fuzzer.toolchains.preload import read as read_preload
from fuzzer.toolchains.toolchain import HOST, HOST_NAME, Toolchain
from generators.graph import Invalid
from oracles.lane import Engine, LaneSpec

BASE_NAME = "base"
"""The name of the base in lanes, where the patched toolchain is the same interpreter. No finding has it: findings are
on lanes of the patched toolchain."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The base and the patched toolchain, whose names differ. References run in the host."""

    base: Toolchain
    patched: Toolchain

    def find(self, name: str) -> Toolchain:
        """The toolchain of this name. Raise `EnvironmentMissing` where there is none."""
        for toolchain in (self.base, self.patched):
            if toolchain.name == name:
                return toolchain
        return HOST if name == HOST_NAME else registry.find(name)

    @property
    def is_one_installation(self) -> bool:
        """Whether both are the same TVM, which differs by what a preloaded file changes."""
        return self.base.python == self.patched.python and self.base.environment == self.patched.environment

    @property
    def name_of_base(self) -> str:
        """The name under which other commands know the base."""
        return self.patched.name if self.base.name == BASE_NAME else self.base.name

    def is_patched(self, lane: LaneSpec) -> bool:
        """Whether TVM runs in the lane, in the patched toolchain."""
        return lane.engine is Engine.TVM and lane.toolchain == self.patched.name

    def twin(self, lane: LaneSpec) -> LaneSpec:
        """The same lane in the base."""
        return in_toolchain(lane, self.base.name)


def pair(base: str, patched: str, base_preload: Path | None, patched_preload: Path | None) -> Pair:
    """The pair by the names of its toolchains, each with a file to execute in it or None. Raise `Invalid` where they
    are the same, and `EnvironmentMissing` where one is not installed."""
    for name in (base, patched):
        if name == BASE_NAME:
            raise Invalid(f"a toolchain with the name {name!r} cannot be compared")
    first, second = _with_preload(base, base_preload), _with_preload(patched, patched_preload)
    if first == second:
        raise Invalid(
            f"the base and the patched toolchain are the same ({described(first)}); name two toolchains with --base and"
            " --patched, or a file with the change: --patched-preload FILE.py"
        )
    if first.kind is not second.kind:
        raise Invalid(f"{first.name!r} compiles {first.kind}, and {second.name!r} compiles {second.kind}")
    if first.name == second.name:
        first = replace(first, name=BASE_NAME)
    return Pair(first, second)


def _with_preload(name: str, path: Path | None) -> Toolchain:
    toolchain = registry.find(name)
    return replace(toolchain, preload=read_preload(path)) if path else toolchain


def described(toolchain: Toolchain) -> str:
    """Its name, and the file that is executed in it."""
    name = HOST_NAME if toolchain.name == BASE_NAME else toolchain.name
    return f"{name} with {toolchain.preload.note}" if toolchain.preload else name
