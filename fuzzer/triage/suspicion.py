"""Which operator a failure is suspected of, as soon as a test has shown it. Triage groups what waits by it.

What the test has shown says it in most cases: the importer's exception names a node, a message names an operator, or
some outputs are right and others are not. For a wrong result of an importer, one run in which every value is an output
names the first wrong one; it compiles nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fuzzer.cases.attribute_class import class_of
from fuzzer.isolate.fleet import RunLanes
from fuzzer.lanes import EVALUATED_LANES
from fuzzer.triage.eager_values import written_plainly
from fuzzer.triage.part import part_of
from fuzzer.triage.reproduce import judged_by
from fuzzer.triage.suspect import NO_SUSPECT, Certainty, Suspect
from fuzzer.triage.suspects import message_and_functions, named_operators, shows_values, wrong_outputs
from generators.dialect import dialect_named
from generators.graph import Case, Graph, Node
from oracles.finding import Finding, Kind, Mismatch
from oracles.lane import LaneSpec, is_relax
from oracles.outcome import Outcomes, Raised, facts_of

MOST_OPERATORS = 12
"""A suspicion of more operators than this says nothing."""

MOST_ALIKE = 2
"""How many calls that are alike are tried alone."""


def calls_of(case: Case) -> Suspect:
    """All calls of a case as the suspect: the call itself where there is one."""
    return _suspect(case.graph, case.graph.nodes)


def suspect_of(case: Case, finding: Finding, outcomes: Outcomes) -> Suspect:
    """The suspect by what the lanes of a test have shown: `outcomes` are theirs. Nothing runs."""
    nodes = case.graph.nodes
    some: list[Node] = []
    if made := maker_of_wrong_operand(case, finding):
        return made
    part = part_of(finding.evidence.frames) if isinstance(finding.evidence, Raised) else ""
    if len(nodes) == 1:
        some = list(nodes)
    elif isinstance(finding.evidence, Raised):
        pointed = finding.evidence.facts.pointed
        names = (pointed,) if pointed else named_operators(case.graph, message_and_functions(finding.evidence))
        some = [node for node in nodes if _makes(node, names)]
    elif shows_values(finding.kind, finding.lane) and finding.lane in outcomes:
        some = list(_behind(case.graph, wrong_outputs(case, finding.lane, outcomes)))
    return replace(_suspect(case.graph, some or nodes), part=part)


def certain_calls(case: Case, suspect: Suspect) -> tuple[str, ...]:
    """The first results of the calls of a case that are the one which a run has seen to be at fault. () where none was
    seen, or where the call alone shows as another failure."""
    if suspect.certainty is not Certainty.SEEN or suspect.shows_as:
        return ()
    alike = (node for node in case.graph.nodes if _call(case.graph, node) == suspect.call)
    return tuple(node.results[0].name for node in alike)[:MOST_ALIKE]


def maker_of_wrong_operand(case: Case, finding: Finding) -> Suspect | None:
    """The call whose converter gave a wrong type to an operand of the node at which an importer raised, where the
    importer's frames have shown one."""
    wrong = finding.evidence.facts.wrong_operand if isinstance(finding.evidence, Raised) else None
    if wrong is None:
        return None
    suspect = _suspect(case.graph, [node for node in case.graph.nodes if _makes(node, [wrong.value])])
    return replace(suspect, shows_as=Kind.WRONG_DTYPE if wrong.of_dtype else Kind.WRONG_SHAPE)


def first_wrong(run: RunLanes, case: Case, finding: Finding) -> Suspect:
    """The first value that the importer of the lane gets wrong, by one run that compiles nothing. `NO_SUSPECT` where
    its module is right, or cannot be evaluated: then what follows the import is wrong."""
    lane = _evaluated(finding.lane)
    if lane is None or not isinstance(finding.evidence, Mismatch) or not shows_values(finding.kind, finding.lane):
        return NO_SUSPECT
    if finding.evidence.by or finding.evidence.output >= len(case.graph.outputs):  # its plain sibling is right
        return NO_SUSPECT
    cone = _cone(case.graph, case.graph.outputs[finding.evidence.output])
    names = [value.name for node in case.graph.nodes if node.results[0].name in cone for value in node.results]
    everything = written_plainly(case)
    everything = replace(everything, graph=replace(everything.graph, outputs=tuple(names)))
    outcomes = run(everything, judged_by(lane)).outcomes
    wrong = wrong_outputs(everything, lane, outcomes)
    trace = facts_of(outcomes[lane]).trace
    if trace is not None and trace.wrong_result is not None:
        wrong = {everything.graph.outputs[trace.wrong_result]}
    name = next((each for each in everything.graph.outputs if each in wrong), "")
    return _suspect(case.graph, [node for node in case.graph.nodes if _makes(node, [name])])


def _evaluated(lane: LaneSpec) -> LaneSpec | None:
    """The lane of tier 1 whose module the lane compiles, or None: Relay's lanes have none."""
    if not is_relax(lane):
        return None
    importer = lane.importer if lane.importer.row.is_evaluated else lane.importer.route
    found = next((each for each in EVALUATED_LANES if each.importer is importer), None)
    return replace(found, toolchain=lane.toolchain) if found else None


def _behind(graph: Graph, wrong: set[str]) -> Iterator[Node]:
    """The calls that every wrong output depends on and no right one does; those that any wrong one does, where there
    are none of these."""
    cones = {name: _cone(graph, name) for name in dict.fromkeys(graph.outputs)}
    bad = [cone for name, cone in cones.items() if name in wrong]
    right = set().union(*(cone for name, cone in cones.items() if name not in wrong))
    if not bad:
        return
    for some in (set.intersection(*bad) - right, set().union(*bad) - right, set().union(*bad)):
        if some:
            yield from (node for node in graph.nodes if node.results[0].name in some)
            return


def _cone(graph: Graph, name: str) -> set[str]:
    """The first results of the calls that a value depends on."""
    maker = {value.name: node for node in graph.nodes for value in node.results}
    found: set[str] = set()
    left = [name]
    while left:
        node = maker.get(left.pop())
        if node is not None and node.results[0].name not in found:
            found.add(node.results[0].name)
            left.extend(node.args)
    return found


def _makes(node: Node, names: Sequence[str]) -> bool:
    return any(value.name in names for value in node.results)


def _suspect(graph: Graph, nodes: Sequence[Node]) -> Suspect:
    first = {node.title: node for node in reversed(nodes)}
    operators = tuple(dict.fromkeys(node.title for node in nodes))
    if not operators or len(operators) > MOST_OPERATORS:
        return NO_SUSPECT
    called = tuple(dialect_named(graph.dialect).called(graph, first[operator])[:100] for operator in operators)
    if len(operators) > 1:
        return Suspect(operators, certainty=Certainty.ONE_OF, called=called)
    return Suspect(operators, _call(graph, nodes[0]), Certainty.SEEN, called=called)


def _call(graph: Graph, node: Node) -> str:
    types = graph.arg_types(node)
    dtypes, ranks = (", ".join(map(str, each)) for each in ([t.dtype for t in types], [t.rank for t in types]))
    of_parts = dialect_named(graph.dialect).parts.attributes
    attributes = [f"{name}: {class_of(value)}" for name, value in sorted(node.attrs.items()) if name not in of_parts]
    head = [f"{node.title} of {dtypes}", f"rank {ranks}"] if types else [node.title]
    return "; ".join([*head, *attributes])[:500]
