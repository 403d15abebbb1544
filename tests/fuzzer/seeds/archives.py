"""Files of torch.export.save, written down by hand."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CODES = {"uint8": 1, "int64": 5, "float16": 6, "float32": 7, "complex64": 10, "bool": 12}


def argument(value: Any) -> dict[str, Any]:
    """`$x` is the tensor x; texts with a colon are as they are: `scalar_type:6`."""
    match value:
        case None:
            return {"as_none": True}
        case bool():
            return {"as_bool": value}
        case int():
            return {"as_int": value}
        case float():
            return {"as_float": value}
        case [str() as first, *_] if first.startswith("$"):
            return {"as_tensors": [{"name": item[1:]} for item in value]}
        case list():
            return {"as_ints": value}
        case str() if value.startswith("$"):
            return {"as_tensor": {"name": value[1:]}}
        case dict():
            return value
        case _:
            return {"as_string": value}


def node(target: str, results: str, **args: Any) -> dict[str, Any]:
    """A node of an exported graph. `target` is an operator of aten, such as `conv2d.default`, or a name that begins
    with `torch.`."""
    return {
        "target": target if target.startswith("torch.") else f"torch.ops.aten.{target}",
        "inputs": [{"name": name, "arg": argument(value), "kind": 1} for name, value in args.items()],
        "outputs": [argument(f"${name}") for name in results.split()],
        "metadata": {},
    }


def meta(text: str) -> dict[str, Any]:
    """`float32[2,3]`."""
    dtype, _, shape = text.removesuffix("]").partition("[")
    sizes = [int(size) for size in shape.split(",")] if shape else []
    strides = [1] * len(sizes)
    for axis in reversed(range(len(sizes) - 1)):
        strides[axis] = strides[axis + 1] * sizes[axis + 1]
    return {
        "dtype": CODES[dtype],
        "sizes": [{"as_int": size} for size in sizes],
        "strides": [{"as_int": size} for size in strides],
        "storage_offset": {"as_int": 0},
        "layout": 7,
        "requires_grad": False,
        "device": {"type": "cpu", "index": None},
    }


def document(values: Mapping[str, str], *nodes: dict[str, Any], inputs: str = "x") -> dict[str, Any]:
    """`values` are all types; inputs that begin with w are parameters, with b buffers."""
    specs: list[dict[str, Any]] = []
    for name in inputs.split():
        kind = {"w": "parameter", "b": "buffer"}.get(name[0])
        if kind:
            specs.append({kind: {"arg": {"name": name}, f"{kind}_name": f"own.{name}", "persistent": True}})
        else:
            specs.append({"user_input": {"arg": argument(f"${name}")}})
    graph = {
        "inputs": [argument(f"${name}") for name in inputs.split()],
        "outputs": [],
        "nodes": list(nodes),
        "tensor_values": {name: meta(text) for name, text in values.items()},
        "sym_int_values": {},
        "sym_bool_values": {},
        "is_single_tensor_return": False,
    }
    return {
        "graph_module": {"graph": graph, "signature": {"input_specs": specs, "output_specs": []}},
        "opset_version": {"aten": 10},
        "range_constraints": {},
        "schema_version": {"major": 8, "minor": 20},
    }


def write(path: Path, model: Any, **members: bytes) -> Path:
    """`members` have `/` written as `__` in their names."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("m/models/model.json", model if isinstance(model, bytes) else json.dumps(model))
        for name, data in members.items():
            archive.writestr(f"m/{name.replace('__', '/')}", data)
    return path
