"""The exception with which the functions of this package report what they found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class FoundFailure:
    """One finding, reduced and saved.

    slug       the name of its folder
    title      what is wrong, in one line
    kind       the kind of failure, such as `wrong-value`
    operators  the PyTorch operators of the reduced model
    folder     the folder, with `issue.md`, `finding.json` and the case
    repro      a script in this folder that shows the failure
    replay     the command that runs the finding again
    """

    slug: str
    title: str
    kind: str
    operators: tuple[str, ...]
    folder: Path
    repro: Path
    replay: str


class FindingError(AssertionError):
    """Something was found. `findings` has each; the message has a title, a script and a command for each."""

    def __init__(self, findings: Sequence[FoundFailure]) -> None:
        self.findings = tuple(findings)
        count = "1 finding" if len(self.findings) == 1 else f"{len(self.findings)} findings"
        listed = "".join(f"\n  {each.title}\n    {each.repro}\n    {each.replay}" for each in self.findings)
        super().__init__(f"{count}:{listed}")
