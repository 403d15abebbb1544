"""What a sweep says of a lane on a sample."""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never

from oracles.finding import Finding
from oracles.outcome import Broken, Built, Died, Outcome, Raised, Ran, Skipped, TimedOut, Unsupported


class Status(StrEnum):
    """The status of a lane on a sample, from best to worst."""

    SUPPORTED = "supported"
    UNJUDGED = "unjudged"  # it ran or failed, but no reference gives the right result
    UNSUPPORTED = "unsupported"
    FAILED = "failed"  # rejected, internal error, crash, time limit, or a right result that costs too much
    WRONG = "wrong"  # another result than the right one


Verdict = tuple[Status, str]
"""The status and its reason."""


def by_oracles(outcome: Outcome, finding: Finding | None, *, judged: bool) -> Verdict:
    """The verdict of the oracles, whose finding on the lane is `finding`. `judged`: whether a reference judges its
    results."""
    match outcome:
        case Ran() if finding is not None:
            return (Status.WRONG if finding.kind.is_numeric else Status.FAILED), str(finding.kind)
        case Ran() if judged:
            return Status.SUPPORTED, ""
        case Ran() | Built():
            return Status.UNJUDGED, "no reference ran, or the ONNX file is wrong"
        case Unsupported(reason=reason) | Skipped(reason=reason):
            return Status.UNSUPPORTED, reason
        case Broken(error=error):
            return Status.UNJUDGED, f"difftvm itself failed: {error.partition(chr(10))[0]}"
        case Raised() | Died() | TimedOut():
            if finding is None:
                return Status.UNJUDGED, "no reference ran, or the exporter refuses"
            return Status.FAILED, str(finding.kind)
        case _:
            assert_never(outcome)
