"""Values for the functions of `repro.py` that import, transform, compile and run the model.

`run_tvm()` returns the outputs as numpy arrays, or the quantity that the evidence is about. It returns nothing, and
ends with the failed stage, where the rest needs more than this process.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from fuzzer.lanes import EVERY_TVM_LANE
from fuzzer.report import repro_guards, repro_importers, repro_target
from fuzzer.report.repro_importers import ToNumpy
from fuzzer.report.repro_steps import context, dynamo_passes, relax_steps, relay_steps, transforms, within
from fuzzer.report.script_source import NOTHING, Source, joined, literal_of, quoted, source
from generators.graph import Case
from oracles.finding import Excess, Finding, Kind, Mismatch, Quantity, SideEffect, runs_exported_program
from oracles.lane import Engine, Execution, LaneSpec, Params, is_relay, returns_gradients
from oracles.outcome import FAILURES, IllFormed, Mutant, Stage
from oracles.targets import Runs, target_named
from oracles.transforms import ROUND_TRIPS

IMPORT = "import"
"""The value of `IllFormed.after` for a module that is checked right after its import."""

RUN_TVM = source("run_tvm")
RUN_PLAIN = source("run_plain")
"""The names of the script's functions: the lane that fails, and the lane that it is compared with."""

_PARAMS = {
    Params.INPUTS: source(", *params"),
    Params.BUNDLED: source(", tuple(params)"),
    Params.LIFTED: source(', *vm["main_transform_params"](params)'),
    Params.LIFTED_CONSUMING: source(', *vm["main_transform_params"](params)'),
    Params.LIFTED_SHARED: source(', *vm["transform_params"](params)'),
}
"""The arguments of main after the model's inputs."""

_MEASURES: dict[Quantity, tuple[list[Source], Source]] = {
    Quantity.LIBRARY: ([], source("os.path.getsize(path)")),
    Quantity.TIME: ([source("began = time.process_time()")], source("time.process_time() - began")),
    Quantity.MEMORY: (
        [
            source('open("/proc/self/clear_refs", "w").write("5")  # proc(5): the peak starts anew'),
            source("began = peak_bytes()"),
        ],
        source("peak_bytes() - began"),
    ),
    Quantity.CONSTANTS: ([], source("constant_bytes(mod)")),
}
"""Lines before the measured code, and the expression of the measured quantity after it."""


@dataclass(frozen=True, slots=True)
class Reference:
    """An ONNX export alone, onnxruntime, or the exported program in PyTorch. `folds`: constants of the file are
    folded."""

    template: str
    name: Source
    exporter: Source
    raw: bool
    folds: bool


@dataclass(frozen=True, slots=True)
class Dynamo:
    """torch.compile with TVM's backend, which applies `passes`."""

    template: ClassVar[str] = "dynamo.py.j2"
    name: Source
    passes: list[Source]
    context: Source


@dataclass(frozen=True, slots=True)
class Relay:
    """A lane in Relay, as `fuzzer.lanes.relay.lane` runs it. `first` stands before the build; `measured` is what is
    returned where outputs are not."""

    template: ClassVar[str] = "relay.py.j2"
    name: Source
    traces: bool
    exporter: Source
    freezes: bool
    rebinds: bool
    first: list[Source]
    steps: list[Source]
    as_library: bool
    in_vm: bool
    measured: Source


@dataclass(frozen=True, slots=True)
class Relax:
    """A lane in Relax. `importer` and `ends_with` choose the parts of the templates; `first` stands before `steps`,
    which are passes and compilation. `folds`: constants of an exported file are folded. `kept`: the argument by which
    the importer keeps parameters as inputs."""

    template: ClassVar[str] = "relax.py.j2"
    name: Source
    of_mutant: bool
    importer: str
    exporter: Source
    raw: bool
    folds: bool
    keeps_params: bool
    given_sizes: bool
    kept: Source
    first: list[Source]
    steps: list[Source]
    as_library: bool
    export_arguments: Source
    ends_with: str
    arguments: Source
    params: Source
    outputs: str
    measured: Source
    loads: bool
    checks_import: bool


Function = Reference | Dynamo | Relay | Relax


@dataclass(frozen=True, slots=True)
class Checks:
    """What some kinds of evidence need: the pass after which the module is checked, the edits that break the module,
    the measured quantity."""

    after: Source = NOTHING
    instrument: bool = False
    mutant: bool = False
    legalised: bool = False
    edits: Source = NOTHING
    quantity: str = ""


def checks(finding: Finding) -> Checks:
    match finding.evidence:
        case _ if is_relay(finding.lane):
            return Checks()
        case IllFormed(after=after):
            return Checks(after=quoted(after), instrument=_by_instrument(after))
        case Mutant(legalised=legalised, edits=edits):
            return Checks(mutant=True, legalised=legalised, edits=literal_of(json.loads(edits or "[]")))
        case Excess(quantity=quantity):
            return Checks(quantity=quantity.name)
        case _:
            return Checks()


def functions(case: Case, finding: Finding, to_numpy: ToNumpy, *, built: bool) -> list[Function]:
    """`built`: the script builds an ONNX file; `model` is that file and `inputs` are its inputs."""
    lane, evidence = finding.lane, finding.evidence
    make: Callable[[Source, LaneSpec], Function]
    if is_relay(lane):
        make = lambda name, lane: _relay(name, lane, evidence)
    else:
        make = lambda name, lane: _function(name, lane, case, finding, to_numpy, built)
    plain = _lane_named(evidence.against) if isinstance(evidence, Mismatch) and compares_two_lanes(finding) else None
    return [make(RUN_TVM, lane), *([make(RUN_PLAIN, plain)] if plain else [])]


def _by_instrument(check_after: str) -> bool:
    """Whether the module is checked after a pass of TVM."""
    return check_after not in ("", IMPORT, *ROUND_TRIPS)


def compares_two_lanes(finding: Finding) -> bool:
    """Whether the script compares the lane with another lane of TVM, bit for bit."""
    evidence = finding.evidence
    if not isinstance(evidence, Mismatch) or _lane_named(evidence.against) is None:
        return False
    return evidence.worst is None or evidence.worst.truth is None


def gives_results(finding: Finding) -> bool:
    """Whether `run_tvm()` returns the outputs of the model, perhaps with more."""
    lane, evidence = finding.lane, finding.evidence
    if isinstance(evidence, Mutant | Excess) or _is_export(lane, finding):
        return False
    if is_relay(lane) or lane.engine is not Engine.TVM or not lane.importer.row.reads.is_one_graph:
        return True
    return _end(lane, finding) in ("run", "run often", "run guarded", "gradients", "watch")


def _is_export(lane: LaneSpec, finding: Finding) -> bool:
    """Whether the script only exports the model."""
    return lane.importer.row.reads.is_exported_file and _last_stage(finding) is Stage.EXPORT


def runs_repeatedly(finding: Finding) -> bool:
    """Whether `run_tvm()` returns the results of several runs of one program."""
    return finding.kind is Kind.SECOND_RUN_DIFFERS and _calls_a_machine(finding.lane)


def runs_guarded(finding: Finding) -> bool:
    """Whether `run_tvm()` returns the results of two runs of one machine, with other numbers around the tensors in the
    second. It does not where the numbers must change earlier: around constants."""
    guards = repro_guards.parts(finding)
    return guards.of in ("inputs", "allocated") and not guards.write and _calls_a_machine(finding.lane)


def _calls_a_machine(lane: LaneSpec) -> bool:
    """Whether the script calls main of a virtual machine, so that it can do so several times."""
    other = is_relay(lane) or returns_gradients(lane) or not lane.importer.row.reads.is_one_graph
    return lane.engine is Engine.TVM and not other


def _lane_named(name: str) -> LaneSpec | None:
    return next((lane for lane in EVERY_TVM_LANE if lane.name == name), None)


def _function(name: Source, lane: LaneSpec, case: Case, finding: Finding, to_numpy: ToNumpy, built: bool) -> Function:
    if not isinstance(finding.evidence, Mutant | Excess):
        raw, exporter = lane.importer.row.reads.is_raw, repro_importers.exporter(lane)
        if _is_export(lane, finding):
            return Reference("export.py.j2", name, exporter, raw, case.given is None)
        if lane.engine is Engine.ONNXRUNTIME:
            return Reference("onnxruntime.py.j2", name, exporter, raw, case.given is None)
        if runs_exported_program(lane):
            return Reference("exported.py.j2", name, exporter, raw, case.given is None)
        if not lane.importer.row.reads.is_one_graph:
            after = _checked_after(finding) if name == RUN_TVM else ""
            return Dynamo(name, dynamo_passes(lane, after), joined(", ", context(lane, checks=_by_instrument(after))))
    return _relax(name, lane, case, finding, to_numpy, built)


def _relax(name: Source, lane: LaneSpec, case: Case, finding: Finding, to_numpy: ToNumpy, built: bool) -> Relax:
    row, evidence = target_named(lane.target), finding.evidence
    after = _checked_after(finding) if name == RUN_TVM else ""
    end = _end(lane, finding)
    first, measured = _MEASURES[evidence.quantity] if isinstance(evidence, Excess) else ([], NOTHING)
    steps: list[Source] = []
    if end == "measure" and isinstance(evidence, Excess) and evidence.quantity is Quantity.CONSTANTS:
        steps = transforms(lane, "")
    elif end == "schedules":
        lines = [*transforms(lane, ""), source("schedule(mod, target)")]
        steps = within(source("tvm.target.Target({}) as target", literal_of(dict(row.config))), lines)
    elif end not in ("import", "check"):
        there = repro_target.runs_on_a_device(finding) and row.runs is Runs.ON_A_DEVICE
        device = str(row.config["kind"]) if there else ""
        launched = row.runs is Runs.BY_KERNELS and repro_target.is_launched(finding)
        steps = relax_steps(
            lane, after, compiles=end != "transform", checks=_by_instrument(after), device=device, launched=launched
        )
        steps += [source("take_over(executable)")] if launched else []
    whole = end not in ("import", "check", "transform", "compile", "schedules") and "constant" not in measured
    several = finding.kind in (Kind.WRONG_ARITY, Kind.SECOND_RUN_DIFFERS)
    reads = lane.importer.row.reads
    one = reads.has_bare_result and len(case.graph.outputs) == 1
    keeps = lane.params is not Params.BOUND and not returns_gradients(lane)
    return Relax(
        name=name,
        of_mutant=isinstance(evidence, Mutant),
        importer=repro_importers.template_part(lane, built=built),
        exporter=repro_importers.exporter(lane),
        raw=reads.is_raw,
        folds=case.given is None,
        keeps_params=keeps,
        given_sizes=lane.given_sizes,
        kept=NOTHING if not keeps else _KEPT_ONNX if lane.importer.row.reads.is_file else _KEPT,
        first=first,
        steps=steps,
        as_library=whole and bool(row.compilers or lane.as_library or "path" in measured),
        export_arguments=source("path, cc={}, options={}", quoted(row.compilers[0]), literal_of(list(row.flags)))
        if row.compilers
        else source("path"),
        ends_with=end,
        arguments=repro_importers.arguments(
            lane,
            to_numpy,
            repro_target.parts(finding).tensor_device,
            built=built,
            guarded=repro_guards.parts(finding).of == "inputs",
        ),
        params=_PARAMS.get(lane.params, NOTHING),
        outputs="any" if several else "one" if one else "several",
        measured=measured,
        loads=not ("path" in measured or row.written or "constant" in measured),
        checks_import=after == IMPORT,
    )


_KEPT, _KEPT_ONNX = source(", keep_params_as_input=True"), source(", keep_params_in_input=True")


def _end(lane: LaneSpec, finding: Finding) -> str:
    """The part of `relax.py.j2` that ends the function, or the name of the last stage."""
    evidence = finding.evidence
    if repro_target.compares_schedules(finding):
        return "schedules"
    if returns_gradients(lane):
        run = "gradients"
    elif runs_repeatedly(finding):
        run = "run often"
    else:
        run = "run guarded" if runs_guarded(finding) else "run"
    match evidence:
        case Mutant():
            return run
        case Excess():
            return "measure"
        case IllFormed(after=after) if after == IMPORT and not _goes_on(finding):
            return "check"
    last = _last_stage(finding)
    if last in (Stage.IMPORT, Stage.TRANSFORM, Stage.COMPILE):
        return str(last)
    if isinstance(evidence, SideEffect):
        return "watch"
    if repro_target.is_checked(finding) and not compares_two_lanes(finding):
        return "look"
    return "load" if last is Stage.LOAD else run


def _last_stage(finding: Finding) -> Stage:
    """The last stage of the script: the run, or the failed one where the script cannot go on after it."""
    if isinstance(finding.evidence, FAILURES):
        return Stage.RUN if _goes_on(finding) else finding.stage
    only_compiles = isinstance(finding.evidence, IllFormed) and not _goes_on(finding)
    return Stage.COMPILE if only_compiles else Stage.RUN


def _goes_on(finding: Finding) -> bool:
    """Whether the script runs the model to its end and compares the results, once the failure is gone. It does so where
    the code runs in a plain process, and where an ill-formed module does not end the process."""
    lane, evidence = finding.lane, finding.evidence
    if lane.engine is not Engine.TVM or target_named(lane.target).runs is not Runs.HERE:
        return False
    if finding.stage is Stage.EXPORT or repro_target.compares_schedules(finding):
        return False
    return not (isinstance(evidence, IllFormed) and (evidence.follows in _ENDS or is_relay(lane)))


_ENDS = (Kind.DIED, Kind.TIMED_OUT, Kind.OUT_OF_MEMORY)
"""Kinds after which a script cannot go on."""


def _checked_after(finding: Finding) -> str:
    return finding.evidence.after if isinstance(finding.evidence, IllFormed) else ""


def _relay(name: Source, lane: LaneSpec, evidence: object) -> Relay:
    first, measured = _MEASURES[evidence.quantity] if isinstance(evidence, Excess) else ([], NOTHING)
    return Relay(
        name=name,
        traces=lane.importer.row.reads.is_by_jit,
        exporter=repro_importers.exporter(lane),
        freezes=lane.params is Params.BOUND,
        rebinds=lane.params is Params.REBOUND,
        first=first,
        steps=relay_steps(lane),
        as_library=lane.as_library or "path" in measured,
        in_vm=lane.executor is Execution.VM,
        measured=measured,
    )
