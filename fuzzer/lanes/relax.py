"""TVM's Relax: import by either frontend, compile for a target, run twice on the virtual machine."""

from __future__ import annotations

from fuzzer.lanes.base import Bench, Step
from fuzzer.lanes.memory import peak_noted
from fuzzer.lanes.relax_build import built, host_compiler, imported, run_twice
from fuzzer.lanes.relax_check import IMPORT, Checker
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Ran


class RelaxLane:
    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        if spec.target == "c" and host_compiler() is None:
            return "no C compiler on PATH"
        return None

    def run(self, bench: Bench, spec: LaneSpec, step: Step) -> Ran:
        step.note(parameter_bytes=sum(array.nbytes for array in bench.case.owned.values()))
        with peak_noted(step):
            return _plain(bench, spec, step)


def _plain(bench: Bench, spec: LaneSpec, step: Step) -> Ran:
    module, names = imported(bench, spec, step)
    checker = Checker(step) if spec.checked else None
    if checker:
        checker.look(module, IMPORT)
        checker.tell()
    machine = built(module, spec, step, checker)
    return run_twice(machine["main"], {name: bench.inputs[name] for name in names}, step)
