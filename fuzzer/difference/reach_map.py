"""Which operators reach which part of TVM: functions of its Python, operators of Relax, kernels, passes.

The map is kept with the toolchain (`fuzzer.difference.measured_map` makes it), and is made again where the versions are
others.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from fuzzer.system.files import make_folder, write_atomically
from fuzzer.toolchains import installation, registry
from fuzzer.toolchains.toolchain import HOST_NAME, Toolchain
from generators.graph import Invalid
from generators.plain_file import MOST_DOCUMENT, read_plain

FORMAT = 1


class ReachMap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """rows      names of rows
    reaching  by what is reached, the numbers of the rows whose case did: functions (`relax/op/nn/nn.py softmax`),
              `operator relax.nn.softmax`, `pass FuseOps`, `kernel softmax`
    """

    format: int
    versions: dict[str, str]
    rows: list[str]
    reaching: dict[str, list[int]]
    cpu_seconds: float

    def rows_of(self, name: str) -> list[str]:
        """The rows that reach a part."""
        return [self.rows[row] for row in self.reaching.get(name, ())]

    def names_of(self, wanted: str) -> list[str]:
        """The parts that a user's word means: one of these names, a function by the end of its qualified name, or all
        functions of a file. Files may be named as in TVM's repository."""
        file = wanted.rpartition("python/tvm/")[2].removeprefix("tvm/")
        if wanted in self.reaching:
            return [wanted]
        ends = (f" {wanted}", f".{wanted}")
        return sorted(name for name in self.reaching if name.endswith(ends) or name.startswith(f"{file} "))


def place(toolchain: Toolchain) -> Path:
    """The file that keeps the map of a toolchain."""
    if toolchain.is_host:
        return installation.cache() / "reach" / f"{HOST_NAME}.json"
    return registry.root() / toolchain.name / "reach.json"


def kept(toolchain: Toolchain, versions: Mapping[str, str] | None = None) -> ReachMap | None:
    """The map that is kept; None where there is none, or where it was made with other versions than these."""
    path = place(toolchain)
    try:
        found = msgspec.json.decode(read_plain(path, MOST_DOCUMENT), type=ReachMap)
    except (OSError, msgspec.DecodeError, Invalid):
        return None
    return found if found.format == FORMAT and versions in (None, found.versions) else None


def keep(toolchain: Toolchain, reach_map: ReachMap) -> None:
    path = place(toolchain)
    make_folder(path.parent)
    write_atomically(path, msgspec.json.encode(reach_map))
