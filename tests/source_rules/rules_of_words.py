"""Rules for names, docstrings and words that a program can check. People check the others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from source_file import PACKAGES, SourceFile
from source_rule import ANY, Place, Rule

FILES = (*PACKAGES, "tests/", "benchmarks/")

NO_NAME = re.compile(r"(?<![^_])(told|seen|asked|said|roads?|kin|so_many)(?![^_])")
"""Participles that do not say what was told, seen or asked, a number that is not said, and words for which the glossary
of docs/how-it-works.md has another. A class whose format has such a key renames its field."""

NO_WORDS = re.compile(r"so-manieth|who(so)?ever|\ball the same\b|\bso many\b(?!.* that\b)|\b(?<!cross)roads?\b")

OLD_COLUMN = (ANY, "the index of a campaign has a column `road`, and migrations are never changed")


def descriptions(file: SourceFile) -> Iterator[Place]:
    """The docstrings, and the strings that describe the assignment before them, that begin with "Of"."""
    for node in file.nodes:
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))) if text.strip().startswith("Of "):
                yield Place(node.lineno, text.strip()[:60])


def given_names(file: SourceFile) -> Iterator[Place]:
    """The names that a file gives to variables, parameters, attributes, functions, classes and imports."""
    for node in file.nodes:
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
                yield Place(node.lineno, name)


def words(text: str) -> Iterator[Place]:
    """The lines with a word for which there is another."""
    for line, each in enumerate(text.splitlines(), 1):
        if NO_WORDS.search(each):
            yield Place(line, each.strip()[:80])


RULES = (
    Rule(
        says='no docstring begins with "Of"',
        files=FILES,
        places=descriptions,
        example='"""Of a file."""',
    ),
    Rule(
        says="a name says what a thing is",
        files=FILES,
        places=lambda file: (place for place in given_names(file) if NO_NAME.search(place.text)),
        example="was_told = 1",
    ),
    Rule(
        says="each thing has one word",
        files=FILES,
        without=("tests/source_rules/rules_of_words.py",),
        places=lambda file: words(file.text),
        exceptions={
            "benchmarks/hostile/stores.py": OLD_COLUMN,
            "fuzzer/campaign/store/index.py": OLD_COLUMN,
            "fuzzer/campaign/store/schema.py": OLD_COLUMN,
        },
        example="# the ro" + "ad of a case",
    ),
)
