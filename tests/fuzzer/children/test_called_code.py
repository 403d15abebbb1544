"""What a function calls, as far as its bytecode shows, and a key that changes with its code."""

from __future__ import annotations

import functools
import types
from typing import Any

import pytest

from fuzzer.children.called_code import CodeReader

SOURCE = """
import functools

LIMIT = 3


def helper(x):
    return x + LIMIT


def other(x):
    return x


def direct(x):
    return helper(x)


def made(op):
    def convert(x):
        return op(x)

    return convert


class Importer:
    def shape_of(self, x):
        return x

    def _relu(self, node):
        if node > 7 or node == 0.5:
            return self.shape_of(node)
        return None

    def create_convert_map(self):
        return {"relu": self._relu}
"""


def module(text: str = SOURCE, name: str = "mine") -> Any:
    found = types.ModuleType(name)
    exec(compile(text, f"/x/{name}.py", "exec"), found.__dict__)
    return found


def reader() -> CodeReader:
    return CodeReader(lambda name: name == "mine", lambda file: file.rpartition("/")[2], ("create_convert_map",))


def names(value: object, owner: type | None = None) -> list[str]:
    made = reader()
    return sorted(read.key.partition("#")[0] for read in made.closure(made.functions_of(value, owner)))


@pytest.mark.parametrize(
    ("value", "called"),
    [
        (lambda m: m.direct, ["mine.py direct", "mine.py helper"]),
        (lambda m: functools.partial(m.direct, m.other), ["mine.py direct", "mine.py helper", "mine.py other"]),
        (lambda m: m.made(m.helper), ["mine.py helper", "mine.py made.convert"]),
        (lambda m: m.Importer()._relu, ["mine.py Importer._relu", "mine.py Importer.shape_of"]),
        (lambda m: m.Importer, ["mine.py Importer._relu", "mine.py Importer.shape_of"]),
        (lambda m: len, []),
    ],
)
def test_what_stands_behind_a_value(value: Any, called: list[str]) -> None:
    assert names(value(module())) == called


def key_of(text: str, name: str = "direct") -> set[str]:
    made = reader()
    return {read.key for read in made.closure(made.functions_of(getattr(module(text), name)))}


@pytest.mark.parametrize(
    ("before", "after", "differs"),
    [
        ("return x + LIMIT", "return x - LIMIT", True),
        ("return x + LIMIT", "return x + 2", True),
        ("LIMIT = 3", "LIMIT = 4", True),
        ("return helper(x)", "return other(x)", True),
        ("return x\n", "return -x\n", False),  # of another function
        ("def direct(x):", "\n\n# a comment\ndef direct(x):", False),
        ("def helper(x):", 'def helper(x):\n    """Adds."""', False),
    ],
)
def test_the_key_changes_with_the_code(before: str, after: str, differs: bool) -> None:
    assert before in SOURCE
    assert (key_of(SOURCE) != key_of(SOURCE.replace(before, after, 1))) is differs


def test_the_key_has_the_closure() -> None:
    mine, made = module(), reader()
    first, second = (made.read((mine.made(op), None)).callees[0][0] for op in (mine.helper, mine.other))
    assert (first, second) == (mine.helper, mine.other)


def test_the_numbers_of_the_code() -> None:
    mine, made = module(), reader()
    assert made.read((mine.Importer._relu, mine.Importer)).constants == [0.5, 7]


def test_functions_in_cpp_are_named() -> None:
    api = types.ModuleType("mine.op.nn._ffi_api")
    mine = module()
    mine._ffi_api = api
    exec("def softmax(x):\n    return _ffi_api.softmax(x)\n", mine.__dict__)
    mine.softmax.__module__ = "mine"
    assert reader().read((mine.softmax, None)).ffi == ["mine.op.nn._ffi_api.softmax"]
