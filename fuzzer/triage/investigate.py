"""One investigation: from a sighting to a finding that can be saved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from fuzzer.cases.onnx_model import OnnxModel
from fuzzer.isolate.device_supervisor import ON_THE_DEVICE
from fuzzer.isolate.reports import SanitizerReport, ScriptRun
from fuzzer.signature import Signature, final_signature, signature_of
from fuzzer.signature.blame import NO_BLAME, NO_RELEASES, Blame, Releases
from fuzzer.triage import exported
from fuzzer.triage.blame.releases import Release, in_releases
from fuzzer.triage.blame.search import blame
from fuzzer.triage.eager_values import computed_values
from fuzzer.triage.metered import Metered
from fuzzer.triage.naming import RUNS, beyond_sibling, name_failure
from fuzzer.triage.reduce import Effort, Reduction, reduce
from fuzzer.triage.reproduce import RunLanes, reproduces, try_to_reproduce
from generators.graph import Case
from oracles.finding import Component, Finding
from oracles.lane import LaneSpec

CONFIRMATIONS = 3
"""How many fresh runs must show a failure. A failure that shows in half of all runs passes once in 8 times."""

EFFORT = {Component.TVM: Effort()}
OTHER_EFFORT = Effort(calls=20, seconds=20.0)
"""For failures of exporters and onnxruntime, which difftvm does not look for."""

ChooseReleases = Callable[[LaneSpec], Sequence[Release]]
"""Returns the releases of TVM in which the case of a finding on this lane runs, including the lane's own."""

RunSanitizer = Callable[[Case, LaneSpec], tuple[SanitizerReport, ...]]
"""Runs a lane under compute-sanitizer and returns its reports."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """One failure in a test, and every lane that showed it."""

    signature: Signature
    finding: Finding
    lanes: tuple[LaneSpec, ...]


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A confirmed finding, as it is saved.

    signature    the final signature
    finding      the finding that `case` shows. The evidence is always that of this case
    case         reduced, unless the failure is flaky
    lanes        names of the lanes that show it
    again        how many fresh runs showed the failure
    runs         how many fresh runs were made
    found_in     operators of the case in which the failure was found
    reduction    the reduction; None if the failure is flaky
    reports      what compute-sanitizer reported for a lane that ran on a GPU
    blame        the part of TVM at fault
    releases     the verdicts of other releases of TVM
    onnx         the ONNX file that TVM imports, if TVM is at fault for a lane that imports one
    other_failures  other failures of TVM that the reduction found, each with its case, to be investigated on their own
    cpu_seconds  the cost of confirming, reducing and naming
    script       how its repro.py ended; None if it has not run
    """

    signature: Signature
    finding: Finding
    case: Case
    lanes: tuple[str, ...]
    again: int
    runs: int
    found_in: tuple[str, ...]
    reduction: Reduction | None
    reports: tuple[SanitizerReport, ...] = ()
    blame: Blame = NO_BLAME
    releases: Releases = NO_RELEASES
    onnx: OnnxModel | None = None
    other_failures: tuple[tuple[Case, Sighting], ...] = ()
    cpu_seconds: float = 0.0
    script: ScriptRun | None = None

    @property
    def flaky(self) -> bool:
        return self.again < self.runs

    @property
    def key(self) -> str:
        """The key of the finding in a campaign. A flaky finding must not hide a steady one with the same signature."""
        return f"flaky-{self.signature.id}" if self.flaky else self.signature.id


def sightings(findings: Iterable[Finding]) -> list[Sighting]:
    """Group the findings of one test into sightings, one for each coarse signature.

    Lanes whose plain sibling is right form one sighting for each feature that they add to the sibling.
    """
    groups: dict[tuple[Signature, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((signature_of(finding), beyond_sibling(finding)), []).append(finding)
    return [Sighting(s, group[0], tuple(f.lane for f in group)) for (s, _), group in groups.items()]


def unconfirmed(case: Case, sighting: Sighting) -> Confirmed:
    """The sighting in the form of a finding that no run has confirmed yet."""
    names = tuple(dict.fromkeys(lane.name for lane in sighting.lanes))
    return Confirmed(sighting.signature, sighting.finding, case, names, 0, 0, case.graph.ops, None)


def investigate(
    run: RunLanes, case: Case, sighting: Sighting, releases: ChooseReleases, run_sanitizer: RunSanitizer, width: int = 1
) -> Confirmed:
    """Confirm, reduce, name, blame, run in other releases, examine. `run` uses fresh processes.

    The reduction tries `width` candidates at a time. A campaign uses 1, because its workers keep every core busy with
    other tests. `fuzz minimize` uses all cores.
    """
    found = confirm_and_reduce(run, case, sighting, width)
    if not found.flaky:
        found = _blamed(run, found)
        others = releases(found.finding.lane)
        verdicts = in_releases(run, found.case, found.finding, found.signature, others)
        found = replace(found, releases=verdicts)
    return _examined(run, found, run_sanitizer)


def confirm_and_reduce(run: RunLanes, case: Case, sighting: Sighting, width: int = 1) -> Confirmed:
    """Confirm, reduce and name. The steps of `investigate` after these do not change the case."""
    metered = Metered(run)
    lane, signature = sighting.finding.lane, sighting.signature
    if case.graph.symbols and not lane.symbolic:
        case = case.at(case.sizes)  # the lane uses fixed sizes; without symbols, every pass can reduce the case
    again = sum(reproduces(metered, case, lane, signature) for _ in range(CONFIRMATIONS))
    if again < CONFIRMATIONS:
        found = _flaky(case, sighting, again, CONFIRMATIONS)
    else:
        found = _reduced(metered, case, sighting, width)
    return replace(found, cpu_seconds=metered.cpu_seconds)


def _flaky(case: Case, sighting: Sighting, again: int, runs: int) -> Confirmed:
    names = tuple(lane.name for lane in sighting.lanes)
    signature = final_signature(sighting.signature, case)
    return Confirmed(signature, sighting.finding, case, names, again, runs, case.graph.ops, None)


def _reduced(run: RunLanes, case: Case, sighting: Sighting, width: int) -> Confirmed:
    """Reduce and name. The finding is flaky if the reduced case does not show the failure when it is named."""
    signature = sighting.signature
    reduction = reduce(
        case,
        sighting.finding.lane,
        lambda smaller, lane: try_to_reproduce(run, smaller, lane, signature),
        lambda whole: computed_values(run, whole),
        EFFORT.get(signature.component, OTHER_EFFORT),
        width=width,
        needs_ops=signature.needs_ops,
    )
    other_failures = _other_sightings(reduction)
    final = name_failure(run, reduction.case, reduction.lane, signature)
    if final is None:
        return replace(_flaky(case, sighting, CONFIRMATIONS, CONFIRMATIONS + RUNS), other_failures=other_failures)
    names = tuple(dict.fromkeys(lane.name for lane in final.lanes))
    return Confirmed(
        final.signature,
        final.finding,
        reduction.case,
        names,
        CONFIRMATIONS,
        CONFIRMATIONS,
        case.graph.ops,
        reduction,
        other_failures=other_failures,
    )


def _other_sightings(reduction: Reduction) -> tuple[tuple[Case, Sighting], ...]:
    """Return the other failures of TVM. Those of exporters and references are not investigated."""
    of_tvm = [other for other in reduction.other_failures if other.finding.component is Component.TVM]
    return tuple(
        (each.case, Sighting(signature_of(each.finding), each.finding, (each.finding.lane,))) for each in of_tvm
    )


def _blamed(run: RunLanes, found: Confirmed) -> Confirmed:
    """Add the blame, which is part of the signature of failures without a message."""
    fault = blame(run, found.case, found.finding, found.signature)
    return replace(found, blame=fault, signature=final_signature(found.signature, found.case, fault))


def _examined(run: RunLanes, found: Confirmed, run_sanitizer: RunSanitizer) -> Confirmed:
    """Add the ONNX file that TVM imports, and the reports of compute-sanitizer, for findings that have these."""
    if exported.read_by_tvm(found.finding):
        found = replace(found, onnx=exported.onnx_file(run, found.case, found.finding.lane))
    if found.finding.stage in ON_THE_DEVICE:
        found = replace(found, reports=run_sanitizer(found.case, found.finding.lane))
    return found
