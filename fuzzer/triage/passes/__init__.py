"""The reduction passes, in the order in which they are tried."""

from fuzzer.triage.passes.base import Pass, Subject
from fuzzer.triage.passes.bypass_nodes import bypass_nodes
from fuzzer.triage.passes.close_sizes import close_sizes
from fuzzer.triage.passes.cut_region import cut_region
from fuzzer.triage.passes.drop_outputs import drop_outputs
from fuzzer.triage.passes.keep_region import keep_region
from fuzzer.triage.passes.lower_rank import lower_rank
from fuzzer.triage.passes.own_nothing import own_nothing
from fuzzer.triage.passes.plain_lane import plain_lane
from fuzzer.triage.passes.plain_types import plain_types
from fuzzer.triage.passes.plain_values import plain_values
from fuzzer.triage.passes.plain_writing import plain_writing
from fuzzer.triage.passes.shrink_dims import shrink_dims
from fuzzer.triage.passes.simpler_operators import simpler_operators
from fuzzer.triage.passes.smaller_attributes import smaller_attributes

CUTTING: tuple[Pass, ...] = (
    keep_region,  # first: it ends most reductions in a few calls
    drop_outputs,  # before cutting: whole branches go at once
    cut_region,  # before single nodes: what stands between two that are needed
    bypass_nodes,  # what is left of the graph, node by node
)
"""These make graphs smaller. Each success of one makes all of them worth asking again."""

PASSES: tuple[Pass, ...] = (
    *CUTTING,
    plain_lane,  # before what only tidies: a plainer lane runs faster
    close_sizes,  # before sizes: static ones can all be smaller
    simpler_operators,  # before their attributes, which change with them
    plain_writing,  # before types: an in-place call or a layer ties its operands' types together
    own_nothing,  # behind writing: a layer's parameters must belong to the model
    plain_types,  # before sizes: a bug of float32 too is cheaper to look at
    shrink_dims,  # before ranks: only dimensions of size 1 can go
    lower_rank,
    smaller_attributes,  # behind sizes and ranks, which bound them
    plain_values,  # last: fewer numbers to simplify
)

__all__ = ["CUTTING", "PASSES", "Pass", "Subject"]
