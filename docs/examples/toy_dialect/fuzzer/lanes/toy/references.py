"""The references of a case of the toy: its model in PyTorch, the same in float64, and the measured envelope."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from fuzzer.lanes.base.arrays import from_torch, to_torch
from fuzzer.lanes.base.lane import Lane
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.envelope.measure import envelope
from fuzzer.lanes.envelope.program import Kernels, Program, Tensors
from fuzzer.lanes.envelope.sample import PLAIN
from fuzzer.lanes.torch.prepared import build_model
from generators.graph import Case, Graph, Node
from generators.op import Types
from generators.toy.source import render
from oracles.lane import LaneSpec
from oracles.outcome import Ran, Stage

FUNCTIONS = {"toy.negate": torch.neg, "toy.plus": torch.add, "toy.total": lambda x: x.sum(-1)}


class ToyKernel:
    """One operator, in float64."""

    has_variance = may_be_in_half = False

    def __init__(self, node: Node, graph: Graph, types: Types) -> None:
        self._node = node

    def __call__(self, args: Sequence[torch.Tensor]) -> Tensors:
        return (FUNCTIONS[self._node.op](*args),)

    def in_one_pass(self, args: Sequence[torch.Tensor], direction: int) -> Tensors:
        raise NotImplementedError

    def in_half(self, args: Sequence[torch.Tensor]) -> Tensors:
        raise NotImplementedError

    def without_zeros(self, args: Sequence[torch.Tensor]) -> Tensors:
        raise NotImplementedError


TOY = Kernels(ToyKernel)


class ToyLane:
    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        return None

    def run(self, prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran:
        case = prepared.case
        step(Stage.RUN)
        match spec.variant:
            case "eager":
                model = build_model(render(case.bound), case.owned)
                return Ran(tuple(map(from_torch, model(*map(to_torch, prepared.inputs.values())))))
            case "f64":
                return Ran(tuple(Program(case, TOY).run(PLAIN)))
            case "envelope":
                return Ran(tuple(envelope(Program(case, TOY))))
            case _:
                raise ValueError(f"no reference {spec.variant!r}")


def lane(gradients: bool) -> Lane:
    return ToyLane()
