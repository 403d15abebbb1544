"""The newest TVM that is installed here."""

from __future__ import annotations

from dataclasses import dataclass

from packaging.version import InvalidVersion, Version

from fuzzer.toolchains import registry
from fuzzer.toolchains.toolchain import HOST_NAME, GraphLanguage


@dataclass(frozen=True, slots=True)
class Newest:
    """A toolchain and its release of TVM."""

    toolchain: str
    release: str


def newest() -> Newest:
    """Of the releases that speak Relax, the host's among them, which wins a tie. Raise `Invalid` where a toolchain's
    record cannot be read."""
    records = [registry.read(name) for name in registry.names()]
    others = [Newest(each.name, each.versions["tvm"]) for each in records if each.kind is GraphLanguage.RELAX]
    host = Newest(HOST_NAME, registry.host_release() or "")
    return max((host, *others), key=lambda each: order(each.release))


def order(release: str) -> Version:
    """A build that names no release comes before all that do."""
    try:
        return Version(release)
    except InvalidVersion:
        return Version("0.dev0")
