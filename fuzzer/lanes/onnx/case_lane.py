"""The references of a case of ONNX: onnxruntime, the interpreter of the onnx package, the results in float64, and the
measured envelope."""

from __future__ import annotations

from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.envelope.devices import accuracy_of
from fuzzer.lanes.envelope.measure import envelope
from fuzzer.lanes.envelope.sample import PLAIN
from fuzzer.lanes.onnx.held_ends import with_held_ends
from fuzzer.lanes.onnx.imported_file import onnx_file
from fuzzer.lanes.onnx.prepared import program_of
from fuzzer.lanes.onnx.witnesses import by_interpreter, by_onnxruntime
from generators.graph import Case
from oracles.lane import WITNESS, Importer, LaneSpec
from oracles.outcome import Ran, Stage


class OnnxCaseLane:
    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        return None

    def run(self, prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran:
        match spec.variant:
            case "eager":
                model, inputs = with_held_ends(onnx_file(prepared, Importer.ONNX_MODEL), prepared.inputs)
                step(Stage.LOAD)
                return Ran(by_onnxruntime(model, inputs, step=step))
            case _ if spec.variant == WITNESS:
                model, inputs = with_held_ends(onnx_file(prepared, Importer.ONNX_MODEL), prepared.inputs)
                step(Stage.LOAD)
                return Ran(by_interpreter(model, inputs, step))
            case "f64":
                step(Stage.LOAD)
                program = program_of(prepared)
                step(Stage.RUN)
                return Ran(tuple(program.run(PLAIN)))
            case "envelope":
                step(Stage.LOAD)
                program = program_of(prepared, accuracy_of(spec.target))
                step(Stage.RUN)
                measured = tuple(envelope(program))
                step.note(undefined=program.undefined, overflow=program.overflow)
                return Ran(measured)
            case _:
                raise ValueError(f"no onnx lane {spec.variant!r}")
