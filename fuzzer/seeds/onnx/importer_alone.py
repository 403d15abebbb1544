"""What TVM's importer says of an ONNX file that no case holds. A child with limits asks it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from fuzzer.seeds.bounded_child import answer_of
from generators.graph import Invalid

MODULE = "fuzzer.children.import_alone"
MOST_BYTES = 1 << 20


class ImporterSays(msgspec.Struct, forbid_unknown_fields=True):
    """The child's answer: the exception in one line, "" where there is none."""

    refused: str = ""


def importer_says(path: Path) -> str:
    """The exception of TVM's importer in one line, or how its process ended; "" where it takes the file."""
    try:
        return msgspec.json.decode(answer_of(MODULE, path, MOST_BYTES), type=ImporterSays).refused
    except Invalid as why:
        return str(why).removeprefix(f"{path}: ").replace("its reader ended", "the process of the importer ended")
