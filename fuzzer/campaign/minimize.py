"""Investigates a saved finding, or a case that fails, with the current reduction. The folder that it reads is not
changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fuzzer.campaign.endings import endings
from fuzzer.campaign.store import Store
from fuzzer.findings import finding_file
from fuzzer.isolate.fleet import Lab
from fuzzer.lanes import select
from fuzzer.report.own_script import warning, with_own_script
from fuzzer.seeds import whole_model
from fuzzer.seeds.whole_model import WholeModel
from fuzzer.signature import Signature
from fuzzer.signature.blame import Releases
from fuzzer.system.terminal import say
from fuzzer.toolchains import registry
from fuzzer.toolchains.lanes import in_toolchains, named, runs_in
from fuzzer.toolchains.toolchain import HOST, HOST_NAME
from fuzzer.triage.blame.releases import Release
from fuzzer.triage.eager_values import computed_values
from fuzzer.triage.investigate import Confirmed, Sighting, confirm_as_it_is, investigate, shown_by, unconfirmed
from fuzzer.triage.neighbourhoods import failing_windows, is_large
from fuzzer.triage.size import Size, size_of
from generators import case_file
from generators.graph import Case, Invalid
from oracles.finding import Finding
from oracles.lane import LaneSpec, is_eager
from oracles.outcome import Outcomes, why_no_result
from oracles.reference import eager_run, witnesses_disagree


@dataclass(frozen=True, slots=True)
class Minimized:
    """The result of one investigation. `folder` is where the finding is saved; None where the failure is flaky."""

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
class Investigation:
    """What became of a request. `endings` says how the lanes ended where none of them fails."""

    minimized: tuple[Minimized, ...]
    endings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MinimizeRequest:
    """What to minimize.

    saved     the failure that was saved with the case; None for a bare case
    lanes     the lanes that may fail
    releases  of toolchains other than the host, in which the saved finding was run
    model     the model that the case is, where it was read from a file
    reduce    False: the case is confirmed, blamed and saved as it is
    """

    case: Case
    saved: Sighting | None
    lanes: tuple[LaneSpec, ...]
    releases: tuple[Release, ...] = ()
    reduce: bool = True
    model: WholeModel | None = None


def read(source: Path, lanes: str = "*", toolchain: str | None = None) -> MinimizeRequest:
    """Read a folder or an .onnx file. Raise `Invalid` where the folder contains neither a finding nor a case, where the
    file cannot be read, and where no lane matches."""
    if source.suffix == ".onnx" and not source.is_dir():
        model = whole_model.read(source)
        return MinimizeRequest(model.case, None, _lanes(model.case, lanes, toolchain), model=model)
    if (source / finding_file.NAME).exists() or not (source / case_file.JSON_NAME).exists():
        doc, case = finding_file.read_with_case(source)
        (lane,) = in_toolchains((doc.lane,), named(toolchain or doc.lane.toolchain)[:1])
        finding = Finding(doc.kind, doc.component, lane, doc.identity.stage, doc.evidence.evidence)
        return MinimizeRequest(
            case, Sighting(doc.identity.coarse, finding, (lane,)), (lane,), _releases(lane, doc.releases)
        )
    case = case_file.read(source)
    return MinimizeRequest(case, None, _lanes(case, lanes, toolchain))


def _lanes(case: Case, globs: str, toolchain: str | None) -> tuple[LaneSpec, ...]:
    dialect = case.graph.dialect
    chosen = select(globs, dialect)
    if not chosen:
        raise Invalid(f"no lane of cases of {dialect} matches {globs!r}; `fuzz lanes` lists them")
    return in_toolchains(chosen, named(toolchain or HOST_NAME))


def _releases(lane: LaneSpec, before: Releases) -> tuple[Release, ...]:
    """The toolchains that are installed here and have a release in which the finding was run before."""
    versions = {version for version, _ in before.verdicts}
    records = [registry.read(name) for name in registry.names()] if versions else []
    mine = [record for record in records if record.versions["tvm"] in versions and runs_in(lane, record.toolchain)]
    return tuple(Release(record.versions["tvm"], record.name) for record in mine)


def run(lab: Lab, store: Store, request: MinimizeRequest, workers: int) -> Investigation:
    """Investigate and save the finding, or every failure that the lanes show. A large case is first cut into windows of
    neighbouring nodes; where none of them fails, it runs as a whole."""
    if request.saved:
        return Investigation((_minimized(lab, store, request, request.saved, workers),))
    if is_large(request.case) and (done := _in_windows(lab, store, request, workers)):
        return Investigation(tuple(done))
    outcomes, found = shown_by(lab.run_fresh, request.case, request.lanes)
    if why := _why_unjudged(outcomes):
        say(why)
    done = [_minimized(lab, store, request, sighting, workers) for sighting in found]
    return Investigation(tuple(done), () if done else tuple(endings(outcomes, request.lanes)))


def _in_windows(lab: Lab, store: Store, request: MinimizeRequest, workers: int) -> list[Minimized]:
    """Investigate what fails in windows of the case. A window is left out that fails like one before it, and has the
    operators to which that one was reduced."""
    computed = computed_values(lab.run, request.case)
    done: list[Minimized] = []
    known: list[tuple[Signature, Counter[str]]] = []
    for failing in failing_windows(lab.run, request.case, request.lanes, computed, workers) if computed else ():
        signature, ops = failing.sighting.signature, Counter(failing.case.graph.ops)
        if any(signature == other and reduced <= ops for other, reduced in known):
            continue
        part = _minimized(lab, store, replace(request, case=failing.case), failing.sighting, workers)
        known.append((signature, Counter(part.ops)))
        done.append(replace(part, before=size_of(request.case, failing.sighting.finding.lane)))
    return done


def _why_unjudged(outcomes: Outcomes) -> str:
    """Why no lane, or no lane's values, can be judged; "" where the references have a result."""
    if eager_run(outcomes) is None:
        lane, outcome = next((lane, outcome) for lane, outcome in outcomes.items() if is_eager(lane))
        return f"no lane is judged: {lane.name} does not run the case: {why_no_result(outcome)}"
    if witnesses_disagree(outcomes):
        return "no values are judged: onnxruntime and the reference evaluator of the onnx package do not agree on them"
    return ""


def _minimized(lab: Lab, store: Store, request: MinimizeRequest, sighting: Sighting, workers: int) -> Minimized:
    def releases(lane: LaneSpec) -> Sequence[Release]:
        host = [Release(lab.versions["tvm"], HOST_NAME)] if runs_in(lane, HOST) else []
        return [*host, *request.releases]

    if request.reduce:
        found = investigate(lab, request.case, sighting, releases, lab.examine, workers)
    else:
        found = confirm_as_it_is(lab, request.case, sighting, lab.examine) or unconfirmed(request.case, sighting)
    folder = None
    if found.runs and not found.flaky:
        if not store.holds(found):
            found = with_own_script(lab, found, lab.versions)
        doc = store.save(found, lab.versions) or store.findings.get(found.key)
        if doc is not None and (line := warning(doc)):
            say(line)
        folder = store.crashes / doc.slug if doc else None
    return _summary(found, request.case, sighting.finding.lane, folder)


def _summary(found: Confirmed, case: Case, lane: LaneSpec, folder: Path | None) -> Minimized:
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
