"""Attributes of a call that TVM ignores."""

from __future__ import annotations

from fuzzer.findings.record import FindingRecord
from fuzzer.report.names import operators
from fuzzer.signature.blame import Place
from fuzzer.triage.scope.statement import Ignored
from fuzzer.triage.scope.words import listed
from generators.dialect import dialect_named
from oracles.lane import returns_gradients


def ignored_attributes(record: FindingRecord) -> list[Ignored]:
    """The attributes of the case that the lane ignores. That of a pass is no property of the operator."""
    doc, nodes = record.doc, record.case.graph.nodes
    if doc.blame.place is Place.PASS or returns_gradients(doc.lane):
        return []
    return [each for each in doc.scope.ignored if each.call < len(nodes) and each.attribute in nodes[each.call].attrs]


def ignores(record: FindingRecord) -> str:
    """ "`torch.sub` ignores `alpha`"; "" where the lane ignores no attribute."""
    found, graph = ignored_attributes(record), record.case.graph
    if not found:
        return ""
    node = graph.nodes[found[0].call]
    of_node = dialect_named(graph.dialect).called(graph, node)
    subject = operators(record) if len(graph.nodes) == 1 else f"`{of_node}`"
    return f"{subject} ignores {listed([f'`{each.attribute}`' for each in found if each.call == found[0].call])}"
