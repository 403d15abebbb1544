"""The references: eager PyTorch, an exported program, the results in float64, and the measured envelope."""

from __future__ import annotations

import torch

from fuzzer.lanes.base.prepared_case import PreparedCase, Step, build_model, from_torch, to_torch
from fuzzer.lanes.envelope.program import double
from fuzzer.lanes.torch import effects
from fuzzer.lanes.torch.envelope import double_precision, envelope
from generators.graph import Array, Case
from generators.torch.source import render
from oracles.lane import Importer, LaneSpec
from oracles.outcome import Ran, Stage


class TorchLane:
    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        return None

    def run(self, prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran:
        with torch.no_grad():
            match spec.variant:
                case "eager":
                    model, inputs = prepared.model, prepared.torch_inputs()
                    before = [tensor.clone() for tensor in inputs]
                    step(Stage.RUN)
                    outputs = model(*inputs)
                    step.note(
                        modified=effects.modified(prepared.inputs, before, inputs),
                        aliases=effects.aliases(prepared.inputs, inputs, outputs),
                    )
                    return Ran(_numpy(outputs))
                case "exported":
                    raw = spec.importer is Importer.EXPORT_RAW
                    program = (prepared.exported_raw if raw else prepared.exported).module()
                    step(Stage.RUN)
                    return Ran(_numpy(program(*prepared.torch_inputs())))
                case "f64":
                    return Ran(_numpy(_truth(prepared, step)))
                case "envelope":
                    step(Stage.RUN)
                    return Ran(tuple(envelope(prepared.case)))
                case _:
                    raise ValueError(f"no torch lane {spec.variant!r}")


def _numpy(outputs: tuple[torch.Tensor, ...]) -> tuple[Array, ...]:
    return tuple(map(from_torch, outputs))


def _truth(prepared: PreparedCase, step: Step) -> tuple[torch.Tensor, ...]:
    step(Stage.RENDER)
    params = {name: double(array) for name, array in prepared.case.owned.items()}
    with double_precision():
        model = build_model(render(prepared.case.bound, float64=True), params)
        step(Stage.RUN)
        # contiguous inputs in every case: PyTorch's median of an expanded tensor is wrong
        outputs: tuple[torch.Tensor, ...] = model(*(to_torch(double(array)) for array in prepared.case.inputs.values()))
    return outputs
