"""Regression tests in the style of TVM's own."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import fakes
import msgspec
import pytest
from graphs_by_hand import case_of
from records import record

from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.findings.record import FindingRecord, read
from fuzzer.isolate.fleet import Fleet
from fuzzer.isolate.reports import ScriptRun
from fuzzer.lanes import SAMPLED_LANES, select
from fuzzer.report import regression_test
from fuzzer.report.add_to import add_test
from fuzzer.report.regression_test import fails, has_test, name, place, source
from fuzzer.signature.blame import Blame, Place
from fuzzer.toolchains.registry import finder
from oracles.finding import Component, Kind
from oracles.lane import LaneSpec
from oracles.outcome import Died, Raised, Stage

CRASHES = Path(__file__).parents[3] / "crashes"


class Runner:
    """Scripts end as given."""

    def __init__(self, exit_code: int | None) -> None:
        self.exit_code, self.source = exit_code, ""

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        self.source = source
        return ScriptRun(self.exit_code)


@pytest.fixture
def saved_record(saved: Path) -> FindingRecord:
    return read(saved)


def with_doc(record: FindingRecord, **fields: object) -> FindingRecord:
    return replace(record, doc=msgspec.structs.replace(record.doc, **fields))


def test_the_test_is_one_function_that_compares_all_results(saved_record: FindingRecord) -> None:
    text = source(saved_record)
    (function,) = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    assert function.name == name(saved_record) == "test_relu_internal_error"
    assert "assert got.dtype == want.dtype" in text
    assert "tvm.testing.assert_allclose(got, want, rtol=1e-05, atol=1e-05)" in text
    assert text.endswith('if __name__ == "__main__":\n    tvm.testing.main()\n')
    assert saved_record.doc.signature in text


def test_a_test_does_not_turn_gradients_off_for_others(saved_record: FindingRecord) -> None:
    text = source(saved_record)
    assert "set_grad_enabled" not in text
    assert "@torch.no_grad()\ndef test_" in text


def test_it_is_formatted_as_repro_py_is(saved_record: FindingRecord) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--line-length", "120", "--diff", "-"],
        input=source(saved_record),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("blame", "lane", "file"),
    [
        (Blame(Place.FRONTEND, culprit="_relu"), "relax-export-llvm", "relax/test_frontend_from_exported_program.py"),
        (Blame(), "relax-fx-llvm", "relax/test_frontend_from_fx.py"),
        (Blame(), "relax-onnx-llvm", "relax/test_frontend_onnx.py"),
        (Blame(), "relax-dynamo-llvm", "relax/test_frontend_dynamo.py"),
        (Blame(Place.LEGALIZATION), "relax-export-llvm", "relax/test_transform_legalize_ops.py"),
        (Blame(Place.PASS, culprit="FuseOps"), "relax-export-llvm", "relax/test_transform_fuse_ops.py"),
        (
            Blame(Place.PASS, culprit="tirx.NarrowDataType"),
            "relax-export-llvm",
            "relax/test_transform_narrow_data_type.py",
        ),
        (Blame(Place.CODEGEN), "relax-export-llvm", "codegen/test_target_codegen_llvm.py"),
        (Blame(Place.CODEGEN), "relax-export-c", "codegen/test_target_codegen_c_host.py"),
        (Blame(Place.RUNTIME), "relax-export-llvm", "relax/test_vm_build.py"),
    ],
)
def test_the_file_that_it_belongs_to(saved_record: FindingRecord, blame: Blame, lane: str, file: str) -> None:
    (spec,) = select(lane)
    assert place(with_doc(saved_record, blame=blame, lane=spec)) == f"tests/python/{file}"


def test_which_findings_have_a_test(saved_record: FindingRecord) -> None:
    doc = saved_record.doc
    changes: list[tuple[dict[str, object], bool]] = [
        ({}, True),
        ({"kind": Kind.WRONG_VALUE}, True),
        ({"kind": Kind.SLOW}, False),
        ({"kind": Kind.CHECKER_GAP}, False),
        ({"flaky": True}, False),
        ({"versions": {**doc.versions, "preload": "wrong_relu.py d43d8d243c38"}}, False),
        ({"component": Component.EXPORTER}, False),
        ({"lane": replace(doc.lane, target="cuda")}, False),
    ]
    for fields, wanted in changes:
        assert has_test(msgspec.structs.replace(doc, **fields)) is wanted, fields


@pytest.mark.parametrize(
    ("evidence", "code", "failed"),
    [
        (fakes.raised(Stage.COMPILE), 1, True),
        (fakes.raised(Stage.COMPILE), 0, False),
        (fakes.raised(Stage.COMPILE), 125, False),
        (fakes.raised(Stage.COMPILE), -11, False),
        (fakes.raised(Stage.COMPILE), None, False),
        (fakes.segfault(Stage.RUN), -11, True),
        (fakes.segfault(Stage.RUN), 0, False),
        (fakes.segfault(Stage.RUN), 125, False),
    ],
)
def test_it_must_fail_as_the_finding_does(
    saved_record: FindingRecord, evidence: Raised | Died, code: int | None, failed: bool
) -> None:
    doc: FindingDoc = saved_record.doc
    stored = msgspec.structs.replace(doc, evidence=type(doc.evidence).of(evidence))
    runner = Runner(code)
    assert fails(runner.run_script, replace(saved_record, doc=stored)) is failed
    assert "tvm.testing" not in runner.source


def test_a_test_that_passes_today_is_not_saved(saved: Path) -> None:
    assert regression_test.test_to_show(Runner(0).run_script, read(saved)) is None
    text = regression_test.test_to_show(Runner(1).run_script, read(saved))
    assert text is not None
    add_test(saved, text)
    assert (saved / regression_test.NAME).read_text() == text


@pytest.mark.tvm
@pytest.mark.long
def test_the_tests_of_shipped_findings_fail_today(tmp_path: Path) -> None:
    """With the check, not with pytest: it asks for the failure of the finding, and not for any."""
    slugs = ("internal-error-groupnorm-df70d571aecc", "wrong-dtype-rfloordividescalar-b0322ee01467")
    with Fleet(tmp_path, finder(None)) as fleet:
        assert all(fails(fleet.run_script, read(CRASHES / slug)) for slug in slugs)


@pytest.mark.tvm
@pytest.mark.long
def test_a_test_of_what_works_passes(tmp_path: Path) -> None:
    """The test of a finding that TVM does not have."""
    case = case_of({"x0": "float32[2,3]"}, [("v0", "neg", "x0")], "v0")
    made = record(case, Kind.INTERNAL_ERROR, SAMPLED_LANES[0], fakes.raised(Stage.COMPILE))
    path = tmp_path / "test_it.py"
    path.write_text(source(made))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", str(path)], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout
