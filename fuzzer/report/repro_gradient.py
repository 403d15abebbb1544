"""Values for the part of `repro.py` that computes gradients."""

from __future__ import annotations

from dataclasses import dataclass

from fuzzer.cases import scalar_loss
from fuzzer.report.script_source import Source, literal_of
from generators.graph import Case


@dataclass(frozen=True, slots=True)
class Gradient:
    """`counting`: positions of the outputs that are summed. `leaves`: positions of the arguments that have gradients.
    `norms`: the model has a normalization."""

    counting: Source
    leaves: Source
    norms: bool


def parts(case: Case) -> Gradient:
    counting = [i for i, weight in enumerate(scalar_loss.weights(case)) if weight is not None]
    names = [item.value.name for item in case.graph.inputs]
    leaves = [names.index(name) for name in scalar_loss.leaves(case)]
    return Gradient(literal_of(counting), literal_of(leaves), any("norm" in op for op in case.graph.ops))
