"""The ONNX description in the folder of a finding: it must fit the finding's case."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from fuzzer.findings import record
from generators.graph import Invalid

SHIPPED = Path(__file__).parents[3] / "crashes" / "rejected-tile-34f780f878bb"


def test_an_input_without_a_tensor_is_refused(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(SHIPPED, tmp_path / SHIPPED.name))
    model = record.read(folder).onnx
    assert model is not None
    document = json.loads((folder / record.ONNX).read_bytes())
    document["inputs"][0]["name"] = "other" * 100
    (folder / record.ONNX).write_text(json.dumps(document))
    with pytest.raises(Invalid, match=r"onnx\.json: the case has no tensor for the input 'otherother") as caught:
        record.read(folder)
    assert len(str(caught.value)) < 300


def test_a_report_declares_the_sizes_that_the_outputs_have() -> None:
    """And not those that the exporter has declared, where these are wrong. Open sizes stay."""
    found = record.read(SHIPPED)
    assert found.shows_export
    assert found.onnx is not None
    (output,) = found.onnx.outputs
    for declared, shown in (((7, *output.shape[1:]), output.shape), (("n", *output.shape[1:]), None), ((), None)):
        other = msgspec.structs.replace(output, shape=declared)
        changed = replace(found, onnx=msgspec.structs.replace(found.onnx, outputs=(other,)))
        file = record.built_file(changed, changed.case)
        assert file is not None
        assert file.model.outputs[0].shape == (declared if shown is None else shown)
