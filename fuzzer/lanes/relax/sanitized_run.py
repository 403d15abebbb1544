"""Run a compiled library twice and write its results to files: `python sanitized_run.py LIBRARY`.

`fuzzer.lanes.relax.sanitized` starts it with the runtime of the sanitizers preloaded. A sanitizer's report ends the
process. It imports nothing of difftvm, because each import costs twice as much under a sanitizer.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes  # noqa: F401 - this registers bfloat16 with numpy
import numpy as np


def write(path: Path, arrays: Sequence[np.ndarray[Any, Any]]) -> None:
    path.with_suffix(".json").write_text(json.dumps([[str(each.dtype), each.shape] for each in arrays]))
    path.with_suffix(".data").write_bytes(b"".join(each.tobytes() for each in arrays))


def read(path: Path) -> tuple[np.ndarray[Any, Any], ...]:
    data, arrays = path.with_suffix(".data").read_bytes(), []
    for name, shape in json.loads(path.with_suffix(".json").read_text()):
        kind = np.dtype(name)
        size = kind.itemsize * int(np.prod(shape, dtype=np.int64))
        arrays.append(np.frombuffer(data[:size], kind).reshape(shape))
        data = data[size:]
    return tuple(arrays)


def main() -> None:
    sys.modules["torch"] = None  # type: ignore[assignment]  # keeps tvm_ffi from loading it, which is not needed
    import tvm
    from tvm.runtime.vm import VirtualMachine

    if "TVM_USE_RUNTIME_LIB" not in os.environ:
        import tvm.relax

    library = Path(sys.argv[1])
    inputs = read(library.with_name("inputs"))
    # naive: each tensor has an allocation of its own, so that the byte after it is out of bounds
    machine = VirtualMachine(tvm.runtime.load_module(str(library)), tvm.runtime.cpu(0), memory_cfg="naive")
    for name in ("outputs", "again"):
        result = machine["main"](*(tvm.runtime.tensor(np.array(each)) for each in inputs))
        tensors = (result,) if hasattr(result, "numpy") else tuple(result)
        write(library.with_name(name), [each.numpy() for each in tensors])


if __name__ == "__main__":
    main()
