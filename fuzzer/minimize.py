"""Reduces a saved finding, or a case that fails, by today's passes. The folder that it reads stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzzer.campaign.store import Store
from fuzzer.isolate.fleet import Lab
from fuzzer.isolate.toolchain import HOST_NAME
from fuzzer.lanes import select
from fuzzer.report import finding_file
from fuzzer.toolchains.lanes import in_toolchains, named
from fuzzer.triage.blame.search import blamed
from fuzzer.triage.investigate import Confirmed, Sighting, investigate, sightings
from fuzzer.triage.reproduce import judged_by, judged_run
from fuzzer.triage.size import Size, size_of
from generators import case_file
from generators.graph import Case, Invalid
from oracles import judge_all
from oracles.finding import Finding
from oracles.lane import LaneSpec


@dataclass(frozen=True, slots=True)
class Minimized:
    """`folder` is where it is now; None where it does not show any more, or not each time."""

    kind: str
    lane: str
    before: Size
    after: Size
    ops: tuple[str, ...]
    calls: int
    ahead: int
    steps: tuple[str, ...]
    finished: bool
    again: str
    folder: Path | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """A case, and the failure that was saved with it; of a bare case, the lanes that may fail."""

    case: Case
    saved: Sighting | None
    lanes: tuple[LaneSpec, ...]


def read(source: Path, lanes: str = "*", toolchain: str | None = None) -> Wanted:
    """Raise `Invalid` where the folder holds neither a finding nor a case."""
    if (source / finding_file.NAME).exists():
        doc, case = finding_file.read_with_case(source)
        (lane,) = in_toolchains((doc.lane,), named(toolchain or doc.lane.toolchain)[:1])
        finding = Finding(doc.kind, doc.component, lane, doc.identity.stage, doc.evidence.evidence)
        return Wanted(case, Sighting(doc.identity.coarse, finding, (lane,)), (lane,))
    case = case_file.read(source)
    chosen = select(lanes)
    if not chosen:
        raise Invalid(f"no lane matches {lanes!r}; `fuzz lanes` lists them")
    return Wanted(case, None, in_toolchains(chosen, named(toolchain or HOST_NAME)))


def run(executor: Lab, store: Store, wanted: Wanted, workers: int) -> list[Minimized]:
    """The finding, or all that the lanes show, reduced and saved."""
    seen = [wanted.saved] if wanted.saved else _seen(executor, wanted.case, wanted.lanes)
    return [_minimized(executor, store, wanted.case, sighting, workers) for sighting in seen]


def _seen(executor: Lab, case: Case, lanes: Sequence[LaneSpec]) -> list[Sighting]:
    everything = tuple(dict.fromkeys(each for lane in lanes for each in judged_by(lane)))
    found = judge_all(case, judged_run(executor.run_fresh, case, everything).outcomes)
    return sightings(finding for finding in found if finding.lane in lanes)


def _minimized(executor: Lab, store: Store, case: Case, sighting: Sighting, workers: int) -> Minimized:
    found = blamed(executor.run_fresh, investigate(executor.run_fresh, case, sighting, width=workers))
    folder = None
    if not found.flaky:
        doc = store.save(found, sighting, executor.versions) or store.findings.get(found.key)
        folder = store.crashes / doc.slug if doc else None
    return _told(found, case, sighting.finding.lane, folder)


def _told(found: Confirmed, case: Case, lane: LaneSpec, folder: Path | None) -> Minimized:
    reduction = found.reduction
    return Minimized(
        found.signature.kind,
        (reduction.lane if reduction else lane).name,
        size_of(case, lane),
        size_of(found.case, reduction.lane if reduction else lane),
        found.case.graph.ops,
        reduction.calls if reduction else 0,
        reduction.ahead if reduction else 0,
        reduction.steps if reduction else (),
        reduction.finished if reduction else False,
        f"{found.again} of {found.runs}",
        folder,
    )
