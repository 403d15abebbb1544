"""The references: eager PyTorch, an exported program, the results in float64, and the measured envelope."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from fuzzer.lanes.base.arrays import from_torch, to_torch
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.envelope.devices import accuracy_of
from fuzzer.lanes.envelope.measure import envelope
from fuzzer.lanes.envelope.other_sizes import OtherSizes
from fuzzer.lanes.envelope.program import Program, double
from fuzzer.lanes.envelope.sample import PLAIN
from fuzzer.lanes.torch import effects
from fuzzer.lanes.torch.envelope import TORCH, double_precision
from fuzzer.lanes.torch.prepared import build_model, exported, exported_raw, model_of, module_of, tensors_of
from generators.graph import Array, Case
from generators.torch.ops.sample import NAME as TORCH_CALL
from generators.torch.source import render
from oracles.lane import LaneSpec
from oracles.outcome import Ran, Stage


class TorchLane:
    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        return None

    def run(self, prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran:
        with torch.no_grad():
            match spec.variant:
                case "eager":
                    model, inputs = model_of(prepared), tensors_of(prepared)
                    before = [tensor.clone() for tensor in inputs]
                    step(Stage.RUN)
                    outputs = model(*inputs)
                    _require_declared(prepared.case, outputs)
                    step.note(
                        modified=effects.modified(prepared.inputs, before, inputs),
                        aliases=effects.aliases(prepared.inputs, inputs, outputs),
                    )
                    return Ran(_numpy(outputs))
                case "exported":
                    raw = spec.importer.row.reads.is_raw
                    program = module_of(prepared, exported_raw(prepared) if raw else exported(prepared))
                    step(Stage.RUN)
                    return Ran(_numpy(program(*tensors_of(prepared))))
                case "f64":
                    return Ran(_numpy(_truth(prepared, step)))
                case "envelope":
                    step(Stage.RUN)
                    nodes = Program(prepared.case, TORCH, accuracy_of(spec.target))
                    measured = tuple(envelope(nodes))
                    step.note(undefined=nodes.undefined, overflow=nodes.overflow)
                    return Ran(measured)
                case _:
                    raise ValueError(f"no torch lane {spec.variant!r}")


def _numpy(outputs: tuple[torch.Tensor, ...]) -> tuple[Array, ...]:
    return tuple(map(from_torch, outputs))


def _require_declared(case: Case, outputs: Sequence[torch.Tensor]) -> None:
    """Raise `OtherSizes` where a call by name gives another type than the case declares: no rule infers these types, so
    that a case with smaller inputs may declare what PyTorch does not give."""
    if TORCH_CALL not in case.graph.rows:
        return
    for place, (output, declared) in enumerate(zip(outputs, case.bound.output_types, strict=True)):
        if tuple(output.shape) != declared.sizes or output.dtype is not getattr(torch, declared.dtype):
            given = f"{str(output.dtype).removeprefix('torch.')}{list(output.shape)}"
            raise OtherSizes(f"output {place} is {given}, and the case declares {declared}")


def _truth(prepared: PreparedCase, step: Step) -> tuple[torch.Tensor, ...]:
    step(Stage.RENDER)
    if TORCH_CALL in prepared.case.graph.rows:  # some of its calls have no result in float64
        nodes = Program(prepared.case, TORCH)
        step(Stage.RUN)
        return tuple(map(to_torch, nodes.run(PLAIN)))
    params = {name: double(array) for name, array in prepared.case.owned.items()}
    with double_precision():
        model = build_model(render(prepared.case.bound, float64=True), params)
        step(Stage.RUN)
        # contiguous inputs in every case: PyTorch's median of an expanded tensor is wrong
        outputs: tuple[torch.Tensor, ...] = model(*(to_torch(double(array)) for array in prepared.case.inputs.values()))
    return outputs
