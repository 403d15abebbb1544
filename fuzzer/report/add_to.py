"""Adds to the folder of a saved finding what is made later: its scope, the build that introduced it, other machines on
which it was seen, its natural case, and its regression test."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from fuzzer.findings import finding_file, made_here, natural_file, record
from fuzzer.findings.finding_doc import MOST_MACHINES
from fuzzer.findings.record import FindingRecord
from fuzzer.report import issue, regression_test, repro
from fuzzer.signature.blame import Introduction
from fuzzer.system.machine_facts import MachineFacts
from fuzzer.triage.investigate import Investigated
from fuzzer.triage.scope.statement import Scope

Read = Callable[[Path], FindingRecord]
"""Reads the folder of a finding: `record.read`, or `made_here.read`, which takes own findings only."""


def add_scope(folder: Path, scope: Scope, read: Read = record.read) -> FindingRecord:
    """Write finding.json and issue.md anew. All other files stay as they are."""
    return _with(folder, read, scope=scope)


def add_introduction(folder: Path, introduced: Introduction) -> FindingRecord:
    """Write finding.json and issue.md anew. All other files stay as they are."""
    return _with(folder, record.read, introduced=introduced)


def add_machines(folder: Path, machines: Iterable[MachineFacts]) -> None:
    """Write finding.json and issue.md anew where a machine is new. A finding lists `MOST_MACHINES`."""
    there = finding_file.read(folder).machines
    every = tuple(dict.fromkeys((*there, *machines)))[:MOST_MACHINES]
    if every != there:
        _with(folder, record.read, machines=every)


def _with(folder: Path, read: Read, **fields: Scope | Introduction | tuple[MachineFacts, ...]) -> FindingRecord:
    own = made_here.own_or_none(folder)
    doc = msgspec.structs.replace((own.record() if own else read(folder)).doc, **fields)
    made_here.write_to(folder, own, {finding_file.NAME: finding_file.encode(doc)})
    found = read(folder)  # the natural case gets the fields of the document, too
    made_here.write(folder, {"issue.md": issue.text(found).encode()})
    return found


def add_natural(folder: Path, natural: Investigated, read: Read = record.read) -> FindingRecord:
    """Write the natural case, and the reports that show it."""
    files = natural_file.encode(natural)
    made_here.write(folder, {name: files[name] for name in (natural_file.TENSORS, natural_file.NAME)})
    found = read(folder)
    reports = {"repro.py": repro.script(found), "issue.md": issue.text(found), "log.txt": issue.log(found)}
    made_here.write(folder, {name: text.encode() for name, text in reports.items()})
    return found


def add_test(folder: Path, source: str) -> None:
    made_here.write(folder, {regression_test.NAME: source.encode()})
