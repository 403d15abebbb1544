"""The forms of the result: what they say, that they are valid, and that texts of a compiler stay texts."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from fuzzer.difference.changed_code import ChangedCode
from fuzzer.difference.reports import FORMS
from fuzzer.difference.reports.terminal import document, lines
from fuzzer.difference.verdict import Comparison, in_words, reach_in_words, verdict
from fuzzer.findings import finding_doc, finding_file
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.signature.blame import Origin
from fuzzer.system.exit_codes import Exit

CRASHES = Path(__file__).parents[3] / "crashes"
WRONG = finding_file.read(CRASHES / "wrong-value-selu-253a62bf677c")
RAISED = finding_file.read(CRASHES / "internal-error-clampmin-638cd61c53d4")
TRACED = ChangedCode({"relax/op.py": ["relu"]})
QUIET = Comparison("0.26.0", "own", 600.0, 1234, 567, 8, 0, 40, TRACED, CRASHES.parent)
FOUND = replace(QUIET, worse=(RAISED, WRONG), fixed=(WRONG,), reached={"relax/op.py relu": 40})


def with_message(doc: FindingDoc, message: str) -> FindingDoc:
    assert doc.evidence.raised is not None
    raised = replace(doc.evidence.raised, message=message)
    return msgspec.structs.replace(doc, evidence=finding_doc.StoredEvidence(raised=raised))


@pytest.mark.parametrize(
    ("comparison", "code", "words", "reach"),
    [
        (QUIET, Exit.GONE, "nothing is worse", "40 of 1,234 tests"),
        (FOUND, Exit.WORSE, "own is worse than 0.26.0", "40 of 1,234 tests"),
        (replace(QUIET, reaching=0), Exit.NOT_REACHED, "no test reached the changed code", "0 of 1,234 tests"),
        (replace(QUIET, reaching=0, differing={"+ pass A": 1}), Exit.GONE, "nothing is worse", "0 of 1,234 tests"),
        (replace(QUIET, changed=ChangedCode()), Exit.GONE, "nothing is worse", "not known"),
        (
            replace(QUIET, reaching=0, changed=ChangedCode({"a.py": ["f"]}, untraced=("a.so", "b.md"))),
            Exit.GONE,
            "nothing is worse",
            "not known for a.so; b.md",
        ),
        (replace(QUIET, waiting=1), Exit.GONE, "nothing worse was confirmed", "40 of 1,234 tests"),
        (replace(QUIET, unsure=(WRONG,)), Exit.GONE, "nothing worse was confirmed", "40 of 1,234 tests"),
        (replace(QUIET, reaching=0, fixed=(WRONG,)), Exit.GONE, "nothing is worse", "0 of 1,234 tests"),
        (replace(QUIET, reaching=0, perhaps_fixed=(WRONG,)), Exit.GONE, "nothing is worse", "0 of 1,234 tests"),
    ],
)
def test_the_verdict(comparison: Comparison, code: Exit, words: str, reach: str) -> None:
    assert (verdict(comparison), in_words(comparison), reach_in_words(comparison)) == (code, words, reach)


def test_the_terminal() -> None:
    text = "\n".join(lines(FOUND))
    assert text.startswith("1,234 tests in 600 s; 567 lanes ran in both\nchanged code reached: 40 of 1,234 tests\n")
    assert "  reached: relax/op.py relu (40)\n" in text
    assert f"worse: 2 findings\n  critical  `F.selu` gives wrong values: 3 instead of 3.152  {WRONG.slug}\n" in text
    assert "fixed: 1\n" in text
    assert "own is worse than 0.26.0\nnext: " in text


def test_what_is_fixed_stands_apart_from_what_is_not_confirmed() -> None:
    compared = replace(QUIET, fixed=(WRONG,), perhaps_fixed=(RAISED, WRONG))
    text = "\n".join(lines(compared))
    assert "fixed: 1\n" in text
    assert "\nperhaps fixed, not confirmed by each of three runs: 2\n" in text
    assert "perhaps fixed" not in "\n".join(lines(FOUND))
    rows = document(compared)
    assert [len(rows[name]) for name in ("fixed", "perhaps_fixed")] == [1, 2]  # type: ignore[arg-type]
    page = FORMS["markdown"](compared)
    assert page.index("#### Fixed\n") < page.index("#### Perhaps fixed, not confirmed by each of three runs\n")


def test_the_data() -> None:
    found = document(FOUND)
    assert (found["verdict"], found["reaching"], found["both"]) == ("own is worse than 0.26.0", 40, 8)
    assert [row["slug"] for row in found["worse"]] == [RAISED.slug, WRONG.slug]  # type: ignore[attr-defined]
    assert document(replace(QUIET, changed=ChangedCode()))["reaching"] is None


def test_markdown() -> None:
    page = FORMS["markdown"](FOUND)
    assert page.startswith("### difftvm: own is worse than 0.26.0\n\n- 1,234 tests in 600 s; 567 lanes ran in both\n")
    assert "#### Worse (right with 0.26.0, wrong with own)\n" in page
    assert f"| critical | `F.selu` gives wrong values: 3 instead of 3.152 | frontend: \\_elu | `{WRONG.slug}` |" in page
    assert "#### Fixed\n" in page
    assert "Worse" not in FORMS["markdown"](QUIET)


def test_a_long_table_says_what_it_leaves_out() -> None:
    page = FORMS["markdown"](replace(QUIET, worse=(WRONG,) * 35))
    assert page.count(f"| `{WRONG.slug}` |") == 30
    assert "\nAnd 5 more.\n" in page


def test_junit_has_a_failure_for_each_finding() -> None:
    suite = ElementTree.fromstring(FORMS["junit"](FOUND))[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "2", "0")
    failed = [case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None]
    assert [name.rpartition(" ")[2] for name in failed if name] == [f"[{RAISED.slug}]", f"[{WRONG.slug}]"]
    assert failed[1] == f"`F.selu` gives wrong values: 3 instead of 3.152 [{WRONG.slug}]"
    (text, _) = [failure.text or "" for failure in suite.iter("failure")]
    assert "right with 0.26.0, wrong with own" in text
    assert "frontend: _clamp" in text


def test_junit_skips_what_was_not_reached() -> None:
    suite = ElementTree.fromstring(FORMS["junit"](replace(QUIET, reaching=0)))[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("1", "0", "1")
    (skipped,) = suite.iter("skipped")
    assert skipped.get("message") == "no test reached the changed code"


def test_sarif_has_a_result_for_each_finding() -> None:
    placed = msgspec.structs.replace(
        RAISED, blame=replace(RAISED.blame, origin=Origin(place="tvm/relax/frontend/torch/fx_translator.py:77"))
    )
    log = json.loads(FORMS["sarif"](replace(FOUND, worse=(placed, WRONG))))
    (run,) = log["runs"]
    assert (log["version"], run["tool"]["driver"]["name"]) == ("2.1.0", "difftvm")
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["internal-error", "wrong-value"]
    first, second = (next(iter(result["locations"]))["physicalLocation"] for result in run["results"])
    assert first == {
        "artifactLocation": {"uri": "python/tvm/relax/frontend/torch/fx_translator.py"},
        "region": {"startLine": 77},
    }
    assert second["artifactLocation"]["uri"].endswith(f"crashes/{WRONG.slug}/issue.md")
    assert [result["properties"]["severity"] for result in run["results"]] == ["medium", "critical"]
    assert [result["level"] for result in run["results"]] == ["warning", "error"]
    assert run["results"][1]["partialFingerprints"] == {"difftvmSignature": WRONG.signature}


@pytest.mark.parametrize("form", sorted(FORMS))
def test_the_text_of_a_compiler_stays_text(form: str, tmp_path: Path) -> None:
    """The folder has no report, so that the form shows what was seen."""
    hostile = "\x1b[2J]]> <script>alert(1)</script> | @everyone\x00 \ud800"
    written = FORMS[form](replace(FOUND, folder=tmp_path, worse=(with_message(RAISED, hostile),)))
    assert "alert(1)" in written
    assert not {"\x1b", "\x00"} & set(written)
    written.encode()
    if form == "junit":
        ElementTree.fromstring(written)
    if form == "sarif":
        json.loads(written)
    if form == "markdown":
        assert "<script>" not in written
        assert "@everyone" not in re.sub("`[^`]*`", "", written)


def test_sarif_has_no_link_of_a_compiler(tmp_path: Path) -> None:
    """Viewers make links of `[text](address)` in a message."""
    hostile = r"see [x](https://x.y) \[y](/z)"
    log = json.loads(FORMS["sarif"](replace(FOUND, folder=tmp_path, worse=(with_message(RAISED, hostile),))))
    text = log["runs"][0]["results"][0]["message"]["text"]
    assert r"see \[x\](https://x.y)" in text
    assert not re.search(r"(?<!\\)(\\\\)*[\[\]]", text)


def test_an_output_in_the_memory_of_an_input_is_named_and_no_reason_to_fail() -> None:
    compared = replace(QUIET, aliased=(WRONG,))
    assert verdict(compared) is Exit.GONE
    text = "\n".join(lines(compared))
    assert "an output shares memory with an input: 1 finding, no reason to fail without --aliasing\n" in text
    assert [row["slug"] for row in document(compared)["aliased"]] == [WRONG.slug]  # type: ignore[attr-defined]
    assert "#### An output shares memory with an input\n" in FORMS["markdown"](compared)


def test_what_was_never_reached_is_named() -> None:
    conditions = ("mine.py f if x > 1", "mine.py f if not x > 1", "mine.py g if y")
    changed = ChangedCode(called=("mine.py f", "mine.py g"), preloaded=("mine.py",), conditions=conditions)
    reached = {"mine.py f": 3, "mine.py f if not x > 1": 3}
    found = replace(QUIET, changed=changed, reached=reached, touched="the change touches 1 pass")
    assert (found.never_called, found.never_met) == (("mine.py g",), ("mine.py f if x > 1",))
    shown = list(lines(found))
    assert "  never called: mine.py g" in shown
    assert "  never met: mine.py f if x > 1" in shown
    page = FORMS["markdown"](found)
    assert "- the change touches 1 pass\n" in page
    fields = document(found)
    assert (fields["touched"], fields["never_called"], fields["never_met"]) == (
        "the change touches 1 pass",
        ("mine.py g",),
        ("mine.py f if x > 1",),
    )
