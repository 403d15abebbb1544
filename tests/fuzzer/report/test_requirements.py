"""What pip installs for a script."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from fakes import TVM
from graphs_by_hand import case_of
from records import record

from fuzzer.report.requirements import requirements, requirements_of, versions_of
from oracles.finding import Kind, Mismatch

FLIP = case_of({"x0": "float32[2,3]"}, [("v0", "flip", "x0", {"dims": (-1,)})], "v0")
VERSIONS = {"python": "3.11.7", "torch": "2.13.0+cpu", "tvm": "0.27.0.post1", "onnx": "1.23.2", "numpy": "2.4.6"}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import tvm\nimport torch.nn as n", ("torch==2.13.0", "apache-tvm==0.27.0.post1", "numpy==2.4.6")),
        (
            "from tvm.relax.frontend.onnx import from_onnx\nfrom onnx import helper",
            ("apache-tvm==0.27.0.post1", "numpy==2.4.6", "onnx==1.23.2"),
        ),
        ("import onnxruntime, sys", ("numpy==2.4.6", "onnxruntime")),
        (
            "import torch\ntorch.onnx.export(model, inputs)",
            ("torch==2.13.0", "numpy==2.4.6", "onnx==1.23.2", "onnxscript"),
        ),
        ("import tvm.x as torch_onnx, os, requests", ("apache-tvm==0.27.0.post1", "numpy==2.4.6")),
    ],
)
def test_the_packages_that_a_script_imports_in_their_versions(source: str, expected: tuple[str, ...]) -> None:
    assert requirements(source, VERSIONS) == expected


@pytest.mark.parametrize("version", ["", "1 --index-url=https://x", "1.0 ; import os", "@ https://x/y.whl", "main"])
def test_what_is_no_version_is_left_out(version: str) -> None:
    assert requirements("import tvm", {"tvm": version, "numpy": "2.4.6"}) == ("apache-tvm", "numpy==2.4.6")


def test_the_versions_are_those_of_the_toolchain_in_which_the_lane_ran() -> None:
    made = record(FLIP, Kind.WRONG_VALUE, TVM, Mismatch(0, "1", "2"))
    doc = msgspec.structs.replace(made.doc, versions={**VERSIONS, "tvm@old": "0.25.0", "device@host cuda": "H100"})
    assert versions_of(doc) == VERSIONS
    old = msgspec.structs.replace(doc, lane=replace(doc.lane, toolchain="old"))
    assert versions_of(old)["tvm"] == "0.25.0"


def test_a_finding_needs_what_its_script_imports() -> None:
    made = record(FLIP, Kind.WRONG_VALUE, TVM, Mismatch(0, "1", "2"))
    assert requirements_of(made) == ("torch==2.13.0", "apache-tvm==0.27.0", "numpy")
