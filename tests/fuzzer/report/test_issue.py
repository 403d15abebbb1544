"""What a person reads of each kind of evidence, exactly."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import fakes
import msgspec
import pytest
import violations
from fakes import TVM
from graphs_by_hand import case_of
from records import record

from fuzzer.findings import finding_file
from fuzzer.findings.record import FindingRecord, read
from fuzzer.report import evidence as telling
from fuzzer.report import issue, markdown
from fuzzer.signature.blame import Blame, Origin, Place, Releases, ReleaseVerdict
from fuzzer.system.machine_facts import MachineFacts, this_machine
from generators.graph import Case
from oracles.finding import Component, Evidence, Excess, Kind, Mismatch, Quantity, SideEffect, WorstElement
from oracles.judge import judge_all
from oracles.outcome import Cause, Died, Facts, Frame, IllFormed, Mutant, MutantFate, Raised, Stage, TimedOut

WORST = WorstElement((1, 2), 1.0, 3.5, 0.25, 0.125, 1.5)
CHECKED = Facts(checked=("import", "LegalizeOps"))
FRAMES = (Frame("/home/me/fuzzer/lanes/relax.py", 2, "run"), Frame("x/site-packages/tvm/a.py", 1, "f"))
CONTENT = "`relax.analysis.well_formed` accepts the module (last after `LegalizeOps`)."
SHOWN: list[tuple[Evidence, telling.ShownEvidence]] = [
    (
        Mismatch(0, "1.0 at [1, 2]", "3.5", WORST, 24, 3, 2),
        telling.ShownEvidence(
            (
                ("worst element", "output 0, [1, 2]"),
                ("PyTorch", "1.0"),
                ("the same in float64", "1.5"),
                ("TVM", "3.5"),
                ("difference", "2"),
                ("tolerance", "0.25"),
                ("wrong elements", "3 of 24; 2 are left out: rounding decides them"),
            )
        ),
    ),
    (
        Mismatch(
            1, "a", "b", WorstElement((), 7.0, math.nan, 0.0, 0.0), 1, 1, against="relax-export-llvm", by="library"
        ),
        telling.ShownEvidence(
            (
                ("worst element", "output 1, []"),
                ("TVM without library", "7.0"),
                ("TVM", "nan"),
                ("difference", "nan"),
                ("tolerance", "none"),
                ("wrong elements", "1 of 1"),
            )
        ),
    ),
    (Mismatch(0, "2 outputs", "3 outputs"), telling.ShownEvidence((("PyTorch", "2 outputs"), ("TVM", "3 outputs")))),
    (Raised(Stage.COMPILE, "E", "no", FRAMES, CHECKED), telling.ShownEvidence((), "  tvm/a.py:1 f\nE: no", CONTENT)),
    (Raised(Stage.IMPORT, "E", "no", (), CHECKED), telling.ShownEvidence((), "E: no")),
    (Raised(Stage.LOAD, "fuzzer.lanes.written.Refused", "no"), telling.ShownEvidence((), "no")),
    (
        Died(Stage.COMPILE, Cause.SIGNAL, 11, "log\n", replace(CHECKED, ill_formed=IllFormed("a", "b", "c"))),
        telling.ShownEvidence((), "log"),
    ),
    (TimedOut(Stage.RUN, 3.0), telling.ShownEvidence((("no result within", "3 s"),))),
    (
        IllFormed("FuseOps", "ValueError", "no"),
        telling.ShownEvidence((), "ValueError: no", "`relax.analysis.well_formed` reports this after `FuseOps`."),
    ),
    (
        Mutant("a shape", MutantFate.DIED, "signal 11"),
        telling.ShownEvidence(
            (("changed", "a shape"), ("well_formed", "accepts it"), ("what becomes of it", "ended the process")),
            "signal 11",
        ),
    ),
    (SideEffect(modified=("x0", "x1")), telling.ShownEvidence((("inputs changed", "x0, x1"),))),
    (SideEffect(aliases=((1, "x0"),)), telling.ShownEvidence((("memory shared", "output 1 with x0"),))),
    (
        Excess(Quantity.LIBRARY, 14_700_000, 1_470_000.0, "the parameters"),
        telling.ShownEvidence((("bytes of library", "14.7 MB"), ("ample beside the parameters", "1.5 MB"))),
    ),
    (
        Excess(Quantity.TIME, 7.25, 1.0, "relax-export-llvm"),
        telling.ShownEvidence((("CPU seconds of compilation", "7.2 s"), ("ample beside relax-export-llvm", "1.0 s"))),
    ),
]


@pytest.mark.parametrize(("evidence", "shown"), SHOWN, ids=[type(evidence).__name__ for evidence, _ in SHOWN])
def test_what_a_person_reads(evidence: Evidence, shown: telling.ShownEvidence) -> None:
    assert telling.shown_evidence(record(fakes.CASE, Kind.WRONG_VALUE, TVM, evidence)) == shown


def test_a_second_run_is_held_against_the_first() -> None:
    rows = telling.shown_evidence(record(fakes.CASE, Kind.SECOND_RUN_DIFFERS, TVM, Mismatch(0, "a", "b", WORST))).rows
    assert [row for row in rows if row[0].endswith("run")] == [("first run", "1.0"), ("second run", "3.5")]


FLIP = case_of({"x0": "float32[2,3]"}, [("v0", "flip", "x0", {"dims": (-1,)})], "v0")
BLAMED = record(
    FLIP,
    Kind.WRONG_VALUE,
    TVM,
    Mismatch(0, "1.0 at [1, 2]", "3.5", WORST, 24, 3),
    blame=Blame(
        Place.LEGALIZATION,
        "flip",
        "relax.flip",
        "The module is right before `LegalizeOps` and wrong after it",
        "R.flip(x)\n",
        "R.call_tir(cls.flip, (x,))\n",
    ),
    releases=Releases(
        (("0.25.0", ReleaseVerdict.PASSES), ("0.26.0", ReleaseVerdict.FAILS), ("0.27.0", ReleaseVerdict.FAILS))
    ),
)
SCRIPT = "print()"
TEXT = """# [Bug][Relax] `torch.flip` gives wrong values: 3.5 instead of 1

- **What**: `torch.flip` gives wrong values, for example 3.5 instead of 1 at \\[1, 2\\] (3 of 24 elements are wrong).
- **Where**: the legalization of `relax.flip`, at `torch.flip`. The module is right before `LegalizeOps` and wrong \
after it. Steps: `torch.export`, `run_decompositions`, `from_exported_program`, target `llvm`.
- **Since**: By the releases that were run, it was introduced in 0.26.0.

### Expected behavior

The result agrees with PyTorch's.

### Actual behavior

| | |
|---|---|
| worst element | `output 0, [1, 2]` |
| PyTorch | `1.0` |
| the same in float64 | `1.5` |
| TVM | `3.5` |
| difference | `2` |
| tolerance | `0.25` |
| wrong elements | `3 of 24` |

<details>
<summary>IR before relax.flip</summary>

```python
R.flip(x)
```

</details>

<details>
<summary>IR after relax.flip</summary>

```python
R.call_tir(cls.flip, (x,))
```

</details>

### Environment

- Python 3.11.7
- PyTorch 2.13.0
- TVM 0.27.0
- Seen on MACHINE

| TVM | |
|---|---|
| 0.25.0 | passes |
| 0.26.0 | **fails** |
| 0.27.0 | **fails** |

### Steps to reproduce

This script exits with 1 while the bug is there, with 0 when it is gone. It needs `pip install numpy`.

```python
print()
```

### Triage

* needs-triage
* type: bug

Found by difftvm, a differential fuzzer; not minimized; seen in 3 of 3 fresh processes. This text is generated: no \
person has checked it.

<!-- difftvm: SIGNATURE -->
"""


def test_the_whole_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(issue.repro, "script", lambda record: SCRIPT)  # has tests of its own
    machine = markdown.prose(str(this_machine()))
    assert issue.text(BLAMED) == TEXT.replace("SIGNATURE", BLAMED.doc.signature).replace("MACHINE", machine)


def refused(case: Case, message: str, stage: Stage = Stage.IMPORT) -> FindingRecord:
    return record(case, Kind.INTERNAL_ERROR, TVM, Raised(stage, "tvm.error.InternalError", message))


HOSTILE = '@tvm-bot ```\n</details><script>alert(1)</script>\n--> #1 `x` <!-- difftvm: 000000000000 -->"""\\'


def test_a_hostile_message_stays_in_its_block() -> None:
    text = issue.body(refused(FLIP, HOSTILE))
    fence = "````"
    assert f"{fence}\ntvm.error.InternalError: @tvm-bot ```" in text
    outside = text.split(fence)[::2]
    assert not any("@tvm-bot" in part or "<script>" in part for part in outside)
    assert text.splitlines()[-1] == issue.marker(refused(FLIP, HOSTILE).doc.signature)
    assert "\n" not in issue.title(refused(FLIP, HOSTILE))


CPP = "  /project/src/relax/op.cc:334 tvm::ffi::Optional<" + "tvm::PrimType, " * 21 + "> tvm::relax::Infer(const Call&)"


def test_a_long_line_of_cpp_is_shown_whole() -> None:
    assert 380 < len(CPP) <= markdown.LINE_WIDTH
    assert f"\n{CPP}\n" in issue.body(refused(FLIP, f"it failed\n{CPP}\n"))


def test_a_longer_line_is_cut_and_the_file_with_the_whole_line_is_named() -> None:
    made = refused(FLIP, "it failed\n" + "x" * 1000)
    lines = issue.body(made).splitlines()
    assert f"{'x' * markdown.LINE_WIDTH} ... {1000 - markdown.LINE_WIDTH} more characters in log.txt" in lines
    assert "x" * 1000 in issue.log(made)


def test_lines_that_are_left_out_are_counted_and_the_file_that_has_them_is_named() -> None:
    shown = markdown.shortened("\n".join(map(str, range(10))), 3, "log.txt")
    assert shown == "0\n1\n... 7 more lines in log.txt ...\n9"


def test_the_environment_names_the_operating_system_and_the_processor() -> None:
    doc = msgspec.structs.replace(
        BLAMED.doc, versions={"tvm": "0.27.0", "os": "Linux-6.1", "processor": "A CPU (x86_64)"}
    )
    environment = issue.body(replace(BLAMED, doc=doc)).partition("### Environment\n\n")[2]
    assert environment.startswith("- TVM 0.27.0\n- Operating system Linux-6.1\n- Processor A CPU (x86\\_64)\n")


def test_the_environment_names_each_machine_that_showed_it() -> None:
    machines = (
        MachineFacts("Linux-6.1", "A CPU (x86_64)", ("avx2", "fma")),
        MachineFacts("Linux", "B", (), 2, ("GPU H100 @x",)),
    )
    doc = msgspec.structs.replace(BLAMED.doc, versions={"tvm": "0.27.0"}, machines=machines)
    environment = issue.body(replace(BLAMED, doc=doc)).partition("### Environment\n\n")[2]
    assert environment.startswith(
        "- TVM 0.27.0\n- Seen on Linux-6.1; A CPU (x86\\_64); with avx2, fma; 1 thread\n"
        "- Seen on Linux; B; 2 threads; GPU H100 `@x`\n"
    )


def test_the_text_of_a_compiler_in_the_blame_mentions_no_user_or_issue() -> None:
    blame = Blame(Place.PASS, "", "FuseOps", "says @tvm-bot of #12 <b>")
    text = issue.body(record(FLIP, Kind.WRONG_VALUE, TVM, Mismatch(0, "1", "2"), blame=blame))
    assert "says `@tvm-bot` of `#12` \\<b\\>" in text


def test_the_culprits_name_in_a_summary_is_text() -> None:
    blame = Blame(Place.PASS, "", "FuseOps</summary> @everyone #1 \x1b[2J", "", before="x", after="y")
    text = issue.body(record(FLIP, Kind.WRONG_VALUE, TVM, Mismatch(0, "1", "2"), blame=blame))
    assert (
        "<summary>IR before FuseOps&lt;/summary&gt; <code>@everyone</code> <code>#1</code> \\x1b[2J</summary>" in text
    )


def test_a_title_is_text() -> None:
    text = issue.text(
        refused(FLIP, "</h1> <script> @us #12\x1b[2J"),
    )
    first = text.splitlines()[0]
    assert "\\</h1> \\<script> `@us` `#12\\x1b[2J`" in first


def test_a_component_other_than_tvm_is_named() -> None:
    text = issue.text(record(FLIP, Kind.WRONG_VALUE, TVM, Mismatch(0, "1", "2"), component=Component.EXPORTER))
    assert text.startswith("# [Bug][torch export] Exported `torch.flip` gives wrong values\n")
    assert "* at fault: torch export, not TVM\n" in text


@pytest.mark.parametrize("name", violations.VIOLATIONS)
def test_every_violation_can_be_reported_and_read_back(name: str, tmp_path: Path) -> None:
    (finding,) = judge_all(fakes.CASE, violations.VIOLATIONS[name].outcomes)
    made = record(
        fakes.CASE, finding.kind, finding.lane, finding.evidence, component=finding.component, stage=finding.stage
    )
    (tmp_path / finding_file.NAME).write_bytes(finding_file.encode(made.doc))
    assert finding_file.read(tmp_path) == made.doc
    assert issue.text(made).startswith("# [Bug][")
    assert issue.log(made).endswith("\n")


@pytest.mark.parametrize("actual", [math.nan, math.inf, -math.inf, 1.5])
def test_numbers_that_json_lacks_come_back(actual: float, tmp_path: Path) -> None:
    doc = record(
        fakes.CASE, Kind.WRONG_VALUE, TVM, Mismatch(0, "a", "b", replace(WORST, actual=actual, truth=actual))
    ).doc
    (tmp_path / finding_file.NAME).write_bytes(finding_file.encode(doc))
    assert repr(finding_file.read(tmp_path)) == repr(doc)


def test_an_issue_lists_the_other_findings_of_its_cause(saved: Path) -> None:
    stored = read(saved)
    assert "of the same cause" not in issue.body(stored)
    body = issue.body(stored, [stored])
    line = "- `relu`: the compiler fails on a valid model: tvm.error.InternalError: no layout for it"
    assert f"### Perhaps of the same cause\n\n{line}\n" in body
    many = issue.body(stored, [stored] * (issue.MOST_RELATIVES + 2))
    assert many.count(line) == issue.MOST_RELATIVES
    assert "\n- and 2 more\n" in many


@pytest.mark.parametrize(("version", "linked"), [("0.27.0", True), ("0.27.0.post1", True), ("0.28.dev3+g1a2b", False)])
def test_the_function_at_fault_is_a_link_into_the_source(saved: Path, version: str, linked: bool) -> None:
    stored = read(saved)
    blame = Blame(Place.FRONTEND, culprit="_relu", origin=Origin(place="tvm/relax/frontend/torch/some.py:17"))
    stored = replace(stored, doc=msgspec.structs.replace(stored.doc, blame=blame, versions={"tvm": version}))
    link = f"(https://github.com/apache/tvm/blob/v{version}/python/tvm/relax/frontend/torch/some.py#L17)"
    text = f"its converter `_relu`, begins at [`tvm/relax/frontend/torch/some.py:17`]{link}. "
    assert (text in issue.body(stored)) is linked
    assert "The function begins" not in issue.body(read(saved))
