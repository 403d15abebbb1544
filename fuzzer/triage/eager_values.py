"""The values that eager PyTorch computes for the results of all nodes of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fuzzer.lanes import TORCH
from fuzzer.triage.reproduce import RunLanes
from generators.graph import Array, Case
from oracles.outcome import Ran


def computed_values(run: RunLanes, case: Case) -> Mapping[str, Array]:
    """Return the computed value of each node's results by name, or {} if PyTorch fails.

    A value that is changed in place cannot be an output. Therefore in-place calls are replaced by plain calls, which
    compute the same.
    """
    names = tuple(value.name for node in case.graph.nodes for value in node.results)
    nodes = tuple(node.not_in_place for node in case.graph.nodes)
    every_value = replace(case, graph=replace(case.graph, nodes=nodes, outputs=names))
    match run(every_value, (TORCH,)).outcomes[TORCH]:
        case Ran(outputs=outputs):
            return dict(zip(names, outputs, strict=True))
        case _:
            return {}
