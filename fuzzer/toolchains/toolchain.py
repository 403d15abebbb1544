"""A toolchain: a Python interpreter with its own torch and TVM, in which lanes run."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from fuzzer.system.child_environment import anonymous
from fuzzer.system.untrusted_files import make_folder
from fuzzer.toolchains.preload import Preload
from oracles.lane import Engine, LaneSpec, is_relay

PACKAGES = ("generators", "oracles", "fuzzer")
"""The packages of difftvm that a child imports."""

HOME = "home"
"""The name of the home folder of the lanes, in their folder for temporary files."""

_OF_ANOTHER = ("PYTHONPATH", "PYTHONHOME", "TVM_HOME", "TVM_LIBRARY_PATH")
"""Variables through which an interpreter would load a TVM other than its own."""


class GraphLanguage(StrEnum):
    """TVM's two graph languages: which one the lanes of a toolchain use."""

    RELAX = "relax"
    RELAY = "relay"


def language_of(lane: LaneSpec) -> GraphLanguage | None:
    """The graph language of a lane; None for a lane without TVM, which runs in the host."""
    if lane.engine is not Engine.TVM:
        return None
    return GraphLanguage.RELAY if is_relay(lane) else GraphLanguage.RELAX


@dataclass(frozen=True, slots=True)
class Toolchain:
    """An interpreter that runs lanes. `environment` is added to the user's when `python` starts; `preload` is executed
    before the first lane."""

    name: str
    python: str
    environment: Mapping[str, str] = field(default_factory=dict, hash=False)
    kind: GraphLanguage = GraphLanguage.RELAX
    preload: Preload | None = None

    @property
    def is_host(self) -> bool:
        """Whether it is the interpreter of the supervisor, the only one that has all references."""
        return self.name == HOST_NAME


HOST_NAME = "host"
HOST = Toolchain(HOST_NAME, sys.executable)


def toolchain_environment(toolchain: Toolchain, scratch: Path) -> dict[str, str]:
    """The environment variables in which the interpreter of a toolchain starts, with difftvm's packages on its path.

    `scratch` is an absolute path: the folder for temporary files, and for links to difftvm's packages. The interpreter
    gets links because the folder of these packages may be the host's site-packages, which has the host's torch and TVM.
    """
    variables = {**own_environment(toolchain, anonymous(_home(scratch))), "TMPDIR": str(scratch)}
    if not toolchain.is_host:
        variables["PYTHONPATH"] = _joined(str(_links(scratch / "packages")), toolchain.environment.get("PYTHONPATH"))
    return variables


def own_environment(toolchain: Toolchain, ours: Mapping[str, str]) -> dict[str, str]:
    """The environment variables with which the interpreter finds its TVM, but not difftvm's packages. `ours` are those
    of the host."""
    if toolchain.is_host:
        return {**ours, **toolchain.environment}
    kept = {key: value for key, value in ours.items() if key not in _OF_ANOTHER}
    libraries = toolchain.environment.get("LD_LIBRARY_PATH")
    if libraries is None:
        return {**kept, **toolchain.environment}
    # the user's path may lead to the driver of the GPU
    return {**kept, **toolchain.environment, "LD_LIBRARY_PATH": _joined(libraries, ours.get("LD_LIBRARY_PATH"))}


def _home(scratch: Path) -> Path:
    """Make the home folder of the lanes."""
    folder = scratch / HOME
    make_folder(folder)
    return folder


def _links(folder: Path) -> Path:
    """Make links to difftvm's packages in a folder; return the folder."""
    make_folder(folder)
    for package in PACKAGES:
        link = folder / package
        if not link.is_symlink():
            link.symlink_to(Path(__file__).parents[2] / package)
    return folder


def _joined(*paths: str | None) -> str:
    return os.pathsep.join(path for path in paths if path)
