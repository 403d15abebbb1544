"""A lane that computes in PyTorch and fails at one operator: the fault that benchmarks/reduction.py plants.

Executed in the zygote by `--preload`. The variant of a faulty lane gives the kind of fault and the operator: `wrong
softmax`, `raise softmax`, `die softmax`.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

from fuzzer.lanes.base.arrays import from_torch
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.faulty import FaultyLane
from fuzzer.lanes.torch.prepared import model_of, tensors_of
from generators.graph import DType
from generators.torch import source as torch_source
from oracles.lane import LaneSpec
from oracles.outcome import Ran, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from generators.graph import Node, Value

original_run, original_statements = FaultyLane.run, torch_source.statements


def fault(how: str, value: Value) -> str:
    """The faulty line, which follows the call that computes the value."""
    match how:
        case "raise":
            return 'raise RuntimeError("planted on purpose")'
        case "die":
            return "import os; os.abort()"
        case _ if value.type.dtype is DType.BOOL:
            return f"{value.name} = ~{value.name}"
        case _:
            return f"{value.name} = {value.name} + 1"


@contextmanager
def planted(how: str, op: str) -> Iterator[None]:
    """Add the fault after each call of the operator."""

    def statements(node: Node, args: tuple[str, ...], layer: str = "", *, float64: bool = False) -> list[str]:
        lines = original_statements(node, args, layer, float64=float64)
        return [*lines, *(fault(how, value) for value in node.results)] if node.op == op else lines

    torch_source.statements = statements
    try:
        yield
    finally:
        torch_source.statements = original_statements


def run(lane: FaultyLane, prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran:
    how, _, op = spec.variant.partition(" ")
    if not op:
        return original_run(lane, prepared, spec, step)
    with planted(how, op):
        model = model_of(prepared)
    step(Stage.RUN)
    with torch.no_grad():
        return Ran(tuple(map(from_torch, model(*tensors_of(prepared)))))


FaultyLane.run = run  # type: ignore[assignment]
