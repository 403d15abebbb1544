"""The references of a case of Relax: the definitions of its operators in the dtypes of the case, in float64, and the
measured envelope."""

from __future__ import annotations

import torch

from fuzzer.lanes.base.arrays import from_torch, to_torch
from fuzzer.lanes.base.lane import Lane
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.envelope.devices import accuracy_of
from fuzzer.lanes.envelope.measure import envelope
from fuzzer.lanes.envelope.program import Program
from fuzzer.lanes.envelope.sample import PLAIN
from fuzzer.lanes.relax.kernel import RELAX, results
from generators.graph import Array, Case, Graph
from generators.table import TABLE
from oracles.lane import LaneSpec
from oracles.outcome import Ran, Stage

CAST = "relax.astype"


class RelaxCaseLane:
    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        return None

    def run(self, prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran:
        step(Stage.RUN)
        match spec.variant:
            case "eager":
                step.note(aliases=shared(prepared.case.graph))
                return Ran(evaluated(prepared.case))
            case "f64":
                return Ran(tuple(Program(prepared.case, RELAX).run(PLAIN)))
            case "envelope":
                nodes = Program(prepared.case, RELAX, accuracy_of(spec.target))
                measured = tuple(envelope(nodes))
                step.note(undefined=nodes.undefined, overflow=nodes.overflow)
                return Ran(measured)
            case _:
                raise ValueError(f"no lane of definitions {spec.variant!r}")


def shared(graph: Graph) -> tuple[tuple[int, str], ...]:
    """The outputs, by position, that may have the memory of an input: they hold the very numbers of it, perhaps after
    a conversion to the dtype that they have. No document says that an operator of Relax makes a tensor of its own."""
    origins = {item.value.name: frozenset({item.value.name}) for item in graph.inputs}
    for node in graph.nodes:
        moves = TABLE[node.op].only_moves or node.op == CAST
        found = frozenset[str]().union(*(origins[name] for name in node.args)) if moves else frozenset[str]()
        origins |= {value.name: found for value in node.results}
    return tuple((place, name) for place, output in enumerate(graph.outputs) for name in sorted(origins[output]))


def evaluated(case: Case) -> tuple[Array, ...]:
    """The outputs of a case in its own dtypes."""
    graph = case.bound
    values = {name: to_torch(array) for name, array in case.tensors.items()}
    with torch.no_grad():
        for node in graph.nodes:
            made = results(node, [values[name] for name in node.args], in_double=False)
            values |= {value.name: each for value, each in zip(node.results, made, strict=True)}
    return tuple(from_torch(values[name]) for name in graph.outputs)


def lane(_: bool) -> Lane:
    """None of them returns gradients."""
    return RelaxCaseLane()
