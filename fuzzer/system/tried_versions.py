"""Which installed packages have versions that difftvm was not tried with. The ranges are those of its own metadata."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata

from packaging.requirements import Requirement

PROJECT = "difftvm"


def untried() -> list[str]:
    """A sentence for each package that is missing, or outside of the range that was tried."""
    try:
        needed = metadata.requires(PROJECT) or []
    except metadata.PackageNotFoundError:
        return [f"{PROJECT} is not installed, so it is not known which versions were tried"]
    return list(_sentences(map(Requirement, needed)))


def _sentences(needed: Iterator[Requirement]) -> Iterator[str]:
    for each in needed:
        if each.marker and not each.marker.evaluate({"extra": ""}):
            continue
        try:
            version = metadata.version(each.name)
        except metadata.PackageNotFoundError:
            yield f"{each.name} is not installed"
            continue
        if not each.specifier.contains(version, prereleases=True):
            yield f"{each.name} {version} was not tried, {each.specifier} was"
