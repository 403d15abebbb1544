"""What the children that take samples for a sweep have in common: arguments, the lines that they print, and the files
of cases.

Such a child writes a folder for each case below the given directory. For each sample it prints one line of JSON: the
key, and the reason where there is no case. A line before each operator has its name, so that the parent can start
another child after that operator if this process dies.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fuzzer.cases.expected_results import EXPECTED_NAME
from fuzzer.system.files import make_folder, write_atomically
from generators import case_file
from generators.graph import Case


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample: its case, or the reason why it has none. `expected` are the contents of `EXPECTED_NAME`."""

    key: str
    made: Case | str
    expected: bytes = b""


@dataclass(frozen=True, slots=True)
class Request:
    """Which samples a child takes: of the operators that match the globs and come after a name, at most `most` of each
    kind, or all."""

    ops: str
    most: int | None
    after: str


Take = Callable[[Request], Iterator[tuple[str, Iterable[Sample]]]]
"""Yields the names of operators in order, each with its samples."""


def write(take: Take) -> None:
    """Take the samples that the arguments of the process ask for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ops", default="*")
    parser.add_argument("--samples", type=int, help="of each kind; by default all")
    parser.add_argument("--after", default="", help="the operator behind which to begin")
    args = parser.parse_args()
    for name, samples in take(Request(args.ops, args.samples, args.after)):
        _print(at=name)
        for sample in samples:
            if isinstance(sample.made, str):
                _print(key=sample.key, why=sample.made)
                continue
            _write(args.folder, sample, sample.made)
            _print(key=sample.key)


def _write(root: Path, sample: Sample, case: Case) -> None:
    folder = root / sample.key.replace("/", "-")
    make_folder(folder, root.parent)
    files = dict(zip((case_file.JSON_NAME, case_file.TENSORS_NAME), case_file.encode(case), strict=True))
    if sample.expected:
        files[EXPECTED_NAME] = sample.expected
    for name, data in files.items():
        write_atomically(folder / name, data, root.parent)


def _print(**line: str) -> None:
    """Print a line of JSON at once, because the next operator may end this process."""
    print(json.dumps(line), flush=True)
