"""The total order of reduction, which defines what a smaller case is."""

from __future__ import annotations

import math
from typing import NamedTuple

from fuzzer.triage.reducers.float_inputs import has_no_float
from fuzzer.triage.reducers.plain_lane import has_usual_importer, has_usual_target
from fuzzer.triage.reducers.plain_roles import owned_inputs
from fuzzer.triage.reducers.plain_types import unusual_dtypes
from fuzzer.triage.reducers.plain_values import value_complexity
from fuzzer.triage.reducers.plain_writing import written_extras
from fuzzer.triage.reducers.simpler_operators import operator_complexity
from fuzzer.triage.reducers.smaller_attributes import attribute_size
from fuzzer.triage.reducers.static_sizes import symbol_size
from fuzzer.triage.reducers.usual_opset import opset_rank
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.siblings import additions


class Size(NamedTuple):
    """The size of a case and a lane.

    Sizes are compared field by field: one operator less counts more than any plainer lane, and so on.
    A candidate is accepted only if it is smaller than its origin. Therefore a reduction ends. The names of the fields
    are keys of `fuzz minimize --json`.

    given       1 where lanes run the model that a person gave, not that of the graph
    operators   calls in the graph
    intricacy   how many plainer operators could replace the operators of the calls, in all
    lane        features of the lane that its plain sibling lacks; missing argument checks, a rare importer and another
                target than llvm count too
    symbols     open sizes, and further sizes at which the case runs
    outputs     outputs of the graph
    inputs      inputs of the graph, parameters and buffers included
    elements    elements of all inputs; dimensions of size 0 count as 1
    ranks       sum of the ranks of all inputs
    dtypes      inputs that are not float32, int64 or bool; one more where no input is a float
    frills      extras: attributes not at their defaults, calls not in their plain form, layouts, parameters and
                buffers; for ONNX also an opset that is not the newest
    attributes  size of the numbers in the other attributes
    values      complexity of the numbers of each input; 0 for only zeros or only ones
    """

    given: int
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
    """Return the size of the case on the lane."""
    graph = case.bound
    types = [item.value.type for item in graph.inputs]
    return Size(
        given=int(case.given is not None),
        operators=len(graph.nodes),
        intricacy=operator_complexity(graph),
        lane=len(additions(lane)) + (not lane.asserts) + (not has_usual_importer(lane)) + (not has_usual_target(lane)),
        symbols=symbol_size(case),
        outputs=len(graph.outputs),
        inputs=len(types),
        elements=sum(math.prod(max(size, 1) for size in type.sizes) for type in types),
        ranks=sum(type.rank for type in types),
        dtypes=unusual_dtypes(graph) + has_no_float(graph),
        frills=written_extras(graph) + owned_inputs(graph) + opset_rank(graph),
        attributes=attribute_size(graph),
        values=sum(value_complexity(array) for array in case.tensors.values()),
    )
