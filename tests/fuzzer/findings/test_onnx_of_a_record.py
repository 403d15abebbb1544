"""The ONNX description in the folder of a finding: it must fit the finding's case."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

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
