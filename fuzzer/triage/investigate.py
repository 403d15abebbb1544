"""From a first sighting to a finding that can be saved: confirm, reduce, name."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from fuzzer.isolate.sanitizer import SanitizerReport
from fuzzer.lanes import REFERENCES, TORCH, plain_roads_beside
from fuzzer.onnx_model import OnnxModel
from fuzzer.triage.blame import NOBODY, NOWHERE, Blame, Releases
from fuzzer.triage.reduce import Effort, Reduction, reduce
from fuzzer.triage.reproduce import Run, asked, judged_by, judged_run, reproduces
from fuzzer.triage.signature import Signature, named, signature_of
from generators.graph import Array, Case, Form
from oracles import judge_all
from oracles.finding import Component, Finding, Kind, Mismatch
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Ran, Result

CONFIRMATIONS = 3
"""A failure that shows in half of all runs passes 3 of 3 once in 8: few enough flaky findings among the steady ones."""

EFFORT = {Component.TVM: Effort()}
OTHER_EFFORT = Effort(calls=20, seconds=20.0)
"""Exporters and onnxruntime are not what is hunted here."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """One failure of a test, and every lane that showed it."""

    signature: Signature
    finding: Finding
    lanes: tuple[LaneSpec, ...]


@dataclass(frozen=True, slots=True)
class Confirmed:
    """What is saved. `again` of `runs` fresh children showed the failure; `case` is reduced unless it is flaky.
    `reports` are compute-sanitizer's, of a lane that ran on a GPU; `onnx` is the file that TVM is to blame for reading
    otherwise than onnxruntime. `slips` are other failures of TVM's that the reduction came across, each with the case
    that shows it: findings of their own. `cpu_seconds` is what confirming, reducing and naming took."""

    signature: Signature
    finding: Finding
    case: Case
    lanes: tuple[str, ...]
    again: int
    runs: int
    found_in: tuple[str, ...]
    reduction: Reduction | None
    reports: tuple[SanitizerReport, ...] = ()
    blame: Blame = NOBODY
    releases: Releases = NOWHERE
    onnx: OnnxModel | None = None
    slips: tuple[tuple[Case, Sighting], ...] = ()
    cpu_seconds: float = 0.0

    @property
    def flaky(self) -> bool:
        return self.again < self.runs

    @property
    def key(self) -> str:
        """What the finding is stored under: a flaky sighting must not stand in the way of a steady one."""
        return f"flaky-{self.signature.id}" if self.flaky else self.signature.id


def sightings(findings: Iterable[Finding]) -> list[Sighting]:
    """Findings of one test, one for each coarse signature; of lanes that are wrong beside a right sibling, one for each
    thing that they do."""
    groups: dict[tuple[Signature, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((signature_of(finding), by(finding)), []).append(finding)
    return [Sighting(s, group[0], tuple(f.lane for f in group)) for (s, _), group in groups.items()]


def by(finding: Finding) -> str:
    """What the lane does that the one it is held against does not."""
    return finding.evidence.by if isinstance(finding.evidence, Mismatch) else ""


def investigate(run: Run, case: Case, sighting: Sighting, width: int = 1) -> Confirmed:
    """Confirm in fresh children, reduce, and name by what is left.

    `width` candidates are tried at a time. Campaigns take 1: their workers keep every core busy with other tests, and
    what is tried ahead in vain would be taken from these. Who waits for one finding takes all cores.
    """
    metered = _Metered(run)
    return replace(_investigated(metered, case, sighting, width), cpu_seconds=metered.spent)


class _Metered:
    """A run that adds up what it costs; several threads may call it."""

    def __init__(self, run: Run) -> None:
        self._run, self._lock, self.spent = run, threading.Lock(), 0.0

    def __call__(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        result = self._run(case, lanes)
        with self._lock:
            self.spent += result.cpu_seconds
        return result


def _investigated(run: Run, case: Case, sighting: Sighting, width: int) -> Confirmed:
    lane, signature = sighting.finding.lane, sighting.signature
    if case.graph.symbols and not lane.symbolic:
        case = case.at(case.sizes)  # the same to this lane, and all passes reduce it
    again = sum(reproduces(run, case, lane, signature) for _ in range(CONFIRMATIONS))
    if again < CONFIRMATIONS:
        names = tuple(spec.name for spec in sighting.lanes)
        flaky = named(signature, case)
        return Confirmed(flaky, sighting.finding, case, names, again, CONFIRMATIONS, case.graph.ops, None)
    reduction = reduce(
        case,
        lane,
        lambda smaller, spec: asked(run, smaller, spec, signature),
        lambda whole: tap(run, whole),
        EFFORT.get(signature.component, OTHER_EFFORT),
        width=width,
        told_by_operators=signature.needs_ops,
    )
    return _name(run, case, sighting, reduction)


def _name(run: Run, case: Case, sighting: Sighting, reduction: Reduction) -> Confirmed:
    """The final signature: of the reduced case, over all lanes."""
    lanes = tuple(dict.fromkeys((*REFERENCES, *plain_roads_beside(reduction.lane), *judged_by(reduction.lane))))
    found = judge_all(reduction.case, judged_run(run, reduction.case, lanes).outcomes)
    same = {f.lane: f for f in found if sighting.signature.same_failure(signature_of(f))}
    finding = same.get(reduction.lane, sighting.finding)
    if unstable := [f for f in same.values() if f.kind is Kind.UNSTABLE]:
        finding = unstable[0]
    showing = [lane for lane in lanes if lane in same] or [reduction.lane]
    final = replace(sighting.signature, kind=finding.kind)
    if final.needs_ops:
        where = _where(showing) if final.component is Component.TVM else ""
        final = named(replace(final, where=where, by=by(finding)), reduction.case)
    names = tuple(dict.fromkeys(lane.name for lane in showing))
    again, slips = CONFIRMATIONS, _slips(reduction)
    return Confirmed(final, finding, reduction.case, names, again, again, case.graph.ops, reduction, slips=slips)


def _slips(reduction: Reduction) -> tuple[tuple[Case, Sighting], ...]:
    """Of exporters and references, nobody wants to know this."""
    of_tvm = [slip for slip in reduction.slips if slip.finding.component is Component.TVM]
    return tuple((s.case, Sighting(signature_of(s.finding), s.finding, (s.finding.lane,))) for s in of_tvm)


def _where(lanes: Sequence[LaneSpec]) -> str:
    """Importers that show it, and the target where it is not llvm: one bug of one frontend is not another's."""
    tvm = [lane for lane in lanes if lane.engine is Engine.TVM]
    importers = sorted({lane.importer.value for lane in tvm})
    targets = sorted({lane.target for lane in tvm})
    return "+".join(importers) + ("" if "llvm" in targets or not targets else f" {'+'.join(targets)}")


def tap(run: Run, case: Case) -> Mapping[str, Array]:
    """What eager PyTorch computes for each value of the graph; empty where it fails.

    What is changed in place cannot be an output: such calls are written plainly, which computes the same.
    """
    names = tuple(value.name for node in case.graph.nodes for value in node.results)
    nodes = tuple(replace(n, form=Form.PLAIN) if n.form is Form.INPLACE else n for n in case.graph.nodes)
    whole = replace(case, graph=replace(case.graph, nodes=nodes, outputs=names))
    match run(whole, (TORCH,)).outcomes[TORCH]:
        case Ran(outputs=outputs):
            return dict(zip(names, outputs, strict=True))
        case _:
            return {}
