"""Run the case of a finding in other installed releases of TVM, on the same lane."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from packaging.version import InvalidVersion, Version

from fuzzer.isolate.fleet import RunLanes
from fuzzer.signature import Signature
from fuzzer.signature.blame import NO_RELEASES, Releases, ReleaseVerdict
from fuzzer.triage.reproduce import observe
from generators.graph import Case
from oracles.finding import Component, Finding
from oracles.lane import LaneSpec
from oracles.outcome import Built, Ran


@dataclass(frozen=True, slots=True)
class Release:
    """A release of TVM, and the toolchain that contains it."""

    version: str
    toolchain: str


@dataclass(frozen=True, slots=True)
class ReleaseRun:
    """What a release does with the case. `finding` is the finding that it shows, the same or another."""

    release: Release
    verdict: ReleaseVerdict
    finding: Finding | None


def release_order(version: str) -> tuple[bool, Version | str]:
    """Return a sort key: oldest version first, and versions in an unusual form last."""
    try:
        return False, Version(version)
    except InvalidVersion:
        return True, version


def oldest_first(releases: Sequence[Release]) -> list[Release]:
    """Sort the releases by version."""
    return sorted(releases, key=lambda release: release_order(release.version))


def run_in_releases(
    run: RunLanes, case: Case, lane: LaneSpec, signature: Signature, releases: Sequence[Release]
) -> Iterator[ReleaseRun]:
    """Run the case in each release, oldest first.

    There are few releases. A bisection would not save time, and would miss a bug that was fixed and came back.
    """
    for release in oldest_first(releases):
        yield run_in(run, case, lane, signature, release)


def run_in(run: RunLanes, case: Case, lane: LaneSpec, signature: Signature, release: Release) -> ReleaseRun:
    """Run the case in one release, or in one build."""
    same_lane = replace(lane, toolchain=release.toolchain)
    observation = observe(run, case, same_lane)
    if observation.shows(signature):
        verdict = ReleaseVerdict.FAILS
    elif observation.finding is not None:
        verdict = ReleaseVerdict.OTHERWISE
    else:
        ran = isinstance(observation.result.outcomes[same_lane], Ran | Built) and not observation.lack
        verdict = ReleaseVerdict.PASSES if ran else ReleaseVerdict.NOT_RUN
    return ReleaseRun(release, verdict, observation.finding)


def in_releases(
    run: RunLanes, case: Case, finding: Finding, signature: Signature, releases: Sequence[Release]
) -> Releases:
    """Return the verdict of each release. Nothing runs for a single release, or if TVM is not at fault."""
    if finding.component is not Component.TVM or len(releases) < 2:
        return NO_RELEASES
    return verdicts_of(list(run_in_releases(run, case, finding.lane, signature, releases)))


def with_recorded(now: Releases, recorded: Releases) -> Releases:
    """Return the verdicts of this run, and the recorded ones of releases that were not run now."""
    verdicts = {**dict(recorded.verdicts), **dict(now.verdicts)}
    return Releases(tuple(sorted(verdicts.items(), key=lambda each: release_order(each[0]))))


def verdicts_of(runs: Sequence[ReleaseRun]) -> Releases:
    """Return the verdicts of the runs, in their order."""
    return Releases(tuple((each.release.version, each.verdict) for each in runs))
