"""The exception with which the functions of this package report what they found."""

from __future__ import annotations

from collections.abc import Sequence

from fuzzer.api.checked import Checked
from fuzzer.api.found_failure import FoundFailure


class FindingError(AssertionError):
    """Something was found. `findings` has each; the message has a title, a script and a command for each. `checked`
    says what a check of a model ran, did not run and did not cover; None of another check."""

    def __init__(self, findings: Sequence[FoundFailure], checked: Checked | None = None) -> None:
        self.findings, self.checked = tuple(findings), checked
        count = "1 finding" if len(self.findings) == 1 else f"{len(self.findings)} findings"
        listed = "".join(f"\n  {each.line}\n    {each.repro}\n    {each.replay}" for each in self.findings)
        super().__init__(f"{count}:{listed}")
