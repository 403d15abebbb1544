"""The value that eager PyTorch computes for each name in a graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fuzzer.lanes import TORCH
from fuzzer.triage.reproduce import RunLanes
from generators.graph import Array, Case
from oracles.outcome import Ran


def computed_values(run: RunLanes, case: Case) -> Mapping[str, Array]:
    """Empty where PyTorch fails. A value that is changed in place cannot be an output, so in-place calls are rewritten
    as plain ones, which compute the same."""
    names = tuple(value.name for node in case.graph.nodes for value in node.results)
    nodes = tuple(node.not_in_place for node in case.graph.nodes)
    every_value = replace(case, graph=replace(case.graph, nodes=nodes, outputs=names))
    match run(every_value, (TORCH,)).outcomes[TORCH]:
        case Ran(outputs=outputs):
            return dict(zip(names, outputs, strict=True))
        case _:
            return {}
