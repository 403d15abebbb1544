"""The lanes of TVM's Relax: import, run passes, compile for a target, and run twice on the virtual machine."""

from __future__ import annotations

from contextlib import nullcontext
from importlib.util import find_spec

from fuzzer.cases import open_sizes, scalar_loss
from fuzzer.cases.parts_of_bytes import has_parts_of_bytes, not_fed
from fuzzer.lanes.base.availability import Missing, availability, compiler_of, runs_by_kernels
from fuzzer.lanes.base.held import with_held_results
from fuzzer.lanes.base.memory import peak_noted
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.evaluated import evaluation, interpreter
from fuzzer.lanes.launched.kernels import Kernels
from fuzzer.lanes.mutants import mutants
from fuzzer.lanes.relax import dynamo, gradient, own_passes, sanitized, schedules
from fuzzer.lanes.relax.behaviour import BehaviourRecorder
from fuzzer.lanes.relax.build import built, device_of, generator_lacks
from fuzzer.lanes.relax.check import Checker
from fuzzer.lanes.relax.guarded_run import run_twice, run_twice_on
from fuzzer.lanes.relax.importing import imported
from fuzzer.lanes.relax.params import main_of
from fuzzer.lanes.relax.releases import other_script
from fuzzer.lanes.relax.trace import Tracer
from generators.dialect import dialect_named
from generators.graph import Case
from oracles.lane import SCHEDULES, LaneSpec, Params, is_tier_1
from oracles.outcome import Built, Ran
from oracles.targets import Runs, target_named
from oracles.trace import CALL_BUILT_KERNELS, INTERPRET_KERNELS, INTERPRET_OPERATORS
from oracles.transforms import TRANSFORMS_BY_NAME


class RelaxLane:
    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        here = availability(spec)
        if isinstance(here, Missing):
            return here.why
        if spec.variant != SCHEDULES and (reason := generator_lacks(target_named(spec.target))):
            return reason
        if case.given is not None and spec.importer.row.reads.is_by_fx:
            return "the model is given as an exported program, which nothing traces again"
        if case.given is not None and case.given.small and spec.variant != "relax":
            return f"the model has values of {sorted(case.given.small.values())[0]}, which only a compiled model takes"
        if missing := own_passes.missing(spec.passes) or _other_floats(case, spec):
            return missing
        if dialect_named(spec.dialect).is_file and spec.opset and not find_spec("onnxruntime"):
            return "there is no onnxruntime, which confirms the converted file"
        in_script = dialect_named(spec.dialect).module or spec.variant == SCHEDULES
        if in_script and (reason := other_script()):
            return reason
        if spec.symbolic and (reason := open_sizes.why_not(case)):
            return reason
        if spec.params is not Params.BOUND and not case.owned:
            return "there are no parameters"
        return scalar_loss.why_not(case) if spec.variant == "gradient" else None

    def run(self, prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran | Built:
        step.note(parameter_bytes=sum(array.nbytes for array in prepared.case.owned.values()))
        with peak_noted(step):
            match spec.variant:
                case "relax" if not spec.importer.row.reads.is_one_graph:
                    return dynamo.run(prepared, spec, step)
                case "relax":
                    return with_held_results(prepared.case, _plain(prepared, spec, step))
                case variant if variant in (INTERPRET_OPERATORS, INTERPRET_KERNELS, CALL_BUILT_KERNELS):
                    return interpreter.run(prepared, spec, step)
                case _ if is_tier_1(spec):
                    return evaluation.run(prepared, spec, step)
                case variant if variant == SCHEDULES:
                    return schedules.run(prepared, spec, step)
                case "gradient":
                    return gradient.run(prepared, spec, step)
                case "mutants":
                    return mutants.run(prepared, spec, step)
                case _:
                    raise ValueError(f"no TVM lane {spec.variant!r}")


def _other_floats(case: Case, spec: LaneSpec) -> str:
    """A pass of the lane and the dtype of the case that it is not made for, as a sentence; empty: there is none."""
    floats = sorted({type.dtype for type in case.graph.types.values() if type.dtype.is_float})
    for row in (TRANSFORMS_BY_NAME[name] for name in spec.passes if name in TRANSFORMS_BY_NAME):
        if others := [dtype for dtype in floats if row.floats and dtype not in row.floats]:
            return f"{row.pass_name} is made for {' and '.join(row.floats)}, not for {others[0]}"
    return ""


def _plain(prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran | Built:
    tracer = Tracer.of(spec, step, prepared.case)
    with tracer.importing() if tracer else nullcontext():
        model = imported(prepared, spec, step)
    if tracer:
        tracer.imported(model.module)
    checker = Checker.after_import(model.module, spec, step)
    recorder = BehaviourRecorder(step)
    recorder.imported(model.module)
    row = target_named(spec.target)
    kernels = Kernels() if runs_by_kernels(spec) else None
    machine = built(model.module, spec, step, checker, model.params, tracer, recorder, kernels)
    if machine is None or not_fed(prepared.case):
        return Built()
    if row.runs is Runs.SANITIZED:
        return sanitized.run(machine, model.inputs, str(compiler_of(row)), step)
    if row.runs is Runs.ON_A_DEVICE or (row.runs is Runs.HERE and has_parts_of_bytes(prepared.case)):
        return run_twice_on(device_of(row), lambda: main_of(machine, spec.params, model.params), model.inputs, step)
    with kernels.raising() if kernels else nullcontext():
        return run_twice(lambda: main_of(machine, spec.params, model.params), model.inputs, step, model.constants)
