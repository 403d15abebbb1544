"""The numbers of a file's tensors are read in a child: raw bytes, also in other files of the folder, nothing else."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

from fuzzer.seeds import own_weights
from fuzzer.seeds.onnx.reader.weights import weights
from fuzzer.seeds.torch import pt2
from generators.graph import DType, Invalid

W = np.arange(6, dtype=np.float32).reshape(2, 3)


def file(path: Path, *, external: str = "", **tensors: onnx.TensorProto) -> Path:
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Identity", ["w"], ["i"])],
        "b",
        [],
        [value("i", TensorProto.FLOAT, [2, 3])],
        [numpy_helper.from_array(W + 1, "inner")],
    )
    nodes = [
        helper.make_node("Constant", [], ["k"], value=numpy_helper.from_array(W * 2)),
        helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body),
    ]
    weight = numpy_helper.from_array(W, "w")
    graph = helper.make_graph(
        nodes,
        "g",
        [value("c", TensorProto.BOOL, [])],
        [value("y", TensorProto.FLOAT, [2, 3])],
        [weight, *tensors.values()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    if external:
        onnx.save(model, path, save_as_external_data=True, location=external, size_threshold=0)
    else:
        onnx.save(model, path)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("external", ["", "weights.bin"])
def test_all_tensors_of_a_file_are_read(tmp_path: Path, external: str) -> None:
    found = own_weights.read(file(tmp_path / "m.onnx", external=external))
    assert {name: array.tolist() for name, array in found.items()} == {
        "w": W.tolist(),
        "k": (W * 2).tolist(),
        "y/then_branch/inner": (W + 1).tolist(),
        "y/else_branch/inner": (W + 1).tolist(),
    }


def test_what_no_case_holds_is_left_out_and_what_is_too_large_is_refused(tmp_path: Path) -> None:
    texts = helper.make_tensor("t", TensorProto.STRING, [1], [b"a"])
    path = file(tmp_path / "m.onnx", t=texts)
    assert "t" not in weights(path, 1 << 20)
    with pytest.raises(Invalid, match="its weights have more than 0 MiB"):
        weights(path, 50)
    huge = TensorProto(name="h", data_type=TensorProto.FLOAT, dims=[1 << 40])
    with pytest.raises(Invalid, match="numbers in its weights, more than 1 MiB"):
        weights(file(tmp_path / "m.onnx", h=huge), 1 << 20)


@pytest.mark.slow
def test_a_tensor_outside_of_the_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    path = file(tmp_path / "m.onnx", external="weights.bin")
    (tmp_path / "weights.bin").unlink()
    with pytest.raises(Invalid, match=r"its tensor '.*' cannot be read"):
        own_weights.read(path)
    model = onnx.load(path, load_external_data=False)
    model.graph.initializer[0].external_data[0].value = "../secret"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(Invalid, match="outside of its folder"):
        own_weights.read(path)


def saved(path: Path, model: torch.nn.Module, x: torch.Tensor) -> Path:
    torch.export.save(torch.export.export(model.eval(), (x,)), path)
    return path


@pytest.mark.slow
def test_the_weights_of_an_exported_program_are_read(tmp_path: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2)).to(torch.bfloat16)
    path = saved(tmp_path / "m.pt2", model, torch.ones(4, 3, dtype=torch.bfloat16))
    found = own_weights.read(path)
    weight = found["p_0_weight"]
    assert weight.dtype == DType.BFLOAT16.numpy
    assert weight.astype(np.float32).tolist() == model[0].weight.float().tolist()
    assert found["b_1_num_batches_tracked"].tolist() == 0
    with pytest.raises(Invalid, match="its weights have more than 0 MiB"):
        pt2.weights(path, 3)


def changed(path: Path, change: Callable[[str, bytes], bytes | None]) -> Path:
    written = io.BytesIO()
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(written, "w") as after:
        for name in before.namelist():
            if (data := change(name, before.read(name))) is not None:
                after.writestr(name, data)
    path.write_bytes(written.getvalue())
    return path


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda name, data: data.replace(b'"use_pickle":false', b'"use_pickle":true'), "is pickled, which is not read"),
        (lambda name, data: None if name.endswith("weight_0") else data, "has no numbers for"),
        (lambda name, data: data[:-4] if name.endswith("weight_0") else data, "no tensor that fills its storage"),
    ],
)
def test_what_cannot_be_read_safely_is_refused(
    tmp_path: Path, change: Callable[[str, bytes], bytes | None], why: str
) -> None:
    def plain(name: str, data: bytes) -> bytes | None:
        return change(name, data.replace(b'": ', b'":') if name.endswith("config.json") else data)

    path = changed(saved(tmp_path / "m.pt2", torch.nn.Linear(3, 2), torch.ones(4, 3)), plain)
    with pytest.raises(Invalid, match=why):
        pt2.weights(path, 1 << 20)
