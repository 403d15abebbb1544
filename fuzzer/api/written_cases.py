"""The cases of a model in a folder: one process exports a module of the user, and another one checks it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from fuzzer.api.model_cases import ModelCases
from generators import case_file

FACTS = "model.json"


@dataclass(frozen=True, slots=True)
class _Facts:
    """`ModelCases` without its cases, and how many of these are no forms."""

    cases: int
    not_covered: tuple[str, ...]
    not_given: str
    drawn: tuple[str, ...]
    samples: int


def write(found: ModelCases, folder: Path) -> None:
    """Write the cases into a new folder."""
    folder.mkdir()
    facts = _Facts(len(found.cases), found.not_covered, found.not_given, found.drawn, found.samples)
    (folder / FACTS).write_bytes(msgspec.json.encode(facts))
    for number, case in enumerate((*found.cases, *found.forms)):
        (folder / str(number)).mkdir()
        for name, content in zip((case_file.JSON_NAME, case_file.TENSORS_NAME), case_file.encode(case), strict=True):
            (folder / str(number) / name).write_bytes(content)


def read(folder: Path) -> ModelCases:
    """Read what `write` wrote. Raise `Invalid` where a file of a case is wrong."""
    facts = msgspec.json.decode((folder / FACTS).read_bytes(), type=_Facts)
    count = sum(each.is_dir() for each in folder.iterdir())
    every = tuple(case_file.read(folder / str(number)) for number in range(count))
    cases, forms = every[: facts.cases], every[facts.cases :]
    return ModelCases(cases, facts.not_covered, facts.not_given, forms, facts.drawn, facts.samples)
