"""Rules for names, docstrings and words that a program can check. People check the others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
FOLDERS = ("fuzzer", "generators", "oracles", "tests", "benchmarks")

NO_NAMES = {"told", "seen", "asked", "said", "road", "roads", "kin"}
"""Participles that do not say what was told, seen or asked, and words for which the glossary of docs/how-it-works.md
has another. A class whose format has such a key renames its field."""

NO_WORDS = re.compile(r"so-manieth|who(so)?ever|\ball the same\b|\b(?<!cross)roads?\b")

OLD_COLUMN = {"benchmarks/hostile/stores.py", "fuzzer/campaign/index.py", "fuzzer/campaign/schema.py"}
"""The index of a campaign has a column `road`. Migrations are never changed."""


def python_files() -> list[Path]:
    return sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def descriptions(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The docstrings, and the strings that describe the assignment before them, with their lines."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, text.strip()


def given_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The names that a file gives to variables, parameters, attributes, functions, classes and imports."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=name, ctx=ast.Store())
                | ast.Attribute(attr=name, ctx=ast.Store())
                | ast.arg(arg=name)
                | ast.alias(asname=str(name))
                | ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                yield node.lineno, name


def test_the_names_of_a_file_are_found_wherever_they_are_given() -> None:
    text = """
import m as a1
class a2:
    a3: int
    def a4(self, a5, *a6, a7=x, **a8):
        self.a9, [a10, *a11] = y
        with b as a12: pass
        for a13 in (z for a14 in q): pass
        try: pass
        except E as a15: pass
        match s:
            case [K(k=a16), *a17]: pass
            case {"w": 1 as a18}: (a19 := lambda a20: t)
"""
    assert {name for _, name in given_names(ast.parse(text))} == {"self", *(f"a{number}" for number in range(1, 21))}


def test_no_docstring_begins_with_of() -> None:
    found = [
        f"{relative(path)}:{line}: {text[:60]}"
        for path in python_files()
        for line, text in descriptions(ast.parse(path.read_text()))
        if text.startswith("Of ")
    ]
    assert not found, "\n".join(found)


def test_names_say_what_a_thing_is() -> None:
    found = [
        f"{relative(path)}:{line}: {name}"
        for path in python_files()
        for line, name in given_names(ast.parse(path.read_text()))
        if not NO_NAMES.isdisjoint(name.split("_"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("paths", [python_files(), pages()], ids=["sources", "pages"])
def test_each_thing_has_one_word(paths: list[Path]) -> None:
    found = [
        f"{relative(path)}:{line}: {text.strip()[:80]}"
        for path in paths
        if path != Path(__file__) and relative(path) not in OLD_COLUMN
        for line, text in enumerate(path.read_text().splitlines(), 1)
        if NO_WORDS.search(text)
    ]
    assert not found, "\n".join(found)
