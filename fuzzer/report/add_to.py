"""Adds to the folder of a saved finding what is made later: its scope, the build that introduced it, its natural case,
and its regression test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from fuzzer.findings import finding_file, natural_file
from fuzzer.findings.record import FindingRecord, read
from fuzzer.report import issue, regression_test, repro
from fuzzer.signature.blame import Introduction
from fuzzer.system.files import write_atomically
from fuzzer.triage.investigate import Confirmed
from fuzzer.triage.scope.statement import Scope


def add_scope(folder: Path, scope: Scope) -> FindingRecord:
    """Write finding.json and issue.md anew. All other files stay as they are."""
    return _with(folder, scope=scope)


def add_introduction(folder: Path, introduced: Introduction) -> FindingRecord:
    """Write finding.json and issue.md anew. All other files stay as they are."""
    return _with(folder, introduced=introduced)


def _with(folder: Path, **fields: Scope | Introduction) -> FindingRecord:
    record = read(folder)
    record = replace(record, doc=msgspec.structs.replace(record.doc, **fields))
    _write(folder, {finding_file.NAME: finding_file.encode(record.doc), "issue.md": issue.text(record).encode()})
    return record


def add_natural(folder: Path, natural: Confirmed) -> FindingRecord:
    """Write the natural case, and the reports that show it."""
    files = natural_file.encode(natural)
    _write(folder, {name: files[name] for name in (natural_file.TENSORS, natural_file.NAME)})
    record = read(folder)
    reports = {"repro.py": repro.script(record), "issue.md": issue.text(record), "log.txt": issue.log(record)}
    _write(folder, {name: text.encode() for name, text in reports.items()})
    return record


def add_test(folder: Path, source: str) -> None:
    _write(folder, {regression_test.NAME: source.encode()})


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        write_atomically(folder / name, data)
