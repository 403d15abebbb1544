"""List the packages that the project is tested with, their versions and their licences.

    python benchmarks/dependencies.py [--by-licence]

Reads `constraints.txt` and what the installed packages say of themselves. Exits with 1 where a package is not installed
in this version, or names no licence: the extra `mutants` must be installed too.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

CONSTRAINTS = Path(__file__).resolve().parents[1] / "constraints.txt"
_CLASSIFIER = "License :: OSI Approved :: "


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
    classifiers = [each.removeprefix(_CLASSIFIER) for each in found.get_all("Classifier", []) if _CLASSIFIER in each]
    text = (found["License"] or "").strip().partition("\n")[0]
    return found["License-Expression"] or ", ".join(classifiers) or text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--by-licence", action="store_true", help="the packages of each licence in one line")
    by_licence = parser.parse_args().by_licence
    licences = {package: licence_of(package, version) for package, version in pinned().items()}
    if by_licence:
        packages = defaultdict(list)
        for package, licence in licences.items():
            packages[licence or "unknown"].append(package)
        for licence in sorted(packages):
            print(f"{licence}: {', '.join(packages[licence])}")
    else:
        for package, version in pinned().items():
            print(f"{package:32} {version:16} {licences[package] or 'unknown'}")
    sys.exit(0 if all(licences.values()) else 1)


if __name__ == "__main__":
    main()
