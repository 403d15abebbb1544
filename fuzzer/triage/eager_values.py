"""The values that the eager reference (PyTorch, or onnxruntime) computes for the results of all nodes of a graph; the
witness computes them where onnxruntime does not support the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fuzzer.isolate.fleet import RunLanes
from fuzzer.lanes import eager_of, references_of
from fuzzer.triage.undisturbed import undisturbed
from generators.graph import Array, Case
from oracles.lane import is_witness
from oracles.outcome import Outcomes, Unsupported
from oracles.reference import eager_run


def computed_values(run: RunLanes, case: Case) -> Mapping[str, Array]:
    """Return the computed value of each node's results by name, or {} if the reference fails."""
    everything, dialect = with_every_value(case), case.graph.dialect
    outcomes = undisturbed(run)(everything, (eager_of(dialect),)).outcomes
    if isinstance(outcomes[eager_of(dialect)], Unsupported):
        witnesses = tuple(lane for lane in references_of(dialect) if is_witness(lane))
        outcomes = {**outcomes, **(undisturbed(run)(everything, witnesses).outcomes if witnesses else {})}
    return values_in(everything, outcomes)


def with_every_value(case: Case) -> Case:
    """Return the case with the results of all nodes as its outputs, in the order of the nodes."""
    names = tuple(value.name for node in case.graph.nodes for value in node.results)
    case = written_plainly(case)
    return replace(case, graph=replace(case.graph, outputs=names))


def written_plainly(case: Case) -> Case:
    """Replace in-place calls by plain ones, which compute the same: a value that is changed cannot be an output."""
    return replace(case, graph=replace(case.graph, nodes=tuple(node.not_in_place for node in case.graph.nodes)))


def values_in(everything: Case, outcomes: Outcomes) -> Mapping[str, Array]:
    """Return the reference's outputs of a case by name, or {} if it failed."""
    ran = eager_run(outcomes)
    return dict(zip(everything.graph.outputs, ran.outputs, strict=True)) if ran else {}
