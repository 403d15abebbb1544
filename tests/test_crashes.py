"""The findings that ship with the project read back, are reported by today's code, and are still what they were."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from fuzzer.findings import finding_file
from fuzzer.findings.record import FindingRecord, read
from fuzzer.findings.replay import replay
from fuzzer.isolate.fleet import Fleet
from fuzzer.report import issue, repro
from fuzzer.signature import signature_of
from fuzzer.system.exit_codes import Exit
from generators.check import check
from oracles.finding import Component

CRASHES = Path(__file__).parents[1] / "crashes"
SHIPPED = [CRASHES / slug for slug in sorted((CRASHES / "SHIPPED").read_text().split())]
REPLAYED = 4
"""`REPLAYED` of them are run: each takes seconds."""


@pytest.fixture(scope="module")
def records() -> list[FindingRecord]:
    return [read(folder) for folder in SHIPPED]


def test_at_least_thirty_steady_bugs_of_tvm_are_shipped(records: list[FindingRecord]) -> None:
    assert len(records) >= 30
    assert all(record.doc.component is Component.TVM and not record.doc.flaky for record in records)
    assert len({record.doc.signature for record in records}) == len(records)


@pytest.mark.slow
def test_each_is_reduced_and_blamed_and_has_an_issue(records: list[FindingRecord]) -> None:
    for record in records:
        check(record.case)
        assert record.doc.reduction_finished, record.doc.slug
        assert record.doc.blame.place is not None or record.doc.blame.operator, record.doc.slug
        assert issue.title(record).startswith("[Bug]"), record.doc.slug
        assert f"<!-- difftvm: {record.doc.signature} -->" in issue.body(record), record.doc.slug
    assert statistics.median(len(record.doc.ops) for record in records) == 1
    assert statistics.median(repro.script(record).count("\n") for record in records) <= 70


def test_each_is_in_the_clone_and_git_does_not_ignore_it() -> None:
    """Git ignores what campaigns put into crashes/: in a clone, there is only what was added."""
    ignored = (CRASHES.parent / ".gitignore").read_text().splitlines()
    for folder in SHIPPED:
        assert (folder / finding_file.NAME).exists(), f"{folder.name} is not there: git add crashes/{folder.name}"
        assert f"!/crashes/{folder.name}/" in ignored, "run `make docs NAMES=tracked-findings`"


def test_the_current_signature_of_each_is_that_of_its_folder(records: list[FindingRecord]) -> None:
    for record in records:
        assert record.doc.identity.same_failure(signature_of(record.doc.finding)), record.doc.slug


def test_nothing_of_the_machine_that_found_them_is_in_them() -> None:
    for folder in SHIPPED:
        for path in folder.iterdir():
            assert b"/tmp/" not in path.read_bytes(), path


@pytest.mark.tvm
def test_some_are_replayed(fleet: Fleet) -> None:
    for folder in SHIPPED[:: len(SHIPPED) // REPLAYED]:
        doc, case = finding_file.read_with_case(folder)
        assert replay(fleet.run_fresh, doc, case, (doc.lane,), 1).exit is Exit.SAME, doc.slug
