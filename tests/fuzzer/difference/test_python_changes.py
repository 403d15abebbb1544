"""Functions whose code differs, and no others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fuzzer.difference.python_changes import (
    changed_functions,
    changed_modules,
    differing_libraries,
    functions_in,
    tvm_folder,
)
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.toolchains.toolchain import HOST, Toolchain

BEFORE = '''
def same(x):
    """Before."""
    return x


class Importer:
    def relu(self, x):
        return max(x, 0)

    def outer(self):
        def inner():
            return 1

        return inner()


key = lambda n: n
'''


@pytest.fixture
def trees(tmp_path: Path) -> tuple[Path, Path]:
    base, patched = tmp_path / "base", tmp_path / "patched"
    for folder in (base, patched):
        (folder / "relax").mkdir(parents=True)
        (folder / "relax" / "op.py").write_text(BEFORE)
        (folder / "libtvm.so").write_bytes(b"\x7fELF")
    return base, patched


def change(trees: tuple[Path, Path], old: str, new: str) -> dict[str, list[str]]:
    base, patched = trees
    text = BEFORE.replace(old, new)
    assert text != BEFORE
    (patched / "relax" / "op.py").write_text(text)
    return changed_functions(base, patched)


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("max(x, 0)", "max(x, 1)", ["Importer.relu"]),
        ("return 1", "return 2", ["Importer.outer.inner"]),
        ("return inner()", "return inner", ["Importer.outer"]),
        ("def relu(self, x)", "def relu(self, x, y=0)", ["Importer.relu"]),
        ("    def relu", "    @staticmethod\n    def relu", ["Importer.relu"]),
        ("lambda n: n", "lambda n: -n", ["<lambda>"]),
        ("def same", "def other", ["other"]),
        ('"""Before."""', '"""After, in other words."""', []),
        ("return x", "return x  # a comment", []),
        ("\n\nclass", "\n\n\n\nclass", []),
        ("key =", "other_key =", []),
    ],
)
def test_what_counts_as_a_change(trees: tuple[Path, Path], old: str, new: str, names: list[str]) -> None:
    assert change(trees, old, new) == ({"relax/op.py": names} if names else {})


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("\n\nclass", "\n\nTABLE = {1: 2}\n\nclass", True),
        ("    def relu", "    rank = 3\n\n    def relu", True),
        ("class Importer:", "class Importer(dict):", True),
        ("key =", "other_key =", True),
        ("\n\nclass", "\n\nsame = partial(same)\n\nclass", True),
        ("\n\nclass", "\n\n__version__ = '2'\n\nclass", False),
        ("\n\nclass", "\n\nimport os\nfrom os import path\n\nclass", False),
        ("class Importer:", 'class Importer:\n    """A docstring."""\n', False),
        ("def same", "def other", False),
        ("lambda n: n", "lambda n: -n", False),
        ("max(x, 0)", "max(x, 1)", False),
    ],
)
def test_code_outside_of_functions(trees: tuple[Path, Path], old: str, new: str, counts: bool) -> None:
    change(trees, old, new)
    assert changed_modules(*trees) == (["relax/op.py"] if counts else [])


def test_a_new_file_has_all_its_functions(trees: tuple[Path, Path]) -> None:
    base, patched = trees
    (patched / "relax" / "new.py").write_text("def f():\n    pass\n\n\ndef g():\n    pass\n")
    (patched / "relax" / "broken.py").write_text("def f(:\n")
    assert changed_functions(base, patched) == {"relax/new.py": ["f", "g"]}


def test_a_file_that_is_gone_is_no_change_of_the_patched_toolchain(trees: tuple[Path, Path]) -> None:
    base, patched = trees
    (patched / "relax" / "op.py").unlink()
    assert changed_functions(base, patched) == {}


def test_libraries_are_compared_by_their_bytes(trees: tuple[Path, Path]) -> None:
    base, patched = trees
    (patched / "new.so.1").write_bytes(b"1")
    assert differing_libraries(base, patched) == ["new.so.1"]
    (patched / "libtvm.so").write_bytes(b"\x7fELG")
    assert differing_libraries(base, patched) == ["libtvm.so", "new.so.1"]


def test_all_functions_of_a_file(trees: tuple[Path, Path]) -> None:
    names = ["same", "Importer.relu", "Importer.outer", "Importer.outer.inner", "<lambda>"]
    assert functions_in(trees[0] / "relax" / "op.py") == names


def test_the_folder_of_a_toolchain(tmp_path: Path) -> None:
    here = tvm_folder(HOST)
    assert (here / "__init__.py").is_file()
    assert tvm_folder(replace(HOST, environment={"PYTHONDONTWRITEBYTECODE": "1"})) == here
    (tmp_path / "tvm").mkdir()
    (tmp_path / "tvm" / "__init__.py").write_text("raise SystemExit('it is not imported')\n")
    other = Toolchain("own", HOST.python, {"PYTHONPATH": str(tmp_path)})
    assert tvm_folder(other) == tmp_path / "tvm"
    fails = tmp_path / "python"
    fails.write_text("#!/bin/sh\nexit 1\n")
    fails.chmod(0o755)
    with pytest.raises(EnvironmentMissing, match=r"^toolchain 'bare' has no package tvm$"):
        tvm_folder(Toolchain("bare", str(fails)))
