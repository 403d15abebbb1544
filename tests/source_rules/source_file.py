"""The project's own Python files, as rules about sources read them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("fuzzer/", "generators/", "oracles/")
FOLDERS = (*PACKAGES, "difftvm/", "tests/", "benchmarks/")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class SourceFile:
    """A Python file. It is parsed once, when a rule first needs its tree.

    name  its path in the checkout, such as fuzzer/cli.py
    """

    name: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.name)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the tree, in the order of `ast.walk`."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def calls(self) -> tuple[tuple[str, ast.Call], ...]:
        """All calls, each with the text of what is called."""
        return tuple((ast.unparse(node.func), node) for node in self.nodes if isinstance(node, ast.Call))

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        return tuple(node for node in self.nodes if isinstance(node, Function))

    @cached_property
    def imports(self) -> frozenset[str]:
        """The full names of what the file imports anywhere, but for those that only the type checker reads."""
        for_types = {
            id(part)
            for node in self.nodes
            if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
            for statement in node.body
            for part in ast.walk(statement)
        }
        return frozenset(self._names(node for node in self.nodes if id(node) not in for_types))

    @cached_property
    def imports_with_types(self) -> frozenset[str]:
        return frozenset(self._names(self.nodes))

    @property
    def tops(self) -> frozenset[str]:
        """The names of the packages of `imports`."""
        return frozenset(name.partition(".")[0] for name in self.imports)

    def _names(self, nodes: Iterator[ast.AST] | tuple[ast.AST, ...]) -> Iterator[str]:
        for node in nodes:
            match node:
                case ast.Import(names=names):
                    yield from (alias.name for alias in names)
                case ast.ImportFrom(module=module, names=names):
                    yield from (f"{module or ''}.{alias.name}" for alias in names)
                case ast.Call(func=function, args=[first, *_]) if ast.unparse(function) in IMPORTING:
                    yield first.value if isinstance(first, ast.Constant) else "?"


IMPORTING = ("importlib.import_module", "__import__")


def source_file(name: str) -> SourceFile:
    return SourceFile(name, (ROOT / name).read_text())


def names_of_files(*folders: str) -> list[str]:
    return [path.relative_to(ROOT).as_posix() for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
