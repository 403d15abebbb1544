"""The founding cases stay readable, run, and give what they must, in the toolchains that they name."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from in_process import completed

from fuzzer.children.validity import OK, verdict
from fuzzer.evaluation import founding_cases
from fuzzer.evaluation.founding_cases import Expected, Quiet, Sign, describe_expected, describe_outcome, gives
from fuzzer.isolate.fleet import Fleet
from fuzzer.lanes import EVERY_TVM_LANE, TVM_LANES
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.toolchains import registry
from generators import case_file
from generators.check import check
from generators.graph import Form, Invalid, Profile
from generators.table import TABLE
from oracles.finding import Component, Excess, Finding, Kind, Quantity
from oracles.lane import CONTRADICTION, LaneSpec
from oracles.outcome import Built, Frame, Outcome, Raised, Ran, Skipped, Stage, Unsupported

pytestmark = pytest.mark.slow

CORPUS = sorted(path.parent for path in (Path(__file__).parent.parent / "corpus").glob("*/case.json"))
LANE = TVM_LANES[0]

EACH = pytest.mark.parametrize("folder", CORPUS, ids=lambda folder: folder.name)


def test_these_are_the_founding_cases() -> None:
    ops = {folder.name: case_file.read(folder).graph.ops for folder in CORPUS}
    assert ops == {
        "cond": ("cond",),
        "conv-relu-batch": ("conv2d", "relu"),
        "lift-params": ("add_scalar", "add_scalar", "mul"),
        "linear-4d": ("linear",),
        "loop": ("loop",),
        "reflect-pad-negative-squeeze": ("pad_reflect", "squeeze"),
        "symbolic-batch": ("linear", "relu"),
        "while-loop": ("while_loop",),
    }


@EACH
def test_case_reads_and_is_written_the_same(folder: Path) -> None:
    case = case_file.read(folder)
    text, tensors = case_file.encode(case)
    assert (folder / "case.json").read_bytes() == text
    assert (folder / "tensors.safetensors").read_bytes() == tensors


@EACH
def test_case_is_of_todays_format(folder: Path) -> None:
    assert json.loads((folder / "case.json").read_bytes())["format"] == case_file.FORMAT
    case = case_file.read(folder)
    assert case.origin.startswith(("founding bug: ", "founding case: "))
    assert case.profile is Profile.NORMAL
    for node in case.graph.nodes:
        assert node.attrs.keys() == TABLE[node.op].schema.keys()
        assert node.form is Form.PLAIN


@EACH
def test_case_runs_in_eager_pytorch_with_finite_results(folder: Path) -> None:
    case = case_file.read(folder)
    check(case)
    for each in case.instances():
        assert verdict(each) == (OK, "")


# --- what they must give


def test_each_case_says_what_it_must_give() -> None:
    entries = founding_cases.read()
    assert [entry.folder.name for entry in entries] == [folder.name for folder in CORPUS]
    assert all(entry.expected for entry in entries)


def test_lanes_of_expectations_are_those_of_campaigns() -> None:
    """Whole: what a campaign's lane of that name does, theirs does."""
    named = {lane.name: lane for lane in EVERY_TVM_LANE}
    lanes = [each.lane for entry in founding_cases.read() for each in entry.expected]
    assert [lane for lane in lanes if lane.variant != CONTRADICTION and lane != named[lane.name]] == []


def test_the_founding_bugs_are_findings() -> None:
    found = {
        (entry.name, each.lane.name): (each.gives.kind, each.gives.where)
        for entry in founding_cases.read()
        for each in entry.expected
        if isinstance(each.gives, Sign)
    }
    assert found == {
        ("conv-relu-batch", "contradiction"): (Kind.CHECKER_GAP, ""),
        ("linear-4d", "relay-torch-library"): (Kind.BLOAT, ""),
        ("reflect-pad-negative-squeeze", "relay-onnx-O2"): (Kind.INTERNAL_ERROR, "DynamicToStatic"),
        ("reflect-pad-negative-squeeze", "relay-onnx-dynamic-to-static"): (Kind.INTERNAL_ERROR, "DynamicToStatic"),
    }


SIGN = {"kind": "bloat", "component": "tvm", "stage": "compile"}
GOOD = {"lane": {"name": "l", "engine": "tvm"}, "gives": SIGN}


def test_an_expectation_is_read(tmp_path: Path) -> None:
    path = tmp_path / founding_cases.NAME
    assert founding_cases.expectations(path) == ()
    path.write_text(json.dumps({"format": 1, "expected": [GOOD, {**GOOD, "gives": "result"}]}))
    lane = LaneSpec("l", LANE.engine)
    sign = Sign(Kind.BLOAT, Component.TVM, Stage.COMPILE)
    assert founding_cases.expectations(path) == (Expected(lane, sign), Expected(lane, Quiet.RESULT))


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ("", "Input data was truncated"),
        ([], "Expected `object`, got `array`"),
        ({"format": 1}, "missing required field `expected`"),
        ({"format": 2, "expected": [GOOD]}, "format 2 is not known; this version reads 1"),
        ({"format": 1, "expected": []}, "nothing is expected"),
        ({"format": 1, "expected": [GOOD], "more": 1}, "unknown field `more`"),
        ({"format": 1, "expected": [{**GOOD, "more": 1}]}, "unknown field `more`"),
        ({"format": 1, "expected": [{**GOOD, "gives": "nothing"}]}, "Invalid enum value 'nothing'"),
        ({"format": 1, "expected": [{**GOOD, "gives": {**SIGN, "kind": "odd"}}]}, "Invalid enum value 'odd'"),
        ({"format": 1, "expected": [{**GOOD, "gives": {**SIGN, "odd": 1}}]}, "unknown field `odd`"),
        ({"format": 1, "expected": [{**GOOD, "lane": {"name": "l"}}]}, "missing required field `engine`"),
        (
            {"format": 1, "expected": [GOOD, {**GOOD, "lane": {**GOOD["lane"], "odd": 1}}]},
            "expected[1]: a lane has no field 'odd'",
        ),
    ],
)
def test_what_is_no_expectation_is_refused(tmp_path: Path, document: object, says: str) -> None:
    path = tmp_path / founding_cases.NAME
    path.write_text(json.dumps(document) if document != "" else "")
    with pytest.raises(Invalid) as error:
        founding_cases.expectations(path)
    assert str(error.value).startswith(f"{path}: ")
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_a_corpus_without_cases_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="there are no cases in it"):
        founding_cases.read(tmp_path)


def test_nothing_runs_where_a_toolchain_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with (
        Fleet(tmp_path / "scratch", registry.find) as fleet,
        pytest.raises(EnvironmentMissing, match=r"`fuzz toolchain add relay`"),
    ):
        next(founding_cases.run(founding_cases.read(), fleet))
    assert fleet._backends == {}


# --- exactly that, and nothing else

BLOAT = Finding(Kind.BLOAT, Component.TVM, LANE, Stage.COMPILE, Excess(Quantity.LIBRARY, 2.0, 1.0, "the parameters"))
ERROR = Raised(Stage.IMPORT, "E", "shape 3 is no 4", (Frame("/tvm/frontend/onnx.py", 1, "convert"),))
REFUSAL = Finding(Kind.INTERNAL_ERROR, Component.TVM, LANE, Stage.IMPORT, ERROR)
BLOATED = Sign(Kind.BLOAT, Component.TVM, Stage.COMPILE, says="library")
REFUSED = Sign(Kind.INTERNAL_ERROR, Component.TVM, Stage.IMPORT, "E", "shape N", "convert")
RAN = Ran(())


@pytest.mark.parametrize(
    ("expected", "outcome", "found", "right"),
    [
        (Quiet.RESULT, RAN, [], True),
        (Quiet.RESULT, Built(), [], True),
        (Quiet.RESULT, RAN, [BLOAT], False),
        (Quiet.RESULT, Unsupported(Stage.IMPORT, "no"), [], False),
        (Quiet.RESULT, Skipped("not here"), [], False),
        (Quiet.RESULT, ERROR, [], False),
        (Quiet.UNSUPPORTED, Unsupported(Stage.IMPORT, "no"), [], True),
        (Quiet.UNSUPPORTED, RAN, [], False),
        (BLOATED, RAN, [BLOAT], True),
        (BLOATED, RAN, [], False),
        (BLOATED, RAN, [BLOAT, BLOAT], False),
        (BLOATED, ERROR, [REFUSAL], False),
        (REFUSED, ERROR, [REFUSAL], True),
        (Sign(Kind.INTERNAL_ERROR, Component.TVM, Stage.IMPORT, "E"), ERROR, [REFUSAL], True),
        (Sign(Kind.INTERNAL_ERROR, Component.TVM, Stage.IMPORT), ERROR, [REFUSAL], False),  # of another type: of none
        (Sign(Kind.INTERNAL_ERROR, Component.TVM, Stage.IMPORT, "E", "shape 3"), ERROR, [REFUSAL], False),
        (Sign(Kind.INTERNAL_ERROR, Component.TVM, Stage.IMPORT, "E", where="other"), ERROR, [REFUSAL], False),
        (Sign(Kind.INTERNAL_ERROR, Component.TVM, Stage.COMPILE, "E"), ERROR, [REFUSAL], False),
        (Sign(Kind.INTERNAL_ERROR, Component.EXPORTER, Stage.IMPORT, "E"), ERROR, [REFUSAL], False),
        (Sign(Kind.REJECTED, Component.TVM, Stage.IMPORT, "E"), ERROR, [REFUSAL], False),
    ],
)
def test_a_lane_gives_what_is_expected_or_not(
    expected: Quiet | Sign, outcome: Outcome, found: list[Finding], right: bool
) -> None:
    assert gives(expected, outcome, found) is right


def test_in_words() -> None:
    assert describe_expected(Quiet.RESULT) == "result"
    assert describe_expected(REFUSED) == "internal-error of tvm in import: E, shape N, in convert"
    assert describe_outcome(Unsupported(Stage.IMPORT, "no"), []) == "unsupported: no"
    assert describe_outcome(RAN, []) == "result"
    assert describe_outcome(Skipped("not here"), []) == "Skipped"
    assert describe_outcome(RAN, [BLOAT]) == (
        "bloat of tvm: relax-export-llvm: 2 bytes of library, more than the allowed 1 (compared with the parameters)."
    )


# --- in the toolchains

RELAY_IS_THERE = pytest.mark.skipif(
    "relay" not in registry.names(), reason="toolchain relay is not installed: fuzz toolchain add relay"
)


def _fuzz(*arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "fuzzer.cli", "corpus", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1])
    return done.returncode, done.stdout


def test_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = completed(monkeypatch, "corpus", "--founding")
    code, out = shown.returncode, shown.stdout
    assert code == 0
    assert "  relay-torch-library in relay: bloat of tvm in compile: bytes of library\n" in out
    assert out.endswith("8 cases; next: python -m fuzzer.cli corpus --founding --run\n")
    listed = json.loads(completed(monkeypatch, "corpus", "--json").stdout)
    assert [each["name"] for each in listed] == [folder.name for folder in CORPUS]
    assert [len(each["expected"]) for each in listed] == [len(entry.expected) for entry in founding_cases.read()]


@pytest.mark.tvm
@pytest.mark.long
def test_what_the_host_gives(fleet: Fleet) -> None:
    """No oracle objects to the founding cases in today's TVM, on the lanes that they name."""
    checks = list(founding_cases.run(_only("host"), fleet))
    assert [each for each in checks if not each.ok] == []
    assert {each.case for each in checks} == {folder.name for folder in CORPUS}


@pytest.mark.tvm
@pytest.mark.toolchains
@RELAY_IS_THERE
def test_every_founding_case_gives_exactly_what_it_must() -> None:
    code, out = _fuzz("--founding", "--run", "--json")
    checks = json.loads(out)
    assert [each for each in checks if not each["ok"]] == []
    assert code == 0
    assert {
        (each["case"], each["toolchain"]) for each in checks if each["expected"] not in ("result", "unsupported")
    } == {
        ("conv-relu-batch", "relay"),
        ("linear-4d", "relay"),
        ("reflect-pad-negative-squeeze", "relay"),
    }


@pytest.mark.tvm
@pytest.mark.long
def test_a_case_with_another_result_than_expected_is_reported(tmp_path: Path) -> None:
    shutil.copytree(CORPUS[0].parent / "loop", tmp_path / "loop")
    path = tmp_path / "loop" / founding_cases.NAME
    host = json.loads(path.read_text())["expected"][:1]
    path.write_text(json.dumps({"format": 1, "expected": [{**host[0], "gives": "unsupported"}]}))
    code, out = _fuzz("--corpus", str(tmp_path), "--run")
    assert code == 78
    assert out == (
        "BAD loop, relax-export-llvm in host\n      expected: unsupported\n      actual: result\n"
        "0 of 1 run gives what is expected; next: python -m fuzzer.cli toolchain list\n"
    )


def _only(toolchain: str) -> list[founding_cases.Entry]:
    return [
        founding_cases.Entry(
            entry.folder, entry.case, tuple(e for e in entry.expected if e.lane.toolchain == toolchain)
        )
        for entry in founding_cases.read()
    ]


def test_a_text_that_is_no_utf_8_is_refused(tmp_path: Path) -> None:
    """Also in a field that is not read."""
    path = tmp_path / founding_cases.NAME
    text = json.dumps({"format": 1, "expected": [GOOD]}).encode()
    path.write_bytes(text.replace(b'"lane": {', b'"lane": {"odd": "\xff", '))
    with pytest.raises(Invalid, match=r"expect\.json: "):
        founding_cases.expectations(path)
