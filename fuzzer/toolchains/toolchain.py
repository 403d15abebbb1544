"""A toolchain: a Python interpreter with its own torch and TVM, in which lanes run."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from fuzzer.system.secrets import without_secrets
from fuzzer.toolchains.preload import Preload
from oracles.lane import Engine, LaneSpec, is_relay

PACKAGES = ("generators", "oracles", "fuzzer")
"""What a child imports of ours."""

_OF_ANOTHER = ("PYTHONPATH", "PYTHONHOME", "TVM_HOME", "TVM_LIBRARY_PATH")
"""Variables that would bring another TVM into an interpreter that has its own."""


class Kind(StrEnum):
    """Which of TVM's two graph languages its lanes are written in."""

    RELAX = "relax"
    RELAY = "relay"


def language_of(lane: LaneSpec) -> Kind | None:
    """None of the engines that judge TVM: they run in the host."""
    if lane.engine is not Engine.TVM:
        return None
    return Kind.RELAY if is_relay(lane) else Kind.RELAX


@dataclass(frozen=True, slots=True)
class Toolchain:
    """`environment` is set on top of the user's own when `python` is started; `preload` is executed before any lane."""

    name: str
    python: str
    environment: Mapping[str, str] = field(default_factory=dict, hash=False)
    kind: Kind = Kind.RELAX
    preload: Preload | None = None

    @property
    def is_host(self) -> bool:
        """Whether it is the interpreter that the supervisor runs in: the one that has all references."""
        return self.name == HOST_NAME


HOST_NAME = "host"
HOST = Toolchain(HOST_NAME, sys.executable)


def surroundings(toolchain: Toolchain, scratch: Path) -> dict[str, str]:
    """The environment that its interpreter is started in. `scratch`, an absolute path, gets what it and the programs
    that it starts write for a while, and what it takes to find our packages.

    They are shown to it by links, in a folder that holds nothing else: the folder that they lie in may be the host's
    site-packages, with the host's torch and TVM in it.
    """
    mine = {**own_environment(toolchain), "TMPDIR": str(scratch)}
    if not toolchain.is_host:
        mine["PYTHONPATH"] = _joined(str(_links(scratch / "packages")), toolchain.environment.get("PYTHONPATH"))
    return mine


def own_environment(toolchain: Toolchain) -> dict[str, str]:
    """What its interpreter needs to find its TVM, without our packages."""
    inherited = without_secrets(os.environ.items())
    if toolchain.is_host:
        return {**inherited, **toolchain.environment}
    mine = {**{key: value for key, value in inherited.items() if key not in _OF_ANOTHER}, **toolchain.environment}
    if "LD_LIBRARY_PATH" in toolchain.environment:  # the user's may be where the driver of the GPU is
        mine["LD_LIBRARY_PATH"] = _joined(toolchain.environment["LD_LIBRARY_PATH"], os.environ.get("LD_LIBRARY_PATH"))
    return mine


def _links(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        link = folder / package
        if not link.is_symlink():
            link.symlink_to(Path(__file__).parents[2] / package)
    return folder


def _joined(*paths: str | None) -> str:
    return os.pathsep.join(path for path in paths if path)
