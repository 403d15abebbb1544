"""The reduction passes, in the order in which they are tried."""

from fuzzer.triage.passes.base import Pass, Subject
from fuzzer.triage.passes.bypass_nodes import bypass_nodes
from fuzzer.triage.passes.drop_outputs import drop_outputs
from fuzzer.triage.passes.keep_region import keep_region
from fuzzer.triage.passes.plain_lane import plain_lane
from fuzzer.triage.passes.plain_types import plain_types
from fuzzer.triage.passes.plain_values import plain_values
from fuzzer.triage.passes.plain_writing import plain_writing
from fuzzer.triage.passes.shrink_dims import shrink_dims

PASSES: tuple[Pass, ...] = (
    keep_region,  # first: it ends most reductions in a few calls
    drop_outputs,  # before bypassing: whole branches go at once
    bypass_nodes,  # what is left of the graph, node by node
    plain_lane,  # before what only tidies: a plainer lane runs faster
    plain_writing,  # before types: an in-place call or a layer ties its operands' types together
    plain_types,  # before sizes: a bug of float32 too is cheaper to look at
    shrink_dims,  # before values: fewer numbers to simplify
    plain_values,
)

__all__ = ["PASSES", "Pass", "Subject"]
