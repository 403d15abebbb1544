"""Values for the functions of `repro.py` that import, transform, compile and run the model, up to the failed stage.

`run_tvm()` returns the outputs as numpy arrays, or the quantity that the evidence is about, or nothing if it fails
before.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from fuzzer.lanes import EVERY_TVM_LANE
from fuzzer.report import repro_guards, repro_importers, repro_target
from fuzzer.report.python_source import literal_of
from fuzzer.report.repro_steps import context, dynamo_passes, relax_steps, relay_steps, transforms
from generators.graph import Case
from oracles.finding import Excess, Finding, Kind, Mismatch, Quantity, SideEffect
from oracles.lane import Engine, Execution, Importer, LaneSpec, Params, is_relay, returns_gradients
from oracles.outcome import FAILURES, IllFormed, Mutant, Stage
from oracles.targets import TARGETS_BY_NAME, Runs
from oracles.transforms import ROUND_TRIPS

IMPORT = "import"
"""The value of `IllFormed.after` for a module that is checked right after its import."""

RUN_TVM = "run_tvm"
RUN_PLAIN = "run_plain"
"""The names of the script's functions: the lane that fails, and the lane that it is compared with."""

_PARAMS = {
    Params.INPUTS: ", *params",
    Params.BUNDLED: ", tuple(params)",
    Params.LIFTED: ', *vm["main_transform_params"](params)',
    Params.LIFTED_CONSUMING: ', *vm["main_transform_params"](params)',
    Params.LIFTED_SHARED: ', *vm["transform_params"](params)',
}
"""The arguments of main after the model's inputs."""

_MEASURES: dict[Quantity, tuple[list[str], str]] = {
    Quantity.LIBRARY: ([], "os.path.getsize(path)"),
    Quantity.TIME: (["began = time.process_time()"], "time.process_time() - began"),
    Quantity.MEMORY: (
        ['open("/proc/self/clear_refs", "w").write("5")  # proc(5): the peak starts anew', "began = peak_bytes()"],
        "peak_bytes() - began",
    ),
    Quantity.CONSTANTS: ([], "constant_bytes(mod)"),
}
"""Lines before the measured code, and the expression of the measured quantity after it."""


@dataclass(frozen=True, slots=True)
class Reference:
    """An ONNX export alone, onnxruntime, or the exported program in PyTorch."""

    template: str
    name: str
    exporter: str
    raw: bool


@dataclass(frozen=True, slots=True)
class Dynamo:
    """torch.compile with TVM's backend, which applies `passes`."""

    template: ClassVar[str] = "dynamo.py.j2"
    name: str
    passes: list[str]
    context: str


@dataclass(frozen=True, slots=True)
class Relay:
    """A lane in Relay, as `fuzzer.lanes.relay.lane` runs it. `first` stands before the build; `measured` is what is
    returned where outputs are not."""

    template: ClassVar[str] = "relay.py.j2"
    name: str
    traces: bool
    exporter: str
    freezes: bool
    rebinds: bool
    first: list[str]
    steps: list[str]
    as_library: bool
    in_vm: bool
    measured: str


@dataclass(frozen=True, slots=True)
class Relax:
    """A lane in Relax. `importer` and `ends_with` choose the parts of the templates; `first` stands before `steps`,
    which are passes and compilation."""

    template: ClassVar[str] = "relax.py.j2"
    name: str
    of_mutant: bool
    importer: str
    exporter: str
    raw: bool
    keeps_params: bool
    given_sizes: bool
    keep_option: str
    first: list[str]
    steps: list[str]
    as_library: bool
    export_arguments: str
    ends_with: str
    arguments: str
    params: str
    outputs: str
    measured: str
    loads: bool


Function = Reference | Dynamo | Relay | Relax


@dataclass(frozen=True, slots=True)
class Checks:
    """What some kinds of evidence need: the pass after which the module is checked, the edits that break the module,
    the measured quantity."""

    after: str = ""
    instrument: bool = False
    mutant: bool = False
    legalised: bool = False
    edits: str = ""
    quantity: str = ""


def checks(finding: Finding) -> Checks:
    match finding.evidence:
        case _ if is_relay(finding.lane):
            return Checks()
        case IllFormed(after=after):
            return Checks(after=after, instrument=_by_instrument(after))
        case Mutant(legalised=legalised, edits=edits):
            return Checks(mutant=True, legalised=legalised, edits=literal_of(json.loads(edits or "[]")))
        case Excess(quantity=quantity):
            return Checks(quantity=quantity.name)
        case _:
            return Checks()


def functions(case: Case, finding: Finding, torch_to_numpy: str, *, built: bool) -> list[Function]:
    """`built`: the script builds an ONNX file; `model` is that file and `inputs` are its inputs."""
    lane, evidence = finding.lane, finding.evidence
    make: Callable[[str, LaneSpec], Function]
    if is_relay(lane):
        make = lambda name, lane: _relay(name, lane, evidence)
    else:
        make = lambda name, lane: _function(name, lane, case, finding, torch_to_numpy, built)
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
    """Whether the script runs the compiled model on its inputs."""
    return _end(finding.lane, finding) in ("run", "run often", "run guarded", "gradients", "watch")


def runs_repeatedly(finding: Finding) -> bool:
    """Whether `run_tvm()` returns the results of several runs of one program."""
    return finding.kind is Kind.UNSTABLE and _calls_a_machine(finding.lane)


def runs_guarded(finding: Finding) -> bool:
    """Whether `run_tvm()` returns the results of two runs of one machine, with other numbers around the tensors in the
    second. It does not where the numbers must change earlier: around constants."""
    guards = repro_guards.parts(finding)
    return guards.of in ("inputs", "allocated") and not guards.write and _calls_a_machine(finding.lane)


def _calls_a_machine(lane: LaneSpec) -> bool:
    """Whether the script calls main of a virtual machine, so that it can do so several times."""
    other = is_relay(lane) or returns_gradients(lane) or lane.importer is Importer.DYNAMO
    return lane.engine is Engine.TVM and not other


def _lane_named(name: str) -> LaneSpec | None:
    return next((lane for lane in EVERY_TVM_LANE if lane.name == name), None)


def _function(name: str, lane: LaneSpec, case: Case, finding: Finding, torch_to_numpy: str, built: bool) -> Function:
    if not isinstance(finding.evidence, Mutant | Excess):
        raw, exporter = lane.importer is Importer.EXPORT_RAW, repro_importers.exporter(lane)
        if lane.importer.is_onnx and _last_stage(finding) is Stage.EXPORT:
            return Reference("export.py.j2", name, exporter, raw)
        if lane.engine is Engine.ONNXRUNTIME:
            return Reference("onnxruntime.py.j2", name, exporter, raw)
        if lane.engine is Engine.TORCH and lane.importer.is_exported:
            return Reference("exported.py.j2", name, exporter, raw)
        if lane.importer is Importer.DYNAMO:
            after = _checked_after(finding) if name == RUN_TVM else ""
            return Dynamo(name, dynamo_passes(lane, after), ", ".join(context(lane, checks=_by_instrument(after))))
    return _relax(name, lane, case, finding, torch_to_numpy, built)


def _relax(name: str, lane: LaneSpec, case: Case, finding: Finding, torch_to_numpy: str, built: bool) -> Relax:
    row, evidence = TARGETS_BY_NAME[lane.target], finding.evidence
    after = _checked_after(finding) if name == RUN_TVM else ""
    end = _end(lane, finding)
    first, measured = _MEASURES[evidence.quantity] if isinstance(evidence, Excess) else ([], "")
    steps: list[str] = []
    if end == "measure" and isinstance(evidence, Excess) and evidence.quantity is Quantity.CONSTANTS:
        steps = transforms(lane, "")
    elif end not in ("import", "check"):
        there = repro_target.runs_on_a_device(finding) and row.runs is Runs.ON_A_DEVICE
        device = str(row.config["kind"]) if there else ""
        steps = relax_steps(lane, after, compiles=end != "transform", checks=_by_instrument(after), device=device)
    whole = end not in ("import", "check", "transform", "compile") and "constant" not in measured
    several = finding.kind in (Kind.WRONG_ARITY, Kind.UNSTABLE)
    one = lane.importer.reads_onnx and len(case.graph.outputs) == 1
    keeps = lane.params is not Params.BOUND and not returns_gradients(lane)
    return Relax(
        name=name,
        of_mutant=isinstance(evidence, Mutant),
        importer=repro_importers.template_part(lane, built=built),
        exporter=repro_importers.exporter(lane),
        raw=lane.importer is Importer.EXPORT_RAW,
        keeps_params=keeps,
        given_sizes=lane.given_sizes,
        keep_option="keep_params_in_input" if lane.importer.reads_onnx else "keep_params_as_input",
        first=first,
        steps=steps,
        as_library=whole and bool(row.compilers or lane.as_library or "path" in measured),
        export_arguments=f"path, cc={literal_of(row.compilers[0])}, options={literal_of(list(row.flags))}"
        if row.compilers
        else "path",
        ends_with=end,
        arguments=repro_importers.arguments(
            lane,
            torch_to_numpy,
            repro_target.parts(finding).tensor_device,
            built=built,
            guarded=repro_guards.parts(finding).of == "inputs",
        ),
        params=_PARAMS.get(lane.params, ""),
        outputs="any" if several else "one" if one else "several",
        measured=measured,
        loads=not ("path" in measured or row.written or "constant" in measured),
    )


def _end(lane: LaneSpec, finding: Finding) -> str:
    """The part of `relax.py.j2` that ends the function, or the name of the last stage."""
    evidence = finding.evidence
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
        case IllFormed(after=after) if after == IMPORT:
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
    """The last stage of the script: the failed one, or the one that the evidence needs."""
    if isinstance(finding.evidence, FAILURES):
        return finding.stage
    return Stage.COMPILE if isinstance(finding.evidence, IllFormed) else Stage.RUN


def _checked_after(finding: Finding) -> str:
    return finding.evidence.after if isinstance(finding.evidence, IllFormed) else ""


def _relay(name: str, lane: LaneSpec, evidence: object) -> Relay:
    first, measured = _MEASURES[evidence.quantity] if isinstance(evidence, Excess) else ([], "")
    return Relay(
        name=name,
        traces=lane.importer is Importer.TRACE,
        exporter=repro_importers.exporter(lane),
        freezes=lane.params is Params.BOUND,
        rebinds=lane.params is Params.REBOUND,
        first=first,
        steps=relay_steps(lane),
        as_library=lane.as_library or "path" in measured,
        in_vm=lane.executor is Execution.VM,
        measured=measured,
    )
