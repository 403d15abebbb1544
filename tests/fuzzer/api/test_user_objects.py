"""How another process gets a function of the user: by import, by its file, or through dill."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fuzzer.api import user_objects
from fuzzer.api.pass_check import preload_source
from fuzzer.api.user_objects import expression, place_of

SCRIPT = """
import sys
from functools import partial
from fuzzer.api.user_objects import expression

def double(number):
    return 2 * number

triple = partial(lambda by, number: by * number, 3)

class Numbers:
    @staticmethod
    def add_one(number):
        return number + 1

if __name__ == "__main__":
    def add_two(number):
        return number + 2

    k = 10
    for each in double, triple, Numbers.add_one, add_two, lambda number: number + k:
        print(expression(each))
"""


def value_of(source: str) -> Any:
    return eval(source, {"user_objects": user_objects})


def test_a_function_of_a_script_is_had_from_its_file(tmp_path: Path) -> None:
    """What is bound below `if __name__ == "__main__":` is not there in another process."""
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    double, triple, add_one, add_two, closure = done.stdout.splitlines()
    assert double == f"user_objects.from_file({str(path)!r}, 'double')"
    assert triple == f"user_objects.from_file({str(path)!r}, 'triple')"
    assert add_one == f"user_objects.from_file({str(path)!r}, 'Numbers.add_one')"
    assert add_two.startswith("user_objects.from_text(")
    assert [value_of(each)(5) for each in (double, triple, add_one, add_two, closure)] == [10, 15, 6, 7, 15]


def test_a_function_of_a_module_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "passes_of_a_user.py").write_text("def same(mod):\n    return mod\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("passes_of_a_user")
    try:
        assert expression(module.same) == "user_objects.from_module('passes_of_a_user', 'same')"
        assert value_of(expression(module.same)) is module.same
        source = preload_source("same", module.same)
        assert f"{str(tmp_path)!r}" in source
        assert source.endswith("\nregister_pass('same', user_objects.from_module('passes_of_a_user', 'same'))\n")
    finally:
        del sys.modules["passes_of_a_user"]


def test_a_name_of_a_pass_of_tvm_is_all_that_is_needed() -> None:
    assert preload_source("fold", "FoldConstant").endswith("\nregister_pass('fold', 'FoldConstant')\n")


def test_an_object_without_a_name_is_looked_for() -> None:
    module = ModuleType("of_a_user")
    module.thing = thing = [1]  # type: ignore[attr-defined]
    sys.modules["of_a_user"] = module
    try:
        assert place_of(thing) == (module, "thing")
        assert place_of([1]) == (None, "")
    finally:
        del sys.modules["of_a_user"]


def test_what_cannot_be_given_on_is_refused() -> None:
    generator = (number for number in (1, 2))
    with pytest.raises(ValueError, match=r"cannot be given to another process .*: define the pass at the top"):
        expression(generator)


def test_a_missing_name_is_an_error_where_it_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("x = 1\n")
    with pytest.raises(AttributeError, match="'y'"):
        user_objects.from_file(str(tmp_path / "other.py"), "y")
    del sys.modules[user_objects.OWN_MODULE]
