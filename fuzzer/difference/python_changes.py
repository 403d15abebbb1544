"""Which Python code of TVM differs between two installations: functions, and what runs when a module is imported."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from fuzzer.system.environment import EnvironmentMissing
from fuzzer.toolchains.reached import functions_of
from fuzzer.toolchains.toolchain import Toolchain, own_environment
from generators import syntax_tree

_SECONDS = 60
_WHERE = "import importlib.util; print(importlib.util.find_spec('tvm').submodule_search_locations[0])"

Functions = dict[str, list[str]]
"""Qualified names of functions, by the path of their file relative to the folder of TVM."""


def tvm_folder(toolchain: Toolchain) -> Path:
    """The folder of the package `tvm` of a toolchain. Raise `EnvironmentMissing` where it has none."""
    if toolchain.is_host and not toolchain.environment:
        spec = importlib.util.find_spec("tvm")
        places = list(spec.submodule_search_locations or ()) if spec else []
    else:
        command = [toolchain.python, "-P", "-c", _WHERE]
        environment = own_environment(toolchain, {})
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_SECONDS)
        places = done.stdout.split("\n")[:1] if done.returncode == 0 else []
    if not places:
        raise EnvironmentMissing(f"toolchain {toolchain.name!r} has no package tvm")
    return Path(places[0])


def changed_functions(base: Path, patched: Path) -> Functions:
    """The functions below the folder `patched` that the folder `base` does not have in the same form. Comments,
    docstrings and the lines where functions begin do not count."""
    found: Functions = {}
    for place, before, text in _changed_files(base, patched):
        if names := _differing(_forms(before), _forms(text)):
            found[place] = names
    return found


def changed_modules(base: Path, patched: Path) -> list[str]:
    """The files below the folder `patched` whose code outside of functions the folder `base` does not have in the same
    form. Imports, docstrings and names such as `__version__` do not count."""
    return [
        place
        for place, before, text in _changed_files(base, patched)
        if _outside_functions(before) != _outside_functions(text)
    ]


def _changed_files(base: Path, patched: Path) -> Iterator[tuple[str, bytes, bytes]]:
    """Each Python file below `patched` that is another one below `base`: its path, and both texts."""
    for path in sorted(patched.rglob("*.py")):
        place = path.relative_to(patched).as_posix()
        other = base / place
        text, before = path.read_bytes(), other.read_bytes() if other.is_file() else b""
        if text != before:
            yield place, before, text


def functions_in(path: Path) -> list[str]:
    """The qualified names of all functions of a file. Raise `SyntaxError` where it is no Python."""
    return list(dict.fromkeys(name for name, _ in functions_of(syntax_tree.parse(path.read_bytes()))))


def differing_libraries(base: Path, patched: Path) -> list[str]:
    """The names of shared libraries below the folder `patched` whose bytes differ from those below `base`."""
    libraries = (path for path in sorted(patched.rglob("*.so*")) if path.is_file())
    return [path.name for path in libraries if _digest(path) != _digest(base / path.relative_to(patched))]


def _digest(path: Path) -> str:
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()


def _differing(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return [name for name, form in now.items() if before.get(name) != form]


def _parsed(source: bytes) -> ast.Module:
    """The tree of a file, an empty one where it is no Python."""
    try:
        return syntax_tree.parse(source)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _outside_functions(source: bytes) -> str:
    return ast.dump(_WithoutFunctions().visit(_parsed(source)))


def _forms(source: bytes) -> dict[str, str]:
    """The form of each function, without that of the functions in it. Nothing of a file that is no Python."""
    functions = functions_of(_parsed(source))
    forms: dict[str, str] = {}
    for name, function in reversed(functions):  # inner functions first
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            own = "".join(_dumped(function))
            forms[name] = forms.get(name, "") + own  # overloads and branches may have the same name
        else:
            forms[name] = forms.get(name, "") + ast.dump(function)
    return dict(reversed(forms.items()))


def _dumped(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    has_docstring = ast.get_docstring(function, clean=False) is not None
    yield ast.dump(function.args)
    yield from map(ast.dump, function.decorator_list)
    for statement in function.body[int(has_docstring) :]:
        yield ast.dump(_WithoutInner().visit(statement))


class _WithoutInner(ast.NodeTransformer):
    """Replaces inner functions by their names. Their forms are compared on their own."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return ast.Expr(ast.Constant(node.name))

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]  # noqa: N815


class _WithoutFunctions(ast.NodeTransformer):
    """Removes functions, imports and docstrings, also those of classes, and assignments to names such as
    `__version__`. Lambdas are replaced by one constant: their forms are compared on their own."""

    def visit_FunctionDef(self, node: ast.AST) -> None:
        return None

    visit_AsyncFunctionDef = visit_Import = visit_ImportFrom = visit_FunctionDef  # noqa: N815

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return ast.Constant("lambda")

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        special = [name for name in names if name.startswith("__") and name.endswith("__")]
        return None if special == names != [] else self.generic_visit(node)
