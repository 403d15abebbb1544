"""TVM's Relay: import by either frontend, passes, build for the graph executor or the virtual machine, run twice.

Written for TVM 0.17, which `fuzz toolchain add relay` installs.
"""

from __future__ import annotations

from fuzzer.lanes.base.memory import peak_noted
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.relay.build import built
from fuzzer.lanes.relay.importing import imported
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Ran, Stage


class RelayLane:
    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        return "Relay's frontends are given sizes, not symbols" if spec.symbolic else None

    def run(self, prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran:
        step.note(parameter_bytes=sum(array.nbytes for array in prepared.case.owned.values()))
        with peak_noted(step):
            model = imported(prepared, spec, step)
            function = built(model, spec, step)
            step(Stage.RUN)
            return Ran(function(model.inputs), function(model.inputs))
