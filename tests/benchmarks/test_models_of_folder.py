"""Which models a folder of cases has."""

from __future__ import annotations

from pathlib import Path

from model_cases import made_by, models_of

MODULES = """
import torch

KINDS = {"made": lambda: (torch.nn.ReLU(), (torch.ones(2),)), "here": (torch.nn.Tanh(), (torch.ones(2),), ({},))}
NUMBERS = {"seven": 7}
"""


def test_models_are_files_with_each_of_their_inputs_and_the_modules_of_python_files(tmp_path: Path) -> None:
    for name in ("a.onnx", "a.npz", "a.long.npz", "ab.npz", "b.pt2", "notes.txt"):
        (tmp_path / name).touch()
    (tmp_path / "c.py").write_text(MODULES)
    found = list(models_of(tmp_path))
    names = [each.name for each in found]
    assert names == ["a.onnx", "a.onnx/a.npz", "a.onnx/a.long.npz", "b.pt2", "c.py/made", "c.py/here"]
    assert [len(made_by(each)) for each in found if each.module] == [2, 3]
