"""The total order of reduction: what smaller means."""

from __future__ import annotations

import math
from typing import NamedTuple

from fuzzer.triage.passes.close_sizes import openness
from fuzzer.triage.passes.own_nothing import owned
from fuzzer.triage.passes.plain_lane import plain_road
from fuzzer.triage.passes.plain_types import odd_types
from fuzzer.triage.passes.plain_values import complexity
from fuzzer.triage.passes.plain_writing import frills
from fuzzer.triage.passes.simpler_operators import intricacy
from fuzzer.triage.passes.smaller_attributes import burden
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.siblings import additions


class Size(NamedTuple):
    """Sizes are compared field by field: one operator less counts more than any lane, a plainer lane more than any
    symbol, and so on. A candidate is accepted only if it is smaller than its origin. Therefore a reduction ends.

    operators   calls in the graph
    intricacy   how far the operator of each call is from the plainest operator that may replace it
    lane        features of the lane that its plain sibling lacks; missing argument checks and a rare importer count too
    symbols     open sizes, and further sizes at which the case runs
    outputs     outputs of the graph
    inputs      inputs of the graph, parameters and buffers included
    elements    elements of all inputs; dimensions of size 0 count as 1
    ranks       sum of the ranks of all inputs
    dtypes      inputs that are not float32, int64 or bool
    frills      attributes not at their defaults, calls not in their plain form, layouts, parameters and buffers
    attributes  how large the numbers in the other attributes are
    values      how far the numbers of each input are from zeros and ones
    """

    operators: int
    intricacy: int
    lane: int
    symbols: int
    outputs: int
    inputs: int
    elements: int
    ranks: int
    dtypes: int
    frills: int
    attributes: int
    values: int


def size_of(case: Case, lane: LaneSpec) -> Size:
    graph = case.bound
    types = [item.value.type for item in graph.inputs]
    return Size(
        operators=len(graph.nodes),
        intricacy=intricacy(graph),
        lane=len(additions(lane)) + (not lane.asserts) + (not plain_road(lane)),
        symbols=openness(case),
        outputs=len(graph.outputs),
        inputs=len(types),
        elements=sum(math.prod(max(size, 1) for size in type.sizes) for type in types),
        ranks=sum(type.rank for type in types),
        dtypes=odd_types(graph),
        frills=frills(graph) + owned(graph),
        attributes=burden(graph),
        values=sum(complexity(array) for array in case.tensors.values()),
    )
