"""How a finding fares in other releases of TVM: the same case on the same road, where each of them is installed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from packaging.version import InvalidVersion, Version

from fuzzer.signature import Signature
from fuzzer.signature.blame import NOWHERE, Releases, Verdict
from fuzzer.triage.reproduce import Run, observe
from generators.graph import Case
from oracles.finding import Component, Finding
from oracles.lane import LaneSpec
from oracles.outcome import Built, Ran


@dataclass(frozen=True, slots=True)
class Release:
    """Of TVM, and the toolchain that it is in."""

    version: str
    toolchain: str


@dataclass(frozen=True, slots=True)
class Fate:
    """What a release does with the finding; `finding` is what it shows, the same or another."""

    release: Release
    verdict: Verdict
    finding: Finding | None


def by_age(version: str) -> tuple[bool, Version | str]:
    """A key to sort by: the oldest first; what is no version of the usual form comes last."""
    try:
        return False, Version(version)
    except InvalidVersion:
        return True, version


def in_order(releases: Sequence[Release]) -> list[Release]:
    return sorted(releases, key=lambda release: by_age(release.version))


def fates(run: Run, case: Case, lane: LaneSpec, signature: Signature, releases: Sequence[Release]) -> Iterator[Fate]:
    """One after the other, oldest first. There are few: a bisection would save nothing, and miss one that comes and
    goes."""
    for release in in_order(releases):
        there = replace(lane, toolchain=release.toolchain)
        seen = observe(run, case, there)
        if seen.shows(signature):
            verdict = Verdict.FAILS
        elif seen.finding is not None:
            verdict = Verdict.OTHERWISE
        else:
            ran = isinstance(seen.result.outcomes[there], Ran | Built)
            verdict = Verdict.PASSES if ran else Verdict.NOT_RUN
        yield Fate(release, verdict, seen.finding)


def in_releases(run: Run, case: Case, finding: Finding, signature: Signature, releases: Sequence[Release]) -> Releases:
    """One run in each release. Nothing is run for a single release, or where TVM is not to blame."""
    if finding.component is not Component.TVM or len(releases) < 2:
        return NOWHERE
    return told(list(fates(run, case, finding.lane, signature, releases)))


def with_recorded(now: Releases, recorded: Releases) -> Releases:
    """What was recorded counts for the releases that were not run now."""
    verdicts = {**dict(recorded.verdicts), **dict(now.verdicts)}
    return Releases(tuple(sorted(verdicts.items(), key=lambda each: by_age(each[0]))))


def told(seen: Sequence[Fate]) -> Releases:
    return Releases(tuple((fate.release.version, fate.verdict) for fate in seen))
