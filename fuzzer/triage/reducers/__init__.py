"""The reducers, in the order in which they are tried."""

from fuzzer.triage.reducers.base import Reducer, Subject
from fuzzer.triage.reducers.bypass_nodes import bypass_nodes
from fuzzer.triage.reducers.cut_region import cut_region
from fuzzer.triage.reducers.drop_outputs import drop_outputs
from fuzzer.triage.reducers.fewer_operands import fewer_operands
from fuzzer.triage.reducers.float_inputs import float_inputs
from fuzzer.triage.reducers.keep_region import keep_region
from fuzzer.triage.reducers.lower_rank import lower_rank
from fuzzer.triage.reducers.plain_lane import plain_lane
from fuzzer.triage.reducers.plain_roles import plain_roles
from fuzzer.triage.reducers.plain_types import plain_types
from fuzzer.triage.reducers.plain_values import plain_values
from fuzzer.triage.reducers.plain_writing import plain_writing
from fuzzer.triage.reducers.pointed_node import pointed_node
from fuzzer.triage.reducers.shrink_dims import shrink_dims
from fuzzer.triage.reducers.simpler_operators import simpler_operators
from fuzzer.triage.reducers.smaller_attributes import smaller_attributes
from fuzzer.triage.reducers.static_sizes import static_sizes
from fuzzer.triage.reducers.usual_opset import usual_opset
from fuzzer.triage.reducers.without_given import without_given

CUTTING: tuple[Reducer, ...] = (
    pointed_node,  # first: most reductions end here after one call
    without_given,  # of models that a person gave
    keep_region,  # most others end here after a few calls
    drop_outputs,  # before cut_region, because it removes whole branches at once
    cut_region,  # before bypass_nodes, because it removes all nodes between two needed ones at once
    bypass_nodes,  # last, because it removes one node at a time
)
"""These make graphs smaller. After each success, all of them are tried again."""

REDUCERS: tuple[Reducer, ...] = (
    *CUTTING,
    plain_lane,  # early, because a plainer lane runs faster
    static_sizes,  # before shrink_dims, which can shrink every static size
    plain_writing,  # before plain_types, because an in-place call or a layer fixes the types of its operands
    fewer_operands,  # before plain_roles, because an operand that is gone needs no role
    usual_opset,  # of ONNX
    plain_roles,  # after plain_writing, because the parameters of a layer must belong to the model
    float_inputs,  # before plain_types, which makes int64 of other integers
    plain_types,  # before shrink_dims, because float32 is cheaper to run
    shrink_dims,  # before lower_rank, which removes dimensions of size 1
    lower_rank,
    smaller_attributes,  # after sizes and ranks, which bound them
    plain_values,  # after what removes numbers, because there are fewer to simplify
    simpler_operators,  # last, because most operators have several plainer ones, and few of them show the failure
)

__all__ = ["CUTTING", "REDUCERS", "Reducer", "Subject"]
