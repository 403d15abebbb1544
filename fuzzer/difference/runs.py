"""The runs of `fuzz diff` in one directory: each has a campaign of its own, because the toolchains may have changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fuzzer.findings.finding_file import CRASHES
from generators import case_file
from generators.graph import Case, Invalid
from generators.plain_file import LINK


def _runs(folder: Path) -> dict[int, Path]:
    found = {int(path.name): path for path in folder.glob("[0-9]*") if path.name.isdecimal() and path.is_dir()}
    return dict(sorted(found.items()))


def next_run(folder: Path) -> Path:
    """Make the directory of a new run. Raise `Invalid` where it cannot be made."""
    number = max(_runs(folder), default=0) + 1
    while True:
        try:
            (made := folder / str(number)).mkdir(parents=True)
            return made
        except FileExistsError:  # another command has made it meanwhile, or it is a file
            if not folder.is_dir():
                raise Invalid(f"{folder} is not a directory") from None
            number += 1
        except OSError as error:
            raise Invalid(f"{error.filename}: {error.strerror}") from None


def cases_of_earlier_runs(folder: Path) -> list[Case]:
    """The cases of all findings of earlier runs, those of the last run first, each once."""
    by_digest = {case_file.digest(case): case for case in _cases(folder)}
    return list(by_digest.values())


def _cases(folder: Path) -> Iterator[Case]:
    for run in reversed(_runs(folder).values()):
        if link := next((each for each in (run, run / CRASHES) if each.is_symlink()), None):
            raise Invalid(f"{link}: {LINK}")
        for path in sorted((run / CRASHES).glob(f"*/{case_file.JSON_NAME}")):
            yield case_file.read(path.parent)
