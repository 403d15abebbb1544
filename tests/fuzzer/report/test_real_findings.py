"""Reports of findings that campaigns made on TVM 0.27: `real_findings.json`, without tracebacks."""

from __future__ import annotations

import ast
import base64
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from warm_python import WarmPython

from fuzzer.findings import finding_doc, finding_file
from fuzzer.findings.record import FindingRecord
from fuzzer.report import issue, repro
from generators import case_file
from generators.onnx import model as onnx_model

STORED: list[dict[str, Any]] = json.loads(Path(__file__).with_name("real_findings.json").read_text())


def loaded(stored: dict[str, Any]) -> FindingRecord:
    doc = msgspec.convert(finding_file.with_float_numbers(stored["finding"]), finding_doc.FindingDoc)
    tensors = base64.b85decode(stored["tensors"])
    case = case_file.decode(json.dumps(stored["case"]).encode(), tensors, doc.slug)
    file = stored["onnx"]
    return FindingRecord(doc, case, onnx=onnx_model.decode(json.dumps(file).encode(), doc.slug) if file else None)


FOUND = {record.doc.slug: record for record in map(loaded, STORED)}
SCRIPTS = {slug: repro.script(record) for slug, record in FOUND.items()}


def test_titles() -> None:
    assert [issue.title(record) for record in FOUND.values()] == [stored["title"] for stored in STORED]


def test_scripts_are_short() -> None:
    lines = [len(script.splitlines()) for script in SCRIPTS.values()]
    assert statistics.median(lines) <= 70
    assert max(lines) <= 105


def test_scripts_are_as_ruff_leaves_them(tmp_path: Path) -> None:
    for slug, script in SCRIPTS.items():
        (tmp_path / f"{slug}.py").write_text(script)
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", "120", "--diff", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("slug", FOUND)
def test_scripts_need_what_they_say(slug: str) -> None:
    names = {alias.name.partition(".")[0] for node in ast.walk(ast.parse(SCRIPTS[slug])) for alias in _imported(node)}
    assert {"fuzzer", "generators", "oracles"}.isdisjoint(names)
    assert ("torch" in names) == (FOUND[slug].onnx is None)


def _imported(node: ast.AST) -> list[ast.alias]:
    if isinstance(node, ast.ImportFrom):
        return [ast.alias(node.module or "")]
    return node.names if isinstance(node, ast.Import) else []


@pytest.mark.parametrize("slug", FOUND)
def test_no_word_of_ours_in_what_is_read(slug: str) -> None:
    text = issue.text(FOUND[slug]).partition("### Environment")[0]
    assert not re.search(r"\blanes?\b|relax-(export|onnx|fx)|\boracle", text), text


@pytest.mark.tvm
@pytest.mark.parametrize(
    "slug",
    [
        "internal-error-maxpool2d-e87ad8d0edb6",  # an import
        "internal-error-prelu-d8ca2b5a4151",  # an import of ONNX
        "internal-error-fulllike-5804bd59fcc7",  # a load of ONNX
        "internal-error-interpolatebilinear-0b1ad53f4703",  # a compilation
        "internal-error-bucketize-cf1667883ad6",  # a run
        "second-run-differs-convtranspose1d-8f9e75121d6c",  # runs, with a pass
        "wrong-dtype-softsign-e30f28502f0b",
        "wrong-value-rsub-c928c95febce",
    ],
)
def test_scripts_show_the_bugs_of_tvm_0_27(warm: WarmPython, slug: str, tmp_path: Path) -> None:
    done = warm.run(SCRIPTS[slug], tmp_path)
    assert done.returncode == 1, done.output
