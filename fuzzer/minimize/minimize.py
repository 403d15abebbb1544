"""Investigates a saved finding, or a case that fails, with the current reduction. The folder that it reads is not
changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fuzzer.campaign.lanes.endings import endings
from fuzzer.campaign.store.store import Store
from fuzzer.cases.open_sizes import lanes_of_given
from fuzzer.findings import finding_file
from fuzzer.findings.record import record_of
from fuzzer.isolate.fleet import Lab
from fuzzer.lanes.model_lanes import LaneChoice, lanes_for
from fuzzer.report.own_script import warning, with_own_script
from fuzzer.report.title import full_title
from fuzzer.seeds.onnx import whole_model
from fuzzer.seeds.onnx.whole_model import WholeModel
from fuzzer.seeds.sample import NOTHING, Sample, require_one_file
from fuzzer.signature import Signature
from fuzzer.signature.blame import Releases
from fuzzer.system.terminal import say
from fuzzer.toolchains import registry
from fuzzer.toolchains.lanes import in_toolchains, named, runs_in
from fuzzer.toolchains.toolchain import HOST, HOST_NAME
from fuzzer.triage.blame.releases import Release
from fuzzer.triage.eager_values import computed_values
from fuzzer.triage.investigate import Investigated, Sighting, confirm_as_it_is, investigate, shown_by, unconfirmed
from fuzzer.triage.neighbourhoods import failing_windows, is_large
from fuzzer.triage.refused import WithoutRefused, without_refused
from fuzzer.triage.reproduce import reproduces
from fuzzer.triage.size import Size, size_of
from generators import case_file
from generators.graph import Case
from oracles.finding import Finding
from oracles.lane import LaneSpec, is_eager
from oracles.outcome import Outcomes, Unsupported, why_no_result
from oracles.reference import eager_run, witnesses_disagree


@dataclass(frozen=True, slots=True)
class Minimized:
    """The result of one investigation.

    folder    where the finding is saved; None where the failure is flaky
    title     what is wrong with this case, in one line; "" where nothing is saved
    nodes     the numbers of the case's calls that the reduced one has, from 0
    known_as  the name of the finding that was there before with the same failure; "" where it is new
    """

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
    title: str = ""
    nodes: tuple[int, ...] = ()
    known_as: str = ""


@dataclass(frozen=True, slots=True)
class Investigation:
    """What became of a request. `endings` says how the lanes ended where none of them fails."""

    minimized: tuple[Minimized, ...]
    endings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MinimizeRequest:
    """What to minimize.

    saved          the failure that was saved with the case; None for a bare case
    lanes          the lanes that may fail
    releases       of toolchains other than the host, in which the saved finding was run
    model          the model that the case is, where it was read from a file
    reduce         False: the case is confirmed, blamed and saved as it is
    own_operators  True: the case is a person's model, and the reduced one has no other operators
    forms          other forms of the model of the case, which are reduced in its place where they fail in the same way
    """

    case: Case
    saved: Sighting | None
    lanes: tuple[LaneSpec, ...]
    releases: tuple[Release, ...] = ()
    reduce: bool = True
    model: WholeModel | None = None
    own_operators: bool = False
    forms: tuple[Case, ...] = ()


def read(
    source: Path,
    lanes: LaneChoice = LaneChoice(),
    toolchain: str | None = None,
    *,
    own_weights: bool = False,
    sample: Sample = NOTHING,
) -> MinimizeRequest:
    """Read a folder or an .onnx file. A saved finding has its own lane. `own_weights`: those of a file are read, not
    drawn. `sample` has inputs and open sizes of a file. Raise `Invalid` where the folder contains neither a finding nor
    a case, where the file cannot be read, and where no lane matches."""
    if source.suffix == ".onnx" and not source.is_dir():
        model = whole_model.read(source, sample.inputs, sample.sizes, own_weights=own_weights)
        chosen = lanes_of_given(model.case, _lanes(model.case, lanes, toolchain))
        forms = (model.opened.case,) if model.opened else ()
        return MinimizeRequest(model.case, None, chosen, model=model, own_operators=True, forms=forms)
    require_one_file(str(source), (sample,))
    if (source / finding_file.NAME).exists() or not (source / case_file.JSON_NAME).exists():
        doc, case = finding_file.read_with_case(source)
        (lane,) = in_toolchains((doc.lane,), named(toolchain or doc.lane.toolchain)[:1])
        finding = Finding(doc.kind, doc.component, lane, doc.identity.stage, doc.evidence.evidence)
        return MinimizeRequest(
            case, Sighting(doc.identity.coarse, finding, (lane,)), (lane,), _releases(lane, doc.releases)
        )
    case = case_file.read(source)
    return MinimizeRequest(case, None, _lanes(case, lanes, toolchain))


def joined(found: Sequence[Investigation]) -> Investigation:
    """What became of several requests. A failure that several of them show is there once."""
    first: dict[Path | int, Minimized] = {}
    for number, done in enumerate(each for one in found for each in one.minimized):
        first.setdefault(done.folder or number, done)
    lines = dict.fromkeys(line for one in found for line in one.endings)
    return Investigation(tuple(first.values()), () if first else tuple(lines))


def _lanes(case: Case, wanted: LaneChoice, toolchain: str | None) -> tuple[LaneSpec, ...]:
    return in_toolchains(lanes_for(wanted, case.graph.dialect), named(toolchain or HOST_NAME))


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
    if note := _note_on_judges(outcomes):
        say(note)
    done = [_minimized(lab, store, request, sighting, workers) for sighting in found]
    lines = list(endings(request.case, outcomes, request.lanes))
    for rest in without_refused(lab.run, request.case, {lane: outcomes[lane] for lane in request.lanes}):
        more, further = _of_rest(lab, store, request, rest, workers)
        done += more
        lines += further
    return Investigation(tuple(done), () if done else tuple(lines))


def _of_rest(
    lab: Lab, store: Store, request: MinimizeRequest, rest: WithoutRefused, workers: int
) -> tuple[list[Minimized], list[str]]:
    """Investigate what lanes show on the part of the case that they support. Return that, and lines on how they
    ended."""
    if rest.case is None:
        return [], []
    part = replace(request, case=rest.case, lanes=rest.lanes, forms=())
    outcomes, found = shown_by(lab.run_fresh, part.case, part.lanes)
    left = [number for number in range(len(request.case.graph.nodes)) if number not in rest.refused]
    done = [_minimized(lab, store, part, sighting, workers) for sighting in found]
    done = [replace(each, nodes=tuple(left[number] for number in each.nodes)) for each in done]
    heading = f"without {', '.join(rest.titles(request.case))}:"
    return done, [heading, *(f"  {line}" for line in endings(part.case, outcomes, part.lanes))]


def _in_windows(lab: Lab, store: Store, request: MinimizeRequest, workers: int) -> list[Minimized]:
    """Investigate what fails in windows of the case. A window is left out that fails like one before it, and has the
    operators to which that one was reduced."""
    computed = computed_values(lab.run, request.case)
    done: list[Minimized] = []
    numbers = {node.results[0].name: number for number, node in enumerate(request.case.graph.nodes)}
    known: list[tuple[Signature, Counter[str]]] = []
    for failing in failing_windows(lab.run, request.case, request.lanes, computed, workers) if computed else ():
        signature, ops = failing.sighting.signature, Counter(failing.case.graph.ops)
        if any(signature == other and reduced <= ops for other, reduced in known):
            continue
        part = _minimized(lab, store, replace(request, case=failing.case), failing.sighting, workers)
        known.append((signature, Counter(part.ops)))
        places = (failing.case.graph.nodes[number].results[0].name for number in part.nodes)
        before = size_of(request.case, failing.sighting.finding.lane)
        done.append(replace(part, before=before, nodes=tuple(numbers[name] for name in places)))
    return done


def _note_on_judges(outcomes: Outcomes) -> str:
    """Why no lane, or no lane's values, can be judged, or who judges alone; "" where all references have a result."""
    lane, outcome = next((lane, outcome) for lane, outcome in outcomes.items() if is_eager(lane))
    if eager_run(outcomes) is None:
        return f"no lane is judged: {lane.name} does not run the case: {why_no_result(outcome)}"
    if witnesses_disagree(outcomes):
        return "no values are judged: onnxruntime and the reference evaluator of the onnx package do not agree on them"
    if isinstance(outcome, Unsupported):
        return f"the reference evaluator of the onnx package judges alone: onnxruntime: {why_no_result(outcome)}"
    return ""


def _minimized(lab: Lab, store: Store, request: MinimizeRequest, sighting: Sighting, workers: int) -> Minimized:
    def releases(lane: LaneSpec) -> Sequence[Release]:
        host = [Release(lab.versions["tvm"], HOST_NAME)] if runs_in(lane, HOST) else []
        return [*host, *request.releases]

    if request.reduce:
        case = _form_that_fails(lab, request, sighting)
        found = investigate(lab, case, sighting, releases, lab.examine, workers, own_operators=request.own_operators)
    else:
        found = confirm_as_it_is(lab, request.case, sighting, lab.examine) or unconfirmed(request.case, sighting)
    summary = _summary(found, request.case, sighting.finding.lane)
    return _saved(lab, store, found, summary) if found.runs and not found.flaky else summary


def _form_that_fails(lab: Lab, request: MinimizeRequest, sighting: Sighting) -> Case:
    """The first form that fails as the case does, or else the case: a form is easier to reduce than a given model."""
    lane, signature = sighting.finding.lane, sighting.signature
    others = (form for form in request.forms if reproduces(lab.run_fresh, form, lane, signature))
    return next(others, request.case)


def _saved(lab: Lab, store: Store, found: Investigated, summary: Minimized) -> Minimized:
    """Save the finding, unless it is known, and say where it is and what is wrong with this case."""
    known = store.known(found)
    if not store.holds(found):
        found = with_own_script(lab.run_script, found, lab.versions)
    doc = store.save(found, lab.versions) or known
    if doc is None:
        return summary
    if line := warning(doc):
        say(line)
    title = full_title(record_of(found, finding_file.document(found, lab.versions)))
    return replace(summary, folder=store.crashes / doc.slug, title=title, known_as=known.slug if known else "")


def _numbers(case: Case, found: Investigated) -> tuple[int, ...]:
    """The numbers of the case's calls that the reduced case has."""
    places = found.reduction.places if found.reduction else ()
    numbered = enumerate(case.graph.nodes)
    return tuple(number for number, node in numbered if not places or node.results[0].name in places)


def _summary(found: Investigated, case: Case, lane: LaneSpec) -> Minimized:
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
        None,
        nodes=_numbers(case, found),
    )
