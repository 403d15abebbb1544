"""List the packages that the project is tested with: their versions, what needs them, and their licences.

    python benchmarks/dependencies.py [--by-licence]

Reads `constraints.txt` and what the installed packages say of themselves: what difftvm needs by itself, with the extra
`cluster` and with `test`. The versions of three more extras, with tools for developers of difftvm and drivers, are in
`pyproject.toml`.
Below the list, it names the licences that ask something of those who distribute a package. Exits with 1 where a package
is not installed in this version, names no licence, or is not needed.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CONSTRAINTS = Path(__file__).resolve().parents[1] / "constraints.txt"
PROJECT = "difftvm"
EXTRAS = ("", "cluster", "test")
"""The project without and with an extra, in the order in which a package is counted: the first that needs it."""

ALONE = "difftvm"
"""What needs a package that is needed without any extra."""

CONDITIONS = {
    r"\bLGPL|Lesser": "who distributes it must publish changes of it, and let users replace it",
    r"\bA?GPL|General Public": "who distributes a program with it must publish the source of the whole program",
    r"\bMPL|Mozilla": "who distributes changed files of it must publish these files",
    r"NVIDIA|Proprietary|Commercial": "it may be distributed only as its owner allows",
}
"""What licences ask of those who distribute a package, by a pattern of their names. Nobody has to do anything who only
uses it. All others here want to be named only."""

_CLASSIFIER = re.compile(r"License :: (?:OSI Approved :: )?")


def pinned() -> dict[str, str]:
    """The versions of constraints.txt, by package."""
    lines = (line.partition("#")[0].partition(";")[0].strip() for line in CONSTRAINTS.read_text().splitlines())
    return dict(line.split("==") for line in lines if line)


def licence_of(package: str, version: str) -> str:
    """What the installed package says: its SPDX expression, else its classifiers, else the first line of its text.
    Empty where it is not installed in this version, or says nothing."""
    try:
        found = metadata(package)
    except PackageNotFoundError:
        return ""
    if found["Version"].partition("+")[0] != version:
        return ""
    classifiers = [_CLASSIFIER.sub("", each) for each in found.get_all("Classifier", []) if _CLASSIFIER.match(each)]
    text = (found["License"] or "").strip().partition("\n")[0]
    return found["License-Expression"] or ", ".join(classifiers) or text


def condition_of(licence: str) -> str:
    """What a licence asks of those who distribute the package; empty where it wants to be named only."""
    return next((condition for pattern, condition in CONDITIONS.items() if re.search(pattern, licence)), "")


def needed() -> dict[str, str]:
    """The packages that the project needs on this machine, by canonical name, with the extra that needs them."""
    found: dict[str, str] = {}
    for extra in EXTRAS:
        waiting = [Requirement(f"{PROJECT}[{extra}]" if extra else PROJECT)]
        done: set[tuple[str, str]] = set()
        while waiting:
            requirement = waiting.pop()
            name = canonicalize_name(requirement.name)
            if name != PROJECT:
                found.setdefault(name, extra or ALONE)
            for wanted in ("", *sorted(requirement.extras)):
                if (name, wanted) not in done:
                    done.add((name, wanted))
                    waiting += _requirements(name, wanted)
    return found


def _requirements(name: str, extra: str) -> Iterator[Requirement]:
    try:
        listed = requires(name) or ()
    except PackageNotFoundError:
        return
    for requirement in map(Requirement, listed):
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            yield requirement


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--by-licence", action="store_true", help="the packages of each licence in one line")
    by_licence = parser.parse_args().by_licence
    licences = {package: licence_of(package, version) for package, version in pinned().items()}
    needs = needed()
    if by_licence:
        packages = defaultdict(list)
        for package, licence in licences.items():
            packages[licence or "unknown"].append(package)
        for licence in sorted(packages):
            print(f"{licence}: {', '.join(packages[licence])}")
    else:
        for package, version in pinned().items():
            why = needs.get(canonicalize_name(package), "nothing")
            print(f"{package:32} {version:16} {why:8} {licences[package] or 'unknown'}")
    for package, licence in licences.items():
        if condition := condition_of(licence):
            print(f"{package} ({licence}): {condition}")
    unneeded = [package for package in licences if canonicalize_name(package) not in needs]
    sys.exit(0 if all(licences.values()) and not unneeded else 1)


if __name__ == "__main__":
    main()
