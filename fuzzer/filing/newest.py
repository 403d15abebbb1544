"""The newest release of TVM that is installed on this machine."""

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
    """The newest release with Relax among the host and the toolchains; the host if two are equal. Raise `Invalid` if a
    toolchain's record cannot be read."""
    records = [registry.read(name) for name in registry.names()]
    others = [Newest(each.name, each.versions["tvm"]) for each in records if each.kind is GraphLanguage.RELAX]
    host = Newest(HOST_NAME, registry.host_release() or "")
    return max((host, *others), key=lambda each: order(each.release))


def order(release: str) -> Version:
    """The sort key of a release. A build without a release number comes first."""
    try:
        return Version(release)
    except InvalidVersion:
        return Version("0.dev0")
