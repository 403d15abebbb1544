"""Say what TVM's importer does with an ONNX file that no case holds: `python -m fuzzer.children.import_alone FILE
PARENT`, which prints JSON.

Such a file takes or returns values that are no tensors of numbers, so that no lane runs it. The importer runs in this
child process, under limits of memory and CPU time. Tensors that are stored in other files are never opened.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import onnx
from tvm.relax.frontend.onnx import from_onnx

from fuzzer.seeds.bounded_child import limit_child, limits_of
from fuzzer.seeds.onnx.importer_alone import ImporterSays

MOST = 300
"""The most characters of a message."""

MEMORY_OF_TVM = 4 << 30
"""The addresses that TVM itself takes, in bytes, and room for its work."""


def answer(path: Path) -> ImporterSays:
    """What the importer raises on the file; "" where it takes it."""
    model = onnx.load(path, load_external_data=False)
    try:
        from_onnx(model)
    except Exception as error:  # whatever the importer raises is the answer
        return ImporterSays(f"{type(error).__name__}: {' '.join(str(error).split())[:MOST]}")
    return ImporterSays()


def main() -> None:
    path = Path(sys.argv[1])
    limits = limits_of(path)
    with limit_child(int(sys.argv[2]), replace(limits, memory=limits.memory + MEMORY_OF_TVM)) as answers:
        answers.write(msgspec.json.encode(answer(path)))


if __name__ == "__main__":
    main()
