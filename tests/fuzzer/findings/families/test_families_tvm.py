"""Findings that follow from one wrong type of TVM's importer of ONNX are one family, whatever stops at that type."""

from __future__ import annotations

from pathlib import Path

import pytest
from graphs_by_hand import Call, case_of

from fuzzer.campaign.store.store import Store
from fuzzer.findings import finding_file
from fuzzer.findings.families.grouping import families
from fuzzer.findings.related import causes
from fuzzer.isolate.fleet import Fleet
from fuzzer.lanes import MODEL_LANES
from fuzzer.triage.investigate import confirm_as_it_is, shown_by
from generators.graph import Attrs
from oracles.finding import Kind

SAME_LOWER: Attrs = {"kernel_shape": (1, 1), "strides": (2, 2), "auto_pad": "SAME_LOWER", "outputs": (True, False)}
POOL: Call = ("v0", "MaxPool-12", "x0", SAME_LOWER)
STOPPED: list[Call] = [POOL, ("v1", "Reshape-14", "v0", {"shape": (-1,)}), ("v2", "MatMul-13", "v1 w0")]
CASES = {
    Kind.WRONG_SHAPE: case_of({"x0": "float32[1,1,7,7]"}, [POOL], "v0", opset=17),
    Kind.INTERNAL_ERROR: case_of({"x0": "float32[1,1,7,7]", "w0": "float32[16]"}, STOPPED, "v2", opset=17),
}


@pytest.mark.tvm
def test_a_wrong_shape_and_the_failure_that_follows_from_it(fleet: Fleet, tmp_path: Path) -> None:
    with Store(tmp_path, 1) as store:
        for kind, case in CASES.items():
            _, (sighting, *_) = shown_by(fleet.run, case, MODEL_LANES)
            found = confirm_as_it_is(fleet, case, sighting, lambda *_: ())
            assert found is not None
            assert found.signature.kind is kind
            assert store.save(found, fleet.versions) is not None
    saved = list(finding_file.readable(finding_file.folders_in(tmp_path / "crashes")))
    assert {doc.blame.culprit for _, doc in saved} == {"Pool._impl_v1"}
    assert [len(family) for family in families(saved)] == [2]
    (cause,) = causes(doc for _, doc in saved).values()
    assert cause.kind is Kind.WRONG_SHAPE
