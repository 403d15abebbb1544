"""Which functions of changed code a lane calls.

The code of such a file is compiled with one more call at the beginning of each function, which notes the name of the
function, and with one for each way that a condition can end: `mine.py relu if rank == 3`, and the same with `not`. Of
conditions that are joined by `and`, each is noted as far as it is true. A call costs less than a microsecond, and it
works in all releases of Python. A file that is preloaded is compiled so, and so are the files of the document that
`FUNCTIONS` names, when they are imported.
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
"""An environment variable of a toolchain: the path of a JSON document. Its `functions` has, for each file by its path
relative to the folder of TVM, the qualified names of functions; `conditions` says whether their conditions are noted.
Where the variable is set, the passes that run are noted too."""

PASS = "pass"

MOST = 1000
"""The largest number of functions that are noted of a lane."""

LONGEST = 80
"""The most characters of a condition."""

_NOTE = "__difftvm_note__"
_called: dict[str, None] = {}


def clear() -> None:
    _called.clear()


def called() -> tuple[str, ...]:
    """What was called since `clear`: functions, such as `relax/frontend/torch/fx_translator.py from_fx`, conditions of
    them, and passes, such as `pass FuseOps`."""
    return tuple(list(_called)[:MOST])


def _note(name: str) -> bool:
    """Return True, so that a note can be an operand of `and`."""
    _called[name] = None
    return True


def note_pass(name: str) -> None:
    """Note that a pass ran, where a toolchain asks for it. Its name counts without the name of its IR."""
    if FUNCTIONS in os.environ:
        _note(f"{PASS} {name.rpartition('.')[2]}")


def compiled(
    source: bytes, path: str, name: str, functions: frozenset[str] | None = None, conditions: bool = True
) -> CodeType:
    """Compile a file so that calls of its functions are noted, all or those with these qualified names, and their
    conditions. `name` is what is noted of the file. Raise as `compile` does."""
    setattr(builtins, _NOTE, _note)
    tree = ast.parse(source, path)
    for qualified, function in functions_of(tree):
        if functions is None or qualified in functions:
            if conditions:
                _Conditions(f"{name} {qualified}").visit_body(function)
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


def conditions_of(source: bytes, name: str, functions: frozenset[str] | None = None) -> list[str]:
    """What `compiled` notes of the conditions of a file. Raise `SyntaxError` where it is no Python."""
    found: list[str] = []
    for qualified, function in functions_of(ast.parse(source)):
        if functions is None or qualified in functions:
            noting = _Conditions(f"{name} {qualified}")
            noting.visit_body(function)
            found += noting.names
    return list(dict.fromkeys(found))


class _Conditions(ast.NodeTransformer):
    """Adds notes to the two ways of each condition of a function. Functions that are defined in it have their own."""

    def __init__(self, function: str) -> None:
        self._function = function
        self.names: list[str] = []

    def visit_body(self, function: Function) -> None:
        if isinstance(function, ast.Lambda):
            function.body = self.visit(function.body)
        else:
            function.body = [self.visit(statement) for statement in function.body]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        met, otherwise = self._notes(node.test)
        self.generic_visit(node)
        node.test = self._noted(node.test)
        node.body.insert(0, ast.copy_location(ast.Expr(met), node))
        node.orelse.insert(0, ast.copy_location(ast.Expr(otherwise), node))
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        met, otherwise = self._notes(node.test)
        self.generic_visit(node)
        node.body, node.orelse = _after(met, node.body), _after(otherwise, node.orelse)
        return node

    def _notes(self, test: ast.expr) -> tuple[ast.Call, ast.Call]:
        text = ast.unparse(test)
        return self._note(text), self._note(f"not ({text})" if isinstance(test, ast.BoolOp) else f"not {text}")

    def _note(self, condition: str) -> ast.Call:
        name = f"{self._function} if {' '.join(condition.split())[:LONGEST]}"
        self.names.append(name)
        return _call(name)

    def _noted(self, test: ast.expr) -> ast.expr:
        """The condition with a note after each operand of `and` but the last."""
        if not (isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)):
            return test
        texts = [ast.unparse(value) for value in test.values]
        notes = [self._note(" and ".join(texts[:count])) for count in range(1, len(texts))]
        pairs = [part for value, note in zip(test.values, notes, strict=False) for part in (value, note)]
        return ast.copy_location(ast.BoolOp(test.op, [*pairs, test.values[-1]]), test)


def _call(name: str) -> ast.Call:
    return ast.Call(ast.Name(_NOTE, ast.Load()), [ast.Constant(name)], [])


def _after(note: ast.Call, value: ast.expr) -> ast.expr:
    """The value, after a note, which is true."""
    return ast.copy_location(ast.BoolOp(ast.And(), [note, value]), value)


def _add_a_note(function: Function, name: str) -> None:
    note = _call(name)
    if isinstance(function, ast.Lambda):
        function.body = _after(note, function.body)
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
        document: dict[str, Any] = json.load(file)
    sys.meta_path.insert(0, _Finder(document["functions"], document["conditions"]))


class _Finder(MetaPathFinder):
    def __init__(self, functions: Mapping[str, Sequence[str]], conditions: bool) -> None:
        self._functions, self._conditions = functions, conditions

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
            spec.loader = _Loading(fullname, spec.loader.path, place, frozenset(names), self._conditions)
        return spec


def relative(module: str, is_package: bool) -> str:
    """The path of a module of TVM relative to TVM's folder: `relax/transform/__init__.py` for `tvm.relax.transform`."""
    parts = module.split(".")[1:]
    return "/".join([*parts, "__init__.py"] if is_package else [*parts[:-1], f"{parts[-1]}.py"])


class _Loading(SourceFileLoader):
    """Compiles a file with notes, and neither reads nor writes its bytecode."""

    def __init__(self, fullname: str, path: str, place: str, functions: frozenset[str], conditions: bool) -> None:
        super().__init__(fullname, path)
        self._place, self._functions, self._conditions = place, functions, conditions

    def path_stats(self, path: str) -> Mapping[str, Any]:
        raise OSError("the bytecode of this file has no notes")

    def source_to_code(self, data: Any, path: Any, **_: Any) -> CodeType:  # type: ignore[override]
        return compiled(bytes(data), str(path), self._place, self._functions, self._conditions)
