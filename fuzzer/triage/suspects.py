"""Which nodes of a case the evidence of a failure points at, and the values of the eager reference: one run gives
both.

An exception of an importer names the node (`Facts.pointed`). Where every value is an output, the first wrong one names
the node. Then operators are suspected whose names are in the message or in the functions of the traceback.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from fuzzer.isolate.fleet import RunLanes
from fuzzer.lanes import eager_of
from fuzzer.signature import Signature
from fuzzer.triage.eager_values import values_in, with_every_value
from fuzzer.triage.reproduce import judged_by
from generators.graph import Array, Case, Graph
from oracles.against_torch import judge
from oracles.finding import Finding, Kind
from oracles.identical import difference
from oracles.lane import LaneSpec, returns_gradients
from oracles.outcome import Outcome, Outcomes, Raised, Ran, Stage, facts_of
from oracles.reference import expected
from oracles.transforms import rounding_in

MOST_BY_NAME = 3
"""How many nodes are suspected because of the names of their operators."""

_WITH_VALUES = (
    *(Kind.WRONG_VALUE, Kind.WRONG_DTYPE, Kind.WRONG_SHAPE, Kind.SECOND_RUN_DIFFERS),
    *(Kind.OUT_OF_BOUNDS_READ, Kind.UNINITIALISED_READ),
)


def shows_values(kind: Kind, lane: LaneSpec) -> bool:
    """Whether the lane's outputs can show which value of the graph is wrong. Gradients are no values of the graph."""
    return kind in _WITH_VALUES and not returns_gradients(lane)


@dataclass(frozen=True, slots=True)
class Located:
    """The computed values by name, and results of the nodes that are suspected, most likely first."""

    computed: Mapping[str, Array]
    suspects: tuple[str, ...]


def located(
    run: RunLanes, case: Case, finding: Finding, signature: Signature, certain: tuple[str, ...] = ()
) -> Located:
    """Compute the values of a case with several nodes, and find the suspects. The failing lane runs only if it must:
    not where an earlier run has shown the calls at fault: `certain` are their first results."""
    everything, lane = with_every_value(case), finding.lane
    pointed = _pointed(finding.evidence) if isinstance(finding.evidence, Raised) else ""
    asks_lane = not pointed and not certain and (shows_values(signature.kind, lane) or _may_name_a_node(finding))
    eager = eager_of(case.graph.dialect)
    lanes = tuple(dict.fromkeys((eager, *judged_by(lane, signature)))) if asks_lane else (eager,)
    outcomes = run(everything, lanes).outcomes
    if asks_lane:
        pointed = _pointed(outcomes[lane]) or _first(everything.graph, wrong_outputs(everything, lane, outcomes))
    by_name = (
        named_operators(case.graph, message_and_functions(finding.evidence))
        if isinstance(finding.evidence, Raised)
        else ()
    )
    suspects = tuple(dict.fromkeys((*([pointed] if pointed else []), *certain, *by_name)))
    return Located(values_in(everything, outcomes), suspects)


def wrong_outputs(case: Case, lane: LaneSpec, outcomes: Outcomes) -> set[str]:
    """Return the names of the lane's outputs that differ from the reference's, or between the two runs."""
    names, ran = case.graph.outputs, outcomes[lane]
    if not isinstance(ran, Ran) or len(ran.outputs) != len(names):
        return set()
    twice = zip(names, ran.outputs, ran.again or ran.outputs, strict=True)
    unstable = {name for name, one, other in twice if difference((one,), (other,), "")}
    rounding = rounding_in(lane)
    pairs = zip(names, ran.outputs, expected(outcomes) or (), strict=False)
    return unstable | {name for name, actual, right in pairs if judge((actual,), (right,), rounding)}


def named_operators(graph: Graph, text: str) -> tuple[str, ...]:
    """Return the first results of nodes whose operators a text names: `conv2d` in "relax.nn.conv2d" or `_conv2d`,
    `ReduceSum` in `ReduceSum._impl_v13`. Of calls that are alike, only the first is returned.

    The longest names come first, because short ones are part of other words.
    """
    text, types = text.lower(), graph.types
    lengths = {op: max(_lengths(op.partition("-")[0], text), default=0) for op in {node.op for node in graph.nodes}}
    first: dict[Hashable, tuple[int, str]] = {}
    for node in graph.nodes:
        if lengths[node.op]:  # the name is without the version of an operator of ONNX
            call = (node.op, tuple(types[name] for name in node.args), tuple(node.attrs.items()), node.form)
            first.setdefault(call, (lengths[node.op], node.results[0].name))
    named = sorted(first.values(), key=lambda pair: -pair[0])
    return tuple(name for _, name in named[:MOST_BY_NAME])


def _lengths(op: str, text: str) -> list[int]:
    """Return the lengths of those names of an operator that a text has: for std_all also of std, without "_" too."""
    base = re.sub(r"_(scalar|tensor|all|value)$", "", op.lower())
    names = (op.lower(), base, base.replace("_", ""))
    return [len(name) for name in names if re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", text)]


def _may_name_a_node(finding: Finding) -> bool:
    """Whether the importer that raised walks PyTorch's graph, or the nodes of the model of a case of ONNX."""
    raised = isinstance(finding.evidence, Raised) and finding.stage is Stage.IMPORT
    return raised and not finding.lane.importer.row.reads.is_exported_file


def message_and_functions(raised: Raised) -> str:
    """Return the message of an exception, and the names of the functions in its traceback."""
    return " ".join((raised.message, *(f"{frame.owner} {frame.function}" for frame in raised.frames)))


def _pointed(outcome: Outcome) -> str:
    return facts_of(outcome).pointed


def _first(graph: Graph, wrong: set[str]) -> str:
    """Return the first wrong value in the order of the nodes, or ""."""
    return next((name for name in graph.outputs if name in wrong), "")
