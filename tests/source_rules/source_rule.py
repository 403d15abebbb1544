"""What a rule about source files is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from source_file import PACKAGES, SourceFile


class Place(NamedTuple):
    """Where a rule finds something, and what."""

    line: int
    text: str


ANY = None
"""Any number of places."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule about source files: what it finds in a file breaks it, but for the exceptions.

    says        the rule
    files       the beginnings of the names of the files that it is about
    without     the beginnings of the names of files that it is not about
    places      what it finds in a file
    exceptions  by file, or by `file: text`, how many places there are, and why
    example     a source in which the rule finds something, at the name `files[0]` + example.py
    """

    says: str
    files: tuple[str, ...] = PACKAGES
    without: tuple[str, ...] = ()
    places: Callable[[SourceFile], Iterable[Place]]
    exceptions: Mapping[str, tuple[int | None, str]] = field(default_factory=dict)
    example: str

    def is_about(self, name: str) -> bool:
        return name.startswith(self.files) and not name.startswith(self.without)

    def broken_by(self, found: Mapping[str, list[Place]]) -> list[str]:
        """The offenders among the places of all files, and the exceptions with another number of places."""
        counts: Counter[str] = Counter()
        offenders = []
        for name, places in found.items():
            for line, text in places:
                keys = [key for key in (f"{name}: {text}", name) if key in self.exceptions]
                counts.update(keys[:1])
                if not keys:
                    offenders.append(f"{name}:{line}: {text}")
        for key, (number, _) in self.exceptions.items():
            if not counts[key] or number not in (ANY, counts[key]):
                offenders.append(f"{key}: {counts[key]} places instead of {number or 'some'}")
        return offenders
