"""No number of a model costs much time or memory: a few files here, and all by `benchmarks/model_numbers.py`."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import model_numbers
import pytest
from model_numbers import MOST_SECONDS, Imported

FILES = [
    "relu graph.input0.type.tensor_type.shape.dim0.dim_value=4611686018427387904",
    "filled graph.initializer0.int64_data0=9223372036854775807",
    pytest.param("tile graph.initializer0.int64_data0=4611686018427387904", marks=pytest.mark.long),
]


def test_each_integer_of_a_model_is_found() -> None:
    model = model_numbers.models()["reshape"]
    places = [place for place, _, _ in model_numbers.integers(model)]
    assert Counter(place.partition(".")[0].rstrip("0") for place in places) == {
        "ir_version": 1,
        "opset_import": 1,
        "graph": len(places) - 2,
    }
    assert {
        "ir_version",
        "opset_import0.version",
        "graph.node0.attribute0.i",
        "graph.initializer0.dims0",
        "graph.initializer0.int64_data1",
        "graph.input0.type.tensor_type.shape.dim1.dim_value",
    } <= set(places)


def test_what_is_a_fault() -> None:
    done = Imported("m", 64, 1.0, 1 << 20, "fuzz: m.onnx: 'x' has the size -2")
    assert done.fault == ""
    assert replace(done, line="ValueError: no").fault == "it is refused without a sentence"
    assert replace(done, code=79).fault == "exit code 79"
    assert replace(done, seconds=MOST_SECONDS + 1).fault == "it takes too long"
    assert replace(done, memory=3 << 30).fault == "it takes too much memory"


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_an_extreme_number_is_imported_or_refused_in_one_sentence(tmp_path: Path, name: str) -> None:
    path = next(path for path in model_numbers.written(tmp_path) if path.stem == name)
    assert model_numbers.imported(tmp_path, path).fault == ""


@pytest.mark.slow
def test_there_are_many_files(tmp_path: Path) -> None:
    assert sum(1 for _ in model_numbers.written(tmp_path)) > 600
