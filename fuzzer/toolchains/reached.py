"""Which functions of changed code a lane calls.

The code of such a file is compiled with one more call at the beginning of each function, which notes the name of the
function. That costs less than a microsecond for each call, and works in all releases of Python. A file that is
preloaded is compiled so, and so are the files of the document that `FUNCTIONS` names, when they are imported.
"""

from __future__ import annotations

import ast
import builtins
import json
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

FUNCTIONS = "DIFFTVM_FUNCTIONS"
"""An environment variable of a toolchain: the path of a JSON document. It has, for each file by its path relative to
the folder of TVM, the qualified names of functions. Where it is set, the passes that run are noted too."""

PASS = "pass"

MOST = 400
"""The largest number of functions that are noted of a lane."""

_NOTE = "__difftvm_note__"
_called: dict[str, None] = {}


def clear() -> None:
    _called.clear()


def called() -> tuple[str, ...]:
    """What was called since `clear`: functions, such as `relax/frontend/torch/fx_translator.py from_fx`, and passes,
    such as `pass FuseOps`."""
    return tuple(list(_called)[:MOST])


def _note(name: str) -> None:
    _called[name] = None


def note_pass(name: str) -> None:
    """Note that a pass ran, where a toolchain asks for it. Its name counts without the name of its IR."""
    if FUNCTIONS in os.environ:
        _note(f"{PASS} {name.rpartition('.')[2]}")


def compiled(source: bytes, path: str, name: str, functions: frozenset[str] | None = None) -> CodeType:
    """Compile a file so that calls of its functions are noted, all or those with these qualified names. `name` is what
    is noted of the file. Raise as `compile` does."""
    setattr(builtins, _NOTE, _note)
    tree = ast.parse(source, path)
    for qualified, function in functions_of(tree):
        if functions is None or qualified in functions:
            _add_a_note(function, f"{name} {qualified}")
    return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def functions_of(tree: ast.AST, prefix: str = "") -> list[tuple[str, Function]]:
    """All functions below a node with their qualified names: `Importer._relu`, `make.inner`, `make.<lambda>`."""
    found: list[tuple[str, Function]] = []
    for child in ast.iter_child_nodes(tree):
        match child:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                name = f"{prefix}{getattr(child, 'name', '<lambda>')}"
                found += [(name, child), *functions_of(child, f"{name}.")]
            case ast.ClassDef():
                found += functions_of(child, f"{prefix}{child.name}.")
            case _:
                found += functions_of(child, prefix)
    return found


def _add_a_note(function: Function, name: str) -> None:
    note = ast.Call(ast.Name(_NOTE, ast.Load()), [ast.Constant(name)], [])
    if isinstance(function, ast.Lambda):
        both = ast.Tuple([note, function.body], ast.Load())
        function.body = ast.copy_location(ast.Subscript(both, ast.Constant(1), ast.Load()), function.body)
        return
    has_docstring = ast.get_docstring(function, clean=False) is not None
    after = function.body[0]
    function.body.insert(int(has_docstring), ast.copy_location(ast.Expr(note), after))


# --- files of TVM


def note_functions_of_tvm() -> None:
    """From now on, import the files of the document that the environment names so that calls of these functions are
    noted. Does nothing where it names none. Call it before TVM is imported."""
    if not (path := os.environ.get(FUNCTIONS)):
        return
    with open(path, "rb") as file:
        document: dict[str, list[str]] = json.load(file)
    sys.meta_path.insert(0, _Finder(document))


class _Finder(MetaPathFinder):
    def __init__(self, functions: Mapping[str, Sequence[str]]) -> None:
        self._functions = functions

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != "tvm":
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or not isinstance(spec.loader, SourceFileLoader):
            return spec
        place = relative(fullname, is_package=bool(spec.submodule_search_locations))
        if names := self._functions.get(place):
            spec.loader = _Loading(fullname, spec.loader.path, place, frozenset(names))
        return spec


def relative(module: str, is_package: bool) -> str:
    """The path of a module of TVM relative to TVM's folder: `relax/transform/__init__.py` for `tvm.relax.transform`."""
    parts = module.split(".")[1:]
    return "/".join([*parts, "__init__.py"] if is_package else [*parts[:-1], f"{parts[-1]}.py"])


class _Loading(SourceFileLoader):
    """Compiles a file with notes, and neither reads nor writes its bytecode."""

    def __init__(self, fullname: str, path: str, place: str, functions: frozenset[str]) -> None:
        super().__init__(fullname, path)
        self._place, self._functions = place, functions

    def path_stats(self, path: str) -> Mapping[str, Any]:
        raise OSError("the bytecode of this file has no notes")

    def source_to_code(self, data: Any, path: Any, **_: Any) -> CodeType:  # type: ignore[override]
        return compiled(bytes(data), str(path), self._place, self._functions)
