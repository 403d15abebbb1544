"""The inputs of a model that a person gives as files: an .npz file with arrays by name, or a folder with input_0.pb,
input_1.pb, ..., as ONNX's node tests have them. A child with limits reads them, and nothing is unpickled."""

from __future__ import annotations

from pathlib import Path

from fuzzer.seeds.own_weights import tensors_read_by
from generators.graph import Array, Invalid

MODULE = "fuzzer.seeds.onnx.reader.saved_tensors"


def read(path: Path) -> dict[str, Array]:
    """The arrays by the names of the model's inputs. Raise `Invalid` with one line where they cannot be read."""
    if not path.exists():
        raise Invalid(f"{path}: no such file or folder")
    if not path.is_dir() and path.suffix != ".npz":
        raise Invalid(f"{path}: expected an .npz file, or a folder with input_0.pb")
    return tensors_read_by(MODULE, path)
