"""generators/onnx/schemas.json, which `make docs` writes, has what the installed onnx and onnxruntime say."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper
from onnxruntime import InferenceSession
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as Refused

from generators.onnx.schema import newest_opset, schemas

CALLS: dict[str, tuple[dict[str, tuple[int, ...]], dict[str, list[int]]]] = {
    "GlobalLpPool": ({"x": (1, 2, 4, 4)}, {}),
    "MaxRoiPool": ({"x": (1, 2, 4, 4), "rois": (1, 5)}, {"pooled_shape": [2, 2]}),
    "RoiAlign": ({"x": (1, 2, 4, 4), "rois": (1, 4), "batch": (1,)}, {}),
}


@pytest.mark.parametrize("name", CALLS)
def test_onnxruntime_uses_a_kernel_without_a_last_version_for_its_first_version_only(name: str) -> None:
    shapes, attributes = CALLS[name]
    arrays = {key: np.zeros(shape, np.int64 if key == "batch" else np.float32) for key, shape in shapes.items()}
    values = [
        helper.make_tensor_value_info(key, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for key, array in arrays.items()
    ]
    graph = helper.make_graph(
        [helper.make_node(name, list(arrays), ["y"], **attributes)],
        "g",
        values,
        [helper.make_tensor_value_info("y", values[0].type.tensor_type.elem_type, None)],
    )
    for schema in schemas()[name]:
        opset = min(schema.last or newest_opset(), newest_opset())
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
        text = model.SerializeToString()
        if schema.runs:
            InferenceSession(text, providers=["CPUExecutionProvider"]).run(None, arrays)
        else:
            with pytest.raises(Refused, match=f"{name}\\({schema.since}\\)"):
                InferenceSession(text, providers=["CPUExecutionProvider"])
    assert [schema.runs for schema in schemas()[name]][-2:] == [True, False]


def test_a_name_has_versions_in_both_domains() -> None:
    found = [(schema.domain, schema.since, schema.row) for schema in schemas()["Attention"] if schema.runs]
    assert found == [
        ("", 23, "Attention-23"),
        ("", 24, "Attention-24"),
        ("", 25, "Attention-25"),
        ("com.microsoft", 1, "Attention-1"),
    ]
    rows = [schema.row for versions in schemas().values() for schema in versions]
    assert len(rows) == len(set(rows))
