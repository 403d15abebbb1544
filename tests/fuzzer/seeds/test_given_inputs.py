"""Inputs of a model in files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from onnx import numpy_helper

from fuzzer.seeds import given_inputs
from fuzzer.seeds.onnx.reader.saved_tensors import tensors
from generators.graph import Invalid
from generators.plain_file import NO_FILE

X, N = np.array([[1.0, -2.0]], np.float32), np.array(3)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two inputs, as those of ONNX's node tests."""
    for number, (name, array) in enumerate({"x": X, "n": N}.items()):
        (tmp_path / f"input_{number}.pb").write_bytes(numpy_helper.from_array(array, name).SerializeToString())
    return tmp_path


def test_an_npz_file_and_a_folder_of_tensors_have_the_same_arrays(folder: Path) -> None:
    np.savez(folder / "x.npz", x=X, n=N)
    for path in (folder, folder / "x.npz"):
        found = tensors(path, 1 << 20)
        assert list(found) == ["x", "n"]
        np.testing.assert_array_equal(found["x"], X)
        assert (found["n"].shape, found["n"].dtype) == ((), N.dtype)


@pytest.mark.slow
def test_a_child_reads_them(folder: Path) -> None:
    np.testing.assert_array_equal(given_inputs.read(folder)["x"], X)


def refusals(folder: Path) -> Iterator[tuple[Path, str]]:
    """Files that cannot be read, with the reason."""
    (folder / "text.npz").write_text("no archive")
    yield folder / "text.npz", "cannot be read: File is not a zip file"
    np.savez(folder / "objects.npz", x=np.array([{}]))
    yield folder / "objects.npz", "cannot be read: Object arrays cannot be loaded"
    np.savez(folder / "complex.npz", x=np.array([1j]))
    yield folder / "complex.npz", "'x' is of complex128, which no case has"
    np.savez(folder / "large.npz", x=np.zeros(1 << 18))
    yield folder / "large.npz", "it has 2 MiB, more than 1"
    os.mkfifo(folder / "pipe.npz")
    yield folder / "pipe.npz", NO_FILE
    (folder / "pipes").mkdir()
    os.mkfifo(folder / "pipes" / "input_0.pb")
    yield folder / "pipes", NO_FILE
    for name, text, why in (
        ("empty", None, "it has no input_0.pb"),
        ("wrong", b"no tensor", "it is no tensor of ONNX"),
        ("unnamed", numpy_helper.from_array(X).SerializeToString(), "the tensor has no name"),
    ):
        (folder / name).mkdir()
        if text is not None:
            (folder / name / "input_0.pb").write_bytes(text)
        yield folder / name, why


def test_what_cannot_be_read_is_refused_with_the_reason(tmp_path: Path) -> None:
    for path, why in refusals(tmp_path):
        with pytest.raises(Invalid, match=why):
            tensors(path, 1 << 20)


@pytest.mark.parametrize(("name", "why"), [("none.npz", "no such file or folder"), ("x.txt", "expected an .npz file")])
def test_other_files_are_refused(name: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "x.txt").touch()
    with pytest.raises(Invalid, match=why):
        given_inputs.read(tmp_path / name)
