"""How a finding fares in other releases of TVM: the same case on the same road, where each of them is installed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from packaging.version import InvalidVersion, Version

from fuzzer.signature import Signature
from fuzzer.signature.blame import NO_RELEASES, Releases, ReleaseVerdict
from fuzzer.triage.reproduce import RunLanes, observe
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
class ReleaseRun:
    """What a release does with the finding; `finding` is what it shows, the same or another."""

    release: Release
    verdict: ReleaseVerdict
    finding: Finding | None


def release_order(version: str) -> tuple[bool, Version | str]:
    """A key to sort by: the oldest first; what is no version of the usual form comes last."""
    try:
        return False, Version(version)
    except InvalidVersion:
        return True, version


def oldest_first(releases: Sequence[Release]) -> list[Release]:
    return sorted(releases, key=lambda release: release_order(release.version))


def run_in_releases(
    run: RunLanes, case: Case, lane: LaneSpec, signature: Signature, releases: Sequence[Release]
) -> Iterator[ReleaseRun]:
    """One after the other, oldest first. There are few: a bisection would save nothing, and miss one that comes and
    goes."""
    for release in oldest_first(releases):
        there = replace(lane, toolchain=release.toolchain)
        seen = observe(run, case, there)
        if seen.shows(signature):
            verdict = ReleaseVerdict.FAILS
        elif seen.finding is not None:
            verdict = ReleaseVerdict.OTHERWISE
        else:
            ran = isinstance(seen.result.outcomes[there], Ran | Built)
            verdict = ReleaseVerdict.PASSES if ran else ReleaseVerdict.NOT_RUN
        yield ReleaseRun(release, verdict, seen.finding)


def in_releases(
    run: RunLanes, case: Case, finding: Finding, signature: Signature, releases: Sequence[Release]
) -> Releases:
    """One run in each release. Nothing is run for a single release, or where TVM is not to blame."""
    if finding.component is not Component.TVM or len(releases) < 2:
        return NO_RELEASES
    return verdicts_of(list(run_in_releases(run, case, finding.lane, signature, releases)))


def with_recorded(now: Releases, recorded: Releases) -> Releases:
    """What was recorded counts for the releases that were not run now."""
    verdicts = {**dict(recorded.verdicts), **dict(now.verdicts)}
    return Releases(tuple(sorted(verdicts.items(), key=lambda each: release_order(each[0]))))


def verdicts_of(seen: Sequence[ReleaseRun]) -> Releases:
    return Releases(tuple((fate.release.version, fate.verdict) for fate in seen))
