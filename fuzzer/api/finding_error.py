"""The exception with which the functions of this package report what they found."""

from __future__ import annotations

from collections.abc import Sequence

from fuzzer.api.checked import Checked
from fuzzer.api.found_failure import FoundFailure


class FindingError(AssertionError):
    """Something was found. `findings` has each. The message has a title, a script and a command for each. Its first
    line, which pytest shows in its summary, is the first title and the number of the others. `checked` says what a
    check of a model ran, did not run and did not cover; None of another check."""

    __module__ = "difftvm"  # where users find it, and what tracebacks call it

    def __init__(self, findings: Sequence[FoundFailure], checked: Checked | None = None) -> None:
        self.findings, self.checked = tuple(findings), checked
        super().__init__(_in_words(self.findings))

    def __reduce__(self) -> tuple[type[FindingError], tuple[object, ...]]:
        """The arguments, of which a process that unpickles it makes it again: `BaseException` keeps the message."""
        return type(self), (self.findings, self.checked)


def _in_words(findings: Sequence[FoundFailure]) -> str:
    if not findings:
        return "nothing was found"
    first, *others = findings
    more = f"; {len(others)} more" if others else ""
    listed = "".join(f"\n{each.line}\n  {each.repro}\n  {each.replay}" for each in others)
    return f"{first.line}{more}\n  {first.repro}\n  {first.replay}{listed}"
