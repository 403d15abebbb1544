"""The references: eager PyTorch, an exported program, the results in float64, and the measured envelope."""

from __future__ import annotations

import torch

from fuzzer.lanes.base.bench import Bench, Step, build_model, from_torch, to_torch
from fuzzer.lanes.torch import effects
from fuzzer.lanes.torch.envelope import double, double_precision, envelope
from generators.graph import Array, Case
from generators.torch_source import render
from oracles.lane import Importer, LaneSpec
from oracles.outcome import Ran, Stage


class TorchLane:
    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        return None

    def run(self, bench: Bench, spec: LaneSpec, step: Step) -> Ran:
        with torch.no_grad():
            match spec.variant:
                case "eager":
                    model, inputs = bench.model, bench.torch_inputs()
                    before = [tensor.clone() for tensor in inputs]
                    step(Stage.RUN)
                    outputs = model(*inputs)
                    step.note(
                        modified=effects.modified(bench.inputs, before, inputs),
                        aliases=effects.aliases(bench.inputs, inputs, outputs),
                    )
                    return Ran(_numpy(outputs))
                case "exported":
                    raw = spec.importer is Importer.EXPORT_RAW
                    program = (bench.exported_raw if raw else bench.exported).module()
                    step(Stage.RUN)
                    return Ran(_numpy(program(*bench.torch_inputs())))
                case "f64":
                    return Ran(_numpy(_truth(bench, step)))
                case "envelope":
                    step(Stage.RUN)
                    return Ran(tuple(envelope(bench.case)))
                case _:
                    raise ValueError(f"no torch lane {spec.variant!r}")


def _numpy(outputs: tuple[torch.Tensor, ...]) -> tuple[Array, ...]:
    return tuple(map(from_torch, outputs))


def _truth(bench: Bench, step: Step) -> tuple[torch.Tensor, ...]:
    step(Stage.RENDER)
    params = {name: double(array) for name, array in bench.case.owned.items()}
    with double_precision():
        model = build_model(render(bench.case.bound, float64=True), params)
        step(Stage.RUN)
        # contiguous inputs in every case: PyTorch's median of an expanded tensor is wrong
        outputs: tuple[torch.Tensor, ...] = model(*(to_torch(double(array)) for array in bench.case.inputs.values()))
    return outputs
