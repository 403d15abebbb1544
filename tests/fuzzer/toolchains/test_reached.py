"""Calls of functions are noted, and nothing else changes."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fuzzer.toolchains import reached

SOURCE = b'''"""A file."""
from __future__ import annotations

import asyncio


def plain(x: int) -> int:
    """Doubles."""
    return 2 * x


class Importer:
    name = "an attribute"

    @staticmethod
    def fixed():
        return [key(n) for n in range(2)]

    def method(self):
        def inner():
            yield 1

        return list(inner())


key = lambda n, m=1: n + m


def raises():
    raise ValueError("no")


async def later():
    return 5
'''


@pytest.fixture(autouse=True)
def _none_called() -> Iterator[None]:
    reached.clear()
    yield
    reached.clear()


def run(functions: frozenset[str] | None = None, source: bytes = SOURCE) -> dict[str, Any]:
    made: dict[str, Any] = {"__name__": "made"}
    exec(reached.compiled(source, "/folder/made.py", "made.py", functions), made)
    return made


def test_each_call_is_noted_by_its_qualified_name() -> None:
    made = run()
    assert reached.called() == (), "no function is called by the file itself"
    assert made["plain"](3) == 6
    assert made["Importer"].fixed() == [1, 2]
    assert made["Importer"]().method() == [1]
    assert asyncio.run(made["later"]()) == 5
    names = ("plain", "Importer.fixed", "<lambda>", "Importer.method", "Importer.method.inner", "later")
    assert reached.called() == tuple(f"made.py {name}" for name in names)


def test_only_the_functions_that_were_named() -> None:
    made = run(frozenset({"Importer.method.inner"}))
    made["plain"](3)
    made["Importer"]().method()
    assert reached.called() == ("made.py Importer.method.inner",)


def test_docstrings_annotations_and_lines_stay() -> None:
    made = run()
    assert (made["__doc__"], made["plain"].__doc__) == ("A file.", "Doubles.")
    assert made["plain"].__annotations__ == {"x": "int", "return": "int"}
    with pytest.raises(ValueError, match="no") as caught:
        made["raises"]()
    assert traceback.extract_tb(caught.value.__traceback__)[-1].lineno == 30


def test_a_file_that_is_no_python_raises_as_before() -> None:
    with pytest.raises(SyntaxError, match="invalid syntax"):
        run(source=b"def f(:\n")


def test_files_of_tvm_are_imported_with_notes(tmp_path: Path) -> None:
    """In a process of its own, with a package `tvm` of four modules."""
    package = tmp_path / "tvm" / "relax"
    package.mkdir(parents=True)
    (tmp_path / "tvm" / "__init__.py").write_text("")
    (package / "__init__.py").write_text("def build():\n    return 1\n")
    (package / "op.py").write_text("def relu():\n    return 2\n\n\ndef gelu():\n    return 3\n")
    (package / "other.py").write_text("def relu():\n    return 4\n")
    document = tmp_path / "functions.json"
    functions = {"relax/__init__.py": ["build"], "relax/op.py": ["relu"]}
    document.write_text(json.dumps({"functions": functions, "conditions": True}))
    done = subprocess.run(
        [sys.executable, "-c", _IMPORTS],
        env={"PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[3]}", reached.FUNCTIONS: str(document)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines() == ["[1, 2, 3, 4]", "relax/__init__.py build", "relax/op.py relu"], done.stderr
    assert "def relu" in done.stderr


_IMPORTS = """
import inspect, sys
from fuzzer.toolchains import reached
for _ in range(2):  # the second import has bytecode
    reached.note_functions_of_tvm()
    import tvm.relax.op, tvm.relax.other
    values = [tvm.relax.build(), tvm.relax.op.relu(), tvm.relax.op.gelu(), tvm.relax.other.relu()]
print(values, *reached.called(), sep="\\n")
print(inspect.getsource(tvm.relax.op.relu), file=sys.stderr)
"""


def test_nothing_is_noted_where_the_environment_names_no_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(reached.FUNCTIONS, raising=False)
    before = list(sys.meta_path)
    reached.note_functions_of_tvm()
    assert sys.meta_path == before


@pytest.mark.parametrize(
    ("module", "is_package", "path"),
    [
        ("tvm", True, "__init__.py"),
        ("tvm.relax", True, "relax/__init__.py"),
        ("tvm.relax.transform.legalize_ops.nn", False, "relax/transform/legalize_ops/nn.py"),
    ],
)
def test_a_module_has_a_path(module: str, is_package: bool, path: str) -> None:
    assert reached.relative(module, is_package) == path


CONDITIONS = b'''
def f(x, y):
    """A docstring."""
    if x > 1 and y > 1:
        return 1
    elif x == 0:
        return 2
    return 3 if y else 4


key = lambda a: a if a else None
'''


@pytest.mark.parametrize(
    ("arguments", "result", "noted"),
    [
        ((2, 2), 1, ["if x > 1", "if x > 1 and y > 1"]),
        ((2, 0), 4, ["if x > 1", "if not (x > 1 and y > 1)", "if not x == 0", "if not y"]),
        ((0, 1), 2, ["if not (x > 1 and y > 1)", "if x == 0"]),
    ],
)
def test_each_way_of_a_condition_is_noted(arguments: tuple[int, int], result: int, noted: list[str]) -> None:
    names: dict[str, Any] = {}
    exec(reached.compiled(CONDITIONS, "m.py", "m.py"), names)
    reached.clear()
    assert names["f"](*arguments) == result
    assert list(reached.called()) == ["m.py f", *(f"m.py f {condition}" for condition in noted)]


def test_the_conditions_of_a_file() -> None:
    of_f = ["x > 1 and y > 1", "not (x > 1 and y > 1)", "x == 0", "not x == 0", "x > 1", "y", "not y"]
    of_key = ["m.py <lambda> if a", "m.py <lambda> if not a"]
    assert reached.conditions_of(CONDITIONS, "m.py") == [*(f"m.py f if {each}" for each in of_f), *of_key]
    assert reached.conditions_of(CONDITIONS, "m.py", frozenset(("<lambda>",))) == of_key
