"""Put extreme numbers into each integer of small models, and import them: no number costs much time or memory.

    python benchmarks/model_numbers.py [--every N] [--workers N]

The models are of ONNX, with sizes, attributes, tensors, versions and places in other files. Each of their integers is
found by reflection on protobuf's fields and becomes each of `NUMBERS` in turn. `fuzz import` of such a file must end
with 0, or with 64 and one sentence, within `MOST_SECONDS` and `MOST_BYTES`. Prints how many files there were, the most
that one took, and each fault. Exits with 1 where there is one. `--every N`: each N-th file only.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.descriptor import FieldDescriptor
from onnx import TensorProto, helper, numpy_helper

NUMBERS = (-1, -(2**63), 0, 2**31, 2**62, 2**63 - 1)
MOST_SECONDS, MOST_BYTES = 40.0, 2 << 30
NO_TENSORS: Mapping[str, Any] = {}
_INTEGERS = {FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64}


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of a file: the exit code, wall seconds, bytes of the largest process, and the last line of stderr."""

    name: str
    code: int
    seconds: float
    memory: int
    line: str

    @property
    def fault(self) -> str:
        if self.code not in (0, 64):
            return f"exit code {self.code}"
        if self.code == 64 and not re.match(f"fuzz: .*{re.escape(self.name)}.onnx: ", self.line):
            return "it is refused without a sentence"
        if self.seconds > MOST_SECONDS:
            return "it takes too long"
        return "it takes too much memory" if self.memory > MOST_BYTES else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(options.workers) as pool:
        files = list(written(Path(scratch)))[:: options.every]
        done = list(pool.map(partial(imported, Path(scratch)), files))
    for each in done:
        if each.fault:
            print(f"{each.name}: {each.fault}: {each.seconds:.1f} s, {each.memory >> 20} MB, {each.line[:200]}")
    faults = sum(bool(each.fault) for each in done)
    seconds, memory = max(each.seconds for each in done), max(each.memory for each in done)
    accepted = sum(each.code == 0 for each in done)
    counted = f"{len(done)} files, {accepted} of them imported, {faults} faults"
    print(f"{counted}; at most {seconds:.1f} s and {memory >> 20} MB")
    sys.exit(1 if faults else 0)


def imported(scratch: Path, path: Path) -> Imported:
    began = time.monotonic()
    command = [sys.executable, "-m", "fuzzer.cli", "import", str(path), "--into", str(scratch / f"{path.stem}-c")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        lines = process.stderr.read().strip().splitlines()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - began
    return Imported(path.stem, process.returncode, seconds, usage.ru_maxrss * 1024, (lines or [""])[-1])


def written(folder: Path) -> Iterator[Path]:
    """The files. Each is named by its model, the place of the number, and the number."""
    for name, model in models().items():
        for place, holder, key in integers(model):
            before = holder[key] if isinstance(key, int) else getattr(holder, key)
            for number in NUMBERS:
                if _put(holder, key, number):
                    path = folder / f"{name} {place}={number}.onnx"
                    path.write_bytes(model.SerializeToString())
                    yield path
            _put(holder, key, before)


def _put(holder: Any, key: int | str, number: int) -> bool:
    try:
        if isinstance(key, int):
            holder[key] = number
        else:
            setattr(holder, key, number)
    except ValueError:  # not a number of 32 bits
        return False
    return True


def integers(message: Any, place: str = "") -> Iterator[tuple[str, Any, int | str]]:
    """Each integer that is set: where it is, and what holds it under which key."""
    for field, value in message.ListFields():
        inside = f"{place}.{field.name}" if place else str(field.name)
        repeated = hasattr(value, "__len__") and not isinstance(value, bytes | str)
        if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
            for index, each in enumerate(value if repeated else [value]):
                yield from integers(each, f"{inside}{index}" if repeated else inside)
        elif field.cpp_type in _INTEGERS:
            if repeated:
                yield from ((f"{inside}{index}", value, index) for index in range(len(value)))
            else:
                yield inside, message, field.name


# --- models


def models() -> dict[str, onnx.ModelProto]:
    """Small valid models, by name."""
    ints: dict[str, Any] = {"shape": [2, 3], "reps": [2, 1], "pads": [0, 1, 0, 1], "end": [4], "depth": [3]}
    x = ("x", [2, 3])
    return {
        "relu": _model([("Relu", ["x"], {})], x),
        "concat": _model([("Concat", ["x", "x"], {"axis": 1})], x),
        "conv": _model(
            [("Conv", ["x", "w"], {"kernel_shape": [2], "pads": [1, 1], "strides": [1], "group": 1})],
            ("x", [1, 2, 4]),
            {"w": [[[1.0, 2.0], [1.0, 2.0]]]},
        ),
        "pool": _model([("MaxPool", ["x"], {"kernel_shape": [2], "dilations": [1], "ceil_mode": 1})], ("x", [1, 2, 4])),
        "reshape": _model([("Reshape", ["x", "shape"], {"allowzero": 1})], x, ints),
        "expand": _model([("Expand", ["x", "shape"], {})], x, ints),
        "tile": _model([("Tile", ["x", "reps"], {})], x, ints),
        "pad": _model([("Pad", ["x", "pads"], {})], x, ints),
        "filled": _model([("ConstantOfShape", ["shape"], {}), ("Add", ["v0", "x"], {})], x, ints),
        "sizes": _model([("Shape", ["x"], {"start": 0}), ("ConstantOfShape", ["v0"], {}), ("Add", ["v1", "x"], {})], x),
        "split": _model([("Split", ["x"], {"axis": 1, "num_outputs": 1})], x, opset=18),
        "transpose": _model([("Transpose", ["x"], {"perm": [1, 0]})], x),
        "cast": _model([("Cast", ["x"], {"to": 7}), ("EyeLike", ["x"], {"k": 1, "dtype": 1})], x),
        "drawn": _model([("RandomNormal", [], {"shape": [2, 3]}), ("Add", ["v0", "x"], {})], x),
        "other file": _in_another_file(),
    }


def _model(
    nodes: list[tuple[str, list[str], dict[str, Any]]],
    x: tuple[str, list[int]],
    tensors: Mapping[str, Any] = NO_TENSORS,
    opset: int = 17,
) -> onnx.ModelProto:
    made = [helper.make_node(op, inputs, [f"v{n}"], **attributes) for n, (op, inputs, attributes) in enumerate(nodes)]
    read = {name for _, inputs, _ in nodes for name in inputs}
    arrays = {name: np.asarray(value) for name, value in tensors.items() if name in read}
    owned = [
        numpy_helper.from_array(each.astype(np.float32) if each.dtype == np.float64 else each, name)
        for name, each in arrays.items()
    ]
    for tensor in owned:  # as numbers, not as bytes
        if tensor.data_type == TensorProto.INT64:
            tensor.int64_data.extend(numpy_helper.to_array(tensor).tolist())
            tensor.ClearField("raw_data")
    graph = helper.make_graph(
        made,
        "g",
        [helper.make_tensor_value_info(x[0], TensorProto.FLOAT, x[1])],
        [helper.make_tensor_value_info(f"v{len(nodes) - 1}", TensorProto.FLOAT, None)],
        owned,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def _in_another_file() -> onnx.ModelProto:
    model = _model([("Add", ["x", "w"], {})], ("x", [2, 3]), {"w": [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]})
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "weights"), ("offset", str(2**62)), ("length", str(2**62))):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
    return model


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
