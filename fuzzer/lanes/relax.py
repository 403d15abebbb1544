"""TVM's Relax: import by either frontend, compile for a target, run twice on the virtual machine."""

from __future__ import annotations

from dataclasses import replace

from tvm.relax.frontend import detach_params
from tvm.relax.frontend.torch import from_exported_program

from fuzzer import gradient, open_sizes
from fuzzer.lanes import relax_gradient, relax_mutants, symbolic
from fuzzer.lanes.base import Bench, Step
from fuzzer.lanes.memory import peak_noted
from fuzzer.lanes.relax_build import built, from_onnx_file, host_compiler, run_twice
from fuzzer.lanes.relax_check import Checker
from generators.graph import Case
from oracles.lane import Importer, LaneSpec
from oracles.outcome import Ran, Stage


class RelaxLane:
    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        if spec.target == "c" and host_compiler() is None:
            return "no C compiler on PATH"
        if spec.symbolic and (reason := open_sizes.why_not(case)):
            return reason
        if spec.lifted and not case.owned:
            return "there are no parameters to lift"
        return gradient.why_not(case) if spec.variant == "gradient" else None

    def run(self, bench: Bench, spec: LaneSpec, step: Step) -> Ran:
        step.note(parameter_bytes=sum(array.nbytes for array in bench.case.owned.values()))
        with peak_noted(step):
            match spec.variant:
                case "relax":
                    return _lifted(bench, spec, step) if spec.lifted else _plain(bench, spec, step)
                case "gradient":
                    return relax_gradient.run(bench, spec, step)
                case "mutants":
                    return relax_mutants.run(bench, spec, step)
                case _:
                    raise ValueError(f"no TVM lane {spec.variant!r}")


def _plain(bench: Bench, spec: LaneSpec, step: Step) -> Ran:
    if spec.importer is Importer.ONNX:
        module, names = from_onnx_file(bench.onnx_model, step)
    else:
        program = symbolic.exported(bench, step) if spec.symbolic else bench.exported
        step(Stage.IMPORT)
        module, names = from_exported_program(program, run_ep_decomposition=False), list(bench.inputs)
    machine = built(module, spec, step, Checker.after_import(module, spec, step))
    return run_twice(machine["main"], {name: bench.inputs[name] for name in names}, step)


def _lifted(bench: Bench, spec: LaneSpec, step: Step) -> Ran:
    """The protocol of LiftTransformParams, which changes main's signature on purpose: what can be computed from the
    parameters alone is computed first, by a function of its own, and main takes what that gives."""
    program = symbolic.exported(bench, step) if spec.symbolic else bench.exported
    step(Stage.IMPORT)
    module = from_exported_program(program, run_ep_decomposition=False, keep_params_as_input=True)
    module, params = detach_params(module)
    checker = Checker.after_import(module, spec, step)
    lifting = replace(spec, passes=("LiftTransformParams", *spec.passes))
    machine = built(module, lifting, step, checker)
    step(Stage.RUN)
    lifted = machine["main_transform_params"](params["main"])
    main = machine["main"]
    return run_twice(lambda *inputs: main(*inputs, *lifted), bench.inputs, step)
