"""What a person reads of each kind of evidence, and that it comes back from finding.json as it was."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import fakes
import pytest
import sins
from fakes import TVM

from fuzzer.report import finding_file, issue
from fuzzer.triage.investigate import Confirmed
from fuzzer.triage.signature import signature_of
from oracles import judge_all
from oracles.finding import Component, Evidence, Excess, Finding, Kind, Mismatch, Quantity, SideEffect, Worst
from oracles.outcome import Cause, Died, Facts, Fate, Frame, IllFormed, Mutant, Raised, Stage, TimedOut

WORST = Worst((1, 2), 1.0, 3.5, 0.25, 0.125, 1.5)
CHECKED = Facts(checked=("import", "LegalizeOps"))
TEXTS: list[tuple[Evidence, str]] = [
    (
        Mismatch(0, "1.0 at [1, 2]", "3.5", WORST, 24, 3, 2),
        """| | |
|---|---|
| element | output 0, [1, 2] |
| PyTorch | 1.0 |
| truth, in float64 | 1.5 |
| relax-export-llvm | **3.5** |
| difference | 2 |
| allowed | 0.25 (measured; envelope 0.125) |
| wrong elements | 3 of 24; 2 ill-conditioned ones are not compared |
""",
    ),
    (
        Mismatch(1, "a", "b", Worst((), 7.0, math.nan, 0.0, 0.0), 1, 1, against="relax-export-llvm", by="library"),
        """| | |
|---|---|
| element | output 1, [] |
| relax-export-llvm | **nan** |
| difference | nan |
| allowed | none |
| wrong elements | 1 of 1 |

It is right in relax-export-llvm, without: library.
""",
    ),
    (Mismatch(0, "2 outputs", "3 outputs"), ""),
    (
        Raised(
            Stage.COMPILE,
            "E",
            "no",
            (Frame("/home/me/fuzzer/lanes/relax.py", 2, "run"), Frame("x/site-packages/tvm/a.py", 1, "f")),
            CHECKED,
        ),
        "```\n  tvm/a.py:1 f\nE: no\n```\n"
        "\nWell formed, says TVM's checker (last after LegalizeOps), yet the compile step fails.\n",
    ),
    (Raised(Stage.IMPORT, "E", "no", (), CHECKED), "```\nE: no\n```\n"),
    (
        Died(Stage.COMPILE, Cause.SIGNAL, 11, "log", replace(CHECKED, ill_formed=IllFormed("a", "b", "c"))),
        "```\nlog\n```\n",
    ),
    (TimedOut(Stage.RUN, 3.0), ""),
    (IllFormed("FuseOps", "ValueError", "no"), "The checker, after FuseOps:\n\n```\nValueError: no\n```\n"),
    (
        Mutant("a shape", Fate.DIED, "signal 11"),
        "| | |\n|---|---|\n| changed | a shape |\n| the checker | lets it pass |\n"
        "| what becomes of it | ended the process |\n\n```\nsignal 11\n```\n",
    ),
    (SideEffect(modified=("x0", "x1")), "| | |\n|---|---|\n| inputs changed | x0, x1 |\n"),
    (SideEffect(aliases=((1, "x0"),)), "| | |\n|---|---|\n| memory shared | output 1 with x0 |\n"),
    (
        Excess(Quantity.LIBRARY, 14_700_000, 1_470_000.0, "the parameters"),
        "| | |\n|---|---|\n| bytes of library | 1.47e+07 |\n| ample beside the parameters | 1.47e+06 |\n"
        "|  | 10.0 times as much |\n",
    ),
]


def confirmed(finding: Finding) -> Confirmed:
    return Confirmed(signature_of(finding), finding, fakes.CASE, (finding.lane.name,), 3, 3, ("relu",), None)


@pytest.mark.parametrize(("evidence", "text"), TEXTS, ids=[type(evidence).__name__ for evidence, _ in TEXTS])
def test_what_a_person_reads(evidence: Evidence, text: str) -> None:
    found = confirmed(Finding(Kind.WRONG_VALUE, Component.TVM, TVM, Stage.RUN, evidence))
    assert issue._details(found) == text


@pytest.mark.parametrize("name", sins.SINS)
def test_every_sin_can_be_reported_and_read_back(name: str, tmp_path: Path) -> None:
    (finding,) = judge_all(fakes.CASE, sins.SINS[name].outcomes)
    found = confirmed(finding)
    doc = finding_file.document(found, {"tvm": "0.27"})
    (tmp_path / finding_file.NAME).write_bytes(finding_file.encode(doc))
    assert finding_file.read(tmp_path) == doc
    assert issue.text(found, doc, "script").startswith("# [Bug] ")
    assert issue.log(found).endswith("\n")


@pytest.mark.parametrize("actual", [math.nan, math.inf, -math.inf, 1.5])
def test_numbers_that_json_lacks_come_back(actual: float, tmp_path: Path) -> None:
    evidence = Mismatch(0, "a", "b", replace(WORST, actual=actual, truth=actual))
    doc = finding_file.document(confirmed(Finding(Kind.WRONG_VALUE, Component.TVM, TVM, Stage.RUN, evidence)), {})
    (tmp_path / finding_file.NAME).write_bytes(finding_file.encode(doc))
    assert repr(finding_file.read(tmp_path)) == repr(doc)
