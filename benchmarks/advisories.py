"""List the known vulnerabilities of the versions that the project is tested with, without a network.

    python benchmarks/advisories.py all.zip

`all.zip` has all records of PyPI: https://google.github.io/osv.dev/data/ says where it is. Reads records in the format
of https://ossf.github.io/osv-schema/ from JSON files, folders and zip archives. Packages and versions are those of
`constraints.txt`, `hashes.txt` and `hashes-torch.txt`. Exits with 1 where a record concerns one of them, or where a
record cannot be decided.
"""

from __future__ import annotations

import argparse
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
from dependencies import pinned
from hashes import all_pins
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

ECOSYSTEM = "PyPI"
IN_GIT = "GIT"


class Package(msgspec.Struct):
    ecosystem: str = ""
    name: str = ""


class Range(msgspec.Struct):
    """`events` are in any order. Each has one key: introduced, fixed, last_affected or limit."""

    type: str = ""
    events: list[dict[str, str]] = []


class Affected(msgspec.Struct):
    package: Package = msgspec.field(default_factory=Package)
    ranges: list[Range] = []
    versions: list[str] = []


class Record(msgspec.Struct):
    id: str
    summary: str = ""
    aliases: list[str] = []
    withdrawn: str = ""
    affected: list[Affected] = []


@dataclass(frozen=True, slots=True)
class Concern:
    """A record that concerns a version of a package. `doubt` says why this is not certain."""

    record: Record
    package: str
    version: str
    fixed: tuple[str, ...]
    doubt: str = ""

    def __str__(self) -> str:
        names = ", ".join([self.record.id, *self.record.aliases])
        end = f"; fixed in {', '.join(self.fixed)}" if self.fixed else "; no fixed version is known"
        doubt = f"; undecided: {self.doubt}" if self.doubt else ""
        return f"{self.package} {self.version}: {names}: {self.record.summary or '(no summary)'}{end}{doubt}"


def records(paths: Iterable[Path]) -> Iterator[Record]:
    """The records in files, folders and archives. Raise ValueError with one sentence where one cannot be read."""
    for path in paths:
        for name, data in _documents(path):
            try:
                yield msgspec.json.decode(data, type=Record)
            except msgspec.DecodeError as error:
                raise ValueError(f"{name} is no record of OSV: {error}") from None


def _documents(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        for file in sorted(path.rglob("*.json")):
            yield str(file), file.read_bytes()
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for member in sorted(archive.namelist()):
                if member.endswith(".json"):
                    yield f"{path}: {member}", archive.read(member)
    else:
        yield str(path), path.read_bytes()


def concerns(record: Record, versions: Mapping[str, str]) -> Iterator[Concern]:
    """What a record says of these versions, by canonical name of the package. A withdrawn record says nothing."""
    for affected in () if record.withdrawn else record.affected:
        name = canonicalize_name(affected.package.name)
        if affected.package.ecosystem.partition(":")[0] != ECOSYSTEM or name not in versions:
            continue
        ranges = [each for each in affected.ranges if each.type != IN_GIT]
        version, doubt = versions[name], ""
        try:
            concerned = version in affected.versions or any(_is_in(Version(version), each.events) for each in ranges)
        except InvalidVersion as error:
            concerned, doubt = True, str(error)
        if not ranges and not affected.versions:
            concerned, doubt = True, "it names commits only"
        if concerned:
            fixed = (event["fixed"] for each in ranges for event in each.events if "fixed" in event)
            yield Concern(record, name, version, tuple(dict.fromkeys(fixed)), doubt)


def _is_in(version: Version, events: Iterable[Mapping[str, str]]) -> bool:
    """Whether a version is in a range, as "Evaluation" in the schema says. An introduction at "0" is before all."""
    found, limits = False, [Version(event["limit"]) for event in events if event.get("limit", "*") != "*"]
    if limits and not any(version < limit for limit in limits):
        return False
    for event in sorted(events, key=_when):
        if "introduced" in event and _when(event) <= version:
            found = True
        if ("fixed" in event and _when(event) <= version) or ("last_affected" in event and _when(event) < version):
            found = False
    return found


_FIRST = Version("0.dev0")


def _when(event: Mapping[str, str]) -> Version:
    at = next((event[key] for key in ("introduced", "fixed", "last_affected") if key in event), "0")
    return _FIRST if at == "0" else Version(at)


def all_pins_by_name() -> dict[str, str]:
    """The versions that the project pins, by canonical name of the package."""
    of_constraints = {str(canonicalize_name(name)): version for name, version in pinned().items()}
    return {**{pin.name: pin.version for pin in all_pins()}, **of_constraints}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", type=Path, nargs="+", metavar="FILE|FOLDER|ZIP", help="where the records are")
    versions = all_pins_by_name()
    count, found = 0, 0
    try:
        for record in records(parser.parse_args().paths):
            count += 1
            for concern in concerns(record, versions):
                found += 1
                print(concern)
    except (OSError, ValueError) as error:
        sys.exit(f"advisories.py: {error}")
    print(f"{count} records, {len(versions)} packages: {found} concerns")
    sys.exit(1 if found or not count else 0)


if __name__ == "__main__":
    main()
