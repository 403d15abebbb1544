"""What «smaller» means: the total order of reduction, in one place."""

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
from oracles.siblings import features


class Size(NamedTuple):
    """Sizes compare field by field: one operator less is worth any lane, a plainer lane any sizes, and so on down. A
    candidate is taken only where it is smaller than what it came from, so that a reduction ends.

    operators   calls in the graph
    intricacy   how far each call's operator is from the plainest of its kin
    lane        what the lane does on top of its plain sibling; argument checks left out and a rare road count too
    symbols     sizes that stay open, and further sizes that the case is for
    outputs     of the graph
    inputs      of the graph, those of the model and its parameters alike
    elements    of all inputs; of an empty one, what it would have without its dimensions of size 0
    ranks       of all inputs, added up
    dtypes      inputs that are not float32, int64 or bool
    frills      attributes not at their defaults, calls not in their plain form, layouts, inputs that the model owns
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
        lane=len(features(lane)) + (not lane.asserts) + (not plain_road(lane)),
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
