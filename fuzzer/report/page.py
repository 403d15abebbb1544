"""A finding as one HTML page without other files, network or scripts. Every value is escaped."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from fuzzer.findings.record import FindingRecord
from fuzzer.report import issue, repro, sanitizer_section, sentences
from fuzzer.report.evidence import shown_evidence
from fuzzer.report.html_pages import environment
from generators.dialect import Dialect, dialect_named
from generators.graph import Form, Node

IR_LINES = 2000
"""The largest number of lines of the difference that the page shows."""


@dataclass(frozen=True, slots=True)
class GraphRow:
    """An input or a node of the graph, as a row of a table."""

    name: str
    type: str
    op: str
    args: str
    attrs: str


def html(record: FindingRecord) -> str:
    templates = environment()
    templates.filters["pieces"] = pieces
    provenance, record = issue.provenance(record), record.shown
    return templates.get_template("finding.html").render(
        title=issue.title(record),
        record=record,
        doc=record.doc,
        summary=sentences.summary(record),
        expected=sentences.expected(record),
        evidence=shown_evidence(record),
        second_look=sanitizer_section.log(record.doc.reports).strip(),
        provenance=provenance,
        steps=list(_graph_rows(record)),
        outputs=record.case.graph.outputs,
        ir=list(difference(record)),
        script=repro.script(record),
    )


def pieces(text: str) -> list[tuple[bool, str]]:
    """Split at backticks into pairs (is code, text)."""
    return [(index % 2 == 1, piece) for index, piece in enumerate(text.split("`")) if piece]


def _graph_rows(record: FindingRecord) -> Iterator[GraphRow]:
    graph = record.case.bound
    dialect = dialect_named(graph.dialect)
    for item in graph.inputs:
        layout = "" if item.layout == "contiguous" else str(item.layout)
        yield GraphRow(item.value.name, str(item.value.type), str(item.role), "", layout)
    for node in graph.nodes:
        attrs = ", ".join(_attributes(node, dialect))
        names, types = ", ".join(v.name for v in node.results), ", ".join(str(v.type) for v in node.results)
        yield GraphRow(names, types, node.title, ", ".join(node.args), attrs)


def _attributes(node: Node, dialect: Dialect) -> Iterator[str]:
    """The attributes that the model has, and the form of a call of a file: the source of a module shows it."""
    for name, value in node.attrs.items():
        if value is not None or not dialect.none_is_left_out:
            yield f"{name}={value!r}"
    if dialect.is_file and node.form is not Form.PLAIN:
        yield f"written as: {node.form}"


def difference(record: FindingRecord) -> Iterator[tuple[str, str]]:
    """Pairs (class, line) of the difference between the two modules, or the lines of the only one that is stored."""
    before, after = record.before.splitlines(), record.after.splitlines()
    if not (before and after):
        lines = [f" {line}" for line in before or after]
    else:
        lines = list(difflib.unified_diff(before, after, "before", "after", lineterm="", n=4))
    names = {"+": "added", "-": "removed", "@": "place"}
    for line in lines[:IR_LINES]:
        yield names.get(line[:1], "same"), line
