"""What a failure needs beside the model: the part at fault, the target, the pipeline, passes."""

from __future__ import annotations

from fuzzer.findings.record import FindingRecord
from fuzzer.findings.severity import limits
from fuzzer.report.area import place_of
from fuzzer.report.ignored_attributes import ignored_attributes
from fuzzer.report.names import as_code, pass_name
from fuzzer.signature.blame import DECLARES_INPUTS, Place
from fuzzer.triage.scope.statement import Statement
from fuzzer.triage.scope.table_conditions import numbers_of_table
from fuzzer.triage.scope.words import phrase
from generators.dialect import dialect_named
from generators.graph import Graph
from oracles.finding import Mismatch
from oracles.lane import Pipeline, converts
from oracles.outcome import Stage


def circumstances(record: FindingRecord) -> list[str]:
    """What the failure needs beside the model: the cause, which result is wrong, the target, the pipeline, passes."""
    lane = record.doc.lane
    parts = [part for part in (cause(record), wrong_result(record), *forms(record.case.graph), _needs(record)) if part]
    parts += [f"converted to opset {lane.opset}"] if converts(lane) else []
    parts += [] if lane.target == "llvm" or place_of(record) is Place.FRONTEND else [f"target {lane.target}"]
    parts += [f"pipeline {lane.pipeline}"] if lane.pipeline is not Pipeline.DEFAULT else []
    named = record.doc.blame.culprit
    parts += [
        name
        for name in map(pass_name, lane.passes)
        if name != named and record.doc.identity.stage is not Stage.TRANSFORM
    ]
    return parts


def wrong_result(record: FindingRecord) -> str:
    """Which result of its operator is wrong, where it has a name and is not the first: "output `mask`"."""
    evidence, graph = record.doc.evidence.evidence, record.case.graph
    if not isinstance(evidence, Mismatch) or evidence.output >= len(graph.outputs):
        return ""
    wrong, named = graph.outputs[evidence.output], dialect_named(graph.dialect).result
    results = ((node, place) for node in graph.nodes for place, each in enumerate(node.results) if each.name == wrong)
    name = next((named(node, place) for node, place in results), "")
    return f"output `{name}`" if name else ""


def forms(graph: Graph) -> list[str]:
    """How the calls are written, where that matters: ["`shape` is an input"]."""
    return list(dict.fromkeys(filter(None, map(dialect_named(graph.dialect).written, graph.nodes))))


LONGEST_NEED = 60
"""A longer statement of scope is left out of the title."""


def _needs(record: FindingRecord) -> str:
    """What the certain statement of the scope limits the bug to: "where x0 is bfloat16"; "" if it is long, or if there
    is no limit."""
    scope = record.doc.scope
    if not scope.is_certain and (numbers := numbers_of_table(scope)):
        return f"where {numbers}" if len(numbers) < LONGEST_NEED else ""
    named = {(each.call, each.attribute) for each in ignored_attributes(record)}
    conditions = [
        each
        for each in (limits(scope.statement) if scope.is_certain and scope.statement else [])
        if (each.property.call, each.property.subject) not in named
    ]
    text = phrase(Statement(tuple(conditions)), record.case.graph) if conditions else ""
    return text if len(text) <= LONGEST_NEED else ""


def cause(record: FindingRecord) -> str:
    """The converter, the function that declares inputs, or the legalization at fault; "" where it is not known, and
    for a pass, which the title names."""
    blame = record.doc.blame
    match blame.place:
        case Place.FRONTEND if blame.culprit in DECLARES_INPUTS.values():
            return f"function {as_code(blame.culprit)}"
        case Place.FRONTEND if blame.culprit:
            return f"converter {as_code(blame.culprit)}"
        case Place.LEGALIZATION if blame.culprit:
            return f"legalization of `{blame.culprit}`"
        case _:
            return ""
