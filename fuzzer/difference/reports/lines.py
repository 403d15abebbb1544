"""What every form says of a finding."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fuzzer.difference.verdict import Comparison
from fuzzer.findings.families.grouping import input_types
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.finding_file import CRASHES
from fuzzer.findings.severity import Level, severity_of
from fuzzer.system.terminal import number_of, printable
from fuzzer.watching.titles import title_of


@dataclass(frozen=True, slots=True)
class Shown:
    """A finding as all forms show it. `place` is its folder."""

    doc: FindingDoc
    place: Path

    @property
    def title(self) -> str:
        """The title of its report, in one line."""
        return printable(title_of(self.place, self.doc))

    @property
    def level(self) -> Level:
        """How severe it is."""
        return severity_of(self.doc, input_types(self.place)).level

    @property
    def folder(self) -> str:
        """Its folder, relative to the working directory."""
        return os.path.relpath(self.place)

    @property
    def blamed(self) -> str:
        """The part of TVM that is blamed, in words; "" where nothing is."""
        blame = self.doc.blame
        return f"{blame.place}: {blame.culprit}" if blame.place and blame.culprit else str(blame.place or "")


def shown(comparison: Comparison, docs: Iterable[FindingDoc], where: str = CRASHES) -> list[Shown]:
    """The findings, whose folders are in the folder `where` of the comparison."""
    return [Shown(doc, comparison.folder / where / doc.slug) for doc in docs]


def wrong_with(comparison: Comparison) -> str:
    return f"right with {comparison.base}, wrong with {comparison.patched}"


def aliased_in_words(comparison: Comparison) -> str:
    return f"{number_of(len(comparison.aliased), 'finding')}, no reason to fail without --aliasing"
