"""Check the packages that the project needs against the hashes of their public files.

    pip download --no-deps --dest FOLDER -r constraints.txt
    python benchmarks/hashes.py --files FOLDER
    python benchmarks/hashes.py --installed
    python benchmarks/hashes.py --write

--files      Checks the wheels and archives in a folder against `hashes.txt` and `hashes-torch.txt`.
--installed  Checks each installed file against the list that came with its package (RECORD). This finds files that are
             damaged or were changed later. It does not prove where the package came from.
--write      Writes both files of hashes, for the versions in `constraints.txt`. It needs uv and the network.

Exits with 1 where something differs. Both files of hashes have the form that `pip install --require-hashes -r` reads.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename

ROOT = Path(__file__).resolve().parents[1]
CONSTRAINTS = ROOT / "constraints.txt"
HASHES, TORCH_HASHES = ROOT / "hashes.txt", ROOT / "hashes-torch.txt"

OF_TORCH = re.compile(r"torch|triton|cuda-.*|nvidia-.*")
"""torch, and the packages of CUDA that its public wheels for Linux need. They have a file of their own, because many
machines get torch elsewhere: a build for CPUs has other hashes, and needs none of the others."""

PIECE = 1 << 20
_PIN = re.compile(r"^(?P<name>[\w.-]+)(?:\[[^]]*\])?==(?P<version>[^\s;\\]+)(?: *; *(?P<marker>[^\\]*[^\\ ]))?", re.M)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Pin:
    """A version of a package, and the sha256 of each of its files. `marker`: the only machines that need it."""

    name: str
    version: str
    hashes: frozenset[str]
    marker: str = ""


def pins(text: str) -> list[Pin]:
    """The pins of a requirements file."""
    found = list(_PIN.finditer(text))
    ends = [*(each.start() for each in found[1:]), len(text)]
    return [
        Pin(
            canonicalize_name(each["name"]),
            each["version"],
            frozenset(_HASH.findall(text[each.end() : end])),
            each["marker"] or "",
        )
        for each, end in zip(found, ends, strict=True)
    ]


def all_pins() -> list[Pin]:
    return [*pins(HASHES.read_text()), *pins(TORCH_HASHES.read_text())]


# --- files of packages


def faults_of_files(folder: Path, known: Sequence[Pin]) -> Iterator[str]:
    """What is wrong with the wheels and archives in a folder, a line for each."""
    by_version = {(pin.name, pin.version): pin.hashes for pin in known}
    files = sorted(path for path in folder.iterdir() if path.name.endswith((".whl", ".tar.gz", ".zip")))
    if not files:
        yield f"{folder}: no wheel and no archive"
    for path in files:
        name, version = _package_of(path)
        hashes = by_version.get((name, version))
        if hashes is None:
            yield f"{path.name}: {name} {version} is not pinned"
        elif (found := _sha256(path).hexdigest()) not in hashes:
            yield f"{path.name}: sha256 {found} is none of the {len(hashes)} public files of {name} {version}"


def _package_of(path: Path) -> tuple[str, str]:
    name, version = (parse_wheel_filename(path.name)[:2]) if path.suffix == ".whl" else parse_sdist_filename(path.name)
    return name, str(version)


def _sha256(path: Path) -> hashlib._Hash:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            found.update(piece)
    return found


# --- installed packages


def faults_of_installed(known: Sequence[Pin]) -> Iterator[str]:
    """What is wrong with the installed packages, a line for each. Packages that only other machines need may be
    missing."""
    for pin in known:
        try:
            found = distribution(pin.name)
        except PackageNotFoundError:
            if not pin.marker:
                yield f"{pin.name}: not installed"
            continue
        if found.version.partition("+")[0] != pin.version:
            yield f"{pin.name}: {found.version} is installed, {pin.version} is pinned"
        yield from faults_of_distribution(found)


def faults_of_distribution(found: Distribution) -> Iterator[str]:
    """Which files of an installed package are missing or differ from its list. The list itself has no hash there."""
    name = found.metadata["Name"]
    if found.files is None:
        yield f"{name}: it has no list of its files"
    for file in found.files or ():
        path = Path(str(found.locate_file(file)))
        if file.hash is None:
            continue
        if not path.is_file():
            yield f"{name}: {file} is missing"
        elif file.hash.mode == "sha256" and _listed(_sha256(path).digest()) != file.hash.value:
            yield f"{name}: {file} was changed"


def _listed(digest: bytes) -> str:
    """A hash as RECORD has it."""
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


# --- making the files of hashes


def write() -> None:
    command = [
        "uv",
        "pip",
        "compile",
        "--universal",
        "--python-version",
        "3.11",
        "--generate-hashes",
        "--extra",
        "test",
    ]
    command += [
        "--no-header",
        "--no-annotate",
        "--no-strip-extras",
        "--quiet",
        "--constraints",
        str(CONSTRAINTS),
        str(ROOT / "pyproject.toml"),
    ]
    text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    of_torch, others = split(text)
    HASHES.write_text(
        f"# Made by `python benchmarks/hashes.py --write`: all packages but those of {TORCH_HASHES.name}.\n{others}"
    )
    TORCH_HASHES.write_text(
        f"# Made by `python benchmarks/hashes.py --write`: torch and its CUDA packages.\n{of_torch}"
    )


def split(text: str) -> tuple[str, str]:
    """The part of a requirements file about torch and the packages of CUDA, and the rest."""
    blocks = re.split(r"^(?=\S)", text, flags=re.M)
    of_torch = [block for block in blocks if OF_TORCH.fullmatch(re.split(r"==|\[", block)[0])]
    return "".join(of_torch), "".join(block for block in blocks if block not in of_torch)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--files", type=Path, metavar="FOLDER", help="check the wheels and archives in a folder")
    what.add_argument("--installed", action="store_true", help="check the installed packages")
    what.add_argument("--write", action="store_true", help="write the hashes again")
    options = parser.parse_args()
    if options.write:
        write()
        return
    faults = list(faults_of_installed(all_pins()) if options.installed else faults_of_files(options.files, all_pins()))
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
