"""How another process gets a Python object of the user: as source that imports it, or with dill.

Only the source that difftvm writes for the user's own process has such a text. Nothing is read from a finding.
"""

from __future__ import annotations

import ast
import base64
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from functools import reduce
from importlib.machinery import PathFinder, SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

from generators import syntax_tree

DEFINE = "define the pass at the top of a module, or register it in a file for --preload"
MAIN, OWN_MODULE = "__main__", "__own_pass__"


def expression(obj: object) -> str:
    """A Python expression for an object, in a scope that has this module as `user_objects`. Raise `ValueError` where
    another process cannot get it."""
    module, name = place_of(obj)
    if module is not None and module.__name__ != MAIN and _is_importable(module.__name__):
        return f"user_objects.from_module({module.__name__!r}, {name!r})"
    file = Path(getattr(module, "__file__", None) or "")
    if file.is_file() and name.partition(".")[0] in _bound_in(file):
        return f"user_objects.from_file({str(file.resolve())!r}, {name!r})"
    return f"user_objects.from_text({_text(obj)!r})"


def place_of(obj: object) -> tuple[ModuleType | None, str]:
    """The module that has an object, and its name there; (None, "") where no module has it."""
    module, name = sys.modules.get(getattr(obj, "__module__", None) or ""), getattr(obj, "__qualname__", "")
    if module is not None and name and _attribute(module, name) is obj:
        return module, name
    for each in list(sys.modules.values()):  # an object without a name of its own, such as a pass of TVM
        for name, value in list(vars(each).items()) if inspect.ismodule(each) else ():
            if value is obj:
                return each, name
    return None, ""


def _attribute(module: object, name: str) -> object:
    """The attribute `A.b` of a module; None where there is none, as for a function inside another one."""
    return reduce(lambda obj, part: getattr(obj, part, None), name.split("."), module)


def _bound_in(file: Path) -> set[str]:
    """The names that a file binds whenever it is executed: not those below `if __name__ == "__main__":`."""
    names: set[str] = set()
    for statement in syntax_tree.parse(file.read_bytes()).body:
        match statement:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Assign() | ast.AnnAssign():
                names |= {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    return names


def _is_importable(name: str) -> bool:
    return PathFinder.find_spec(name.partition(".")[0], sys.path) is not None


def _text(obj: object) -> str:
    import dill

    if any(map(_is_pass_of_tvm, (obj, *_used_by(obj)))):
        raise ValueError(f"{obj!r}: a pass object of TVM cannot be given to another process: {DEFINE}")
    try:
        return base64.b64encode(dill.dumps(obj, recurse=True)).decode()
    except Exception as error:  # any object may raise anything here
        raise ValueError(
            f"{obj!r} cannot be given to another process ({type(error).__name__}: {error}): {DEFINE}"
        ) from error


def _is_pass_of_tvm(obj: object) -> bool:
    """Whether an object is a pass of TVM: dill would give a pass that cannot run."""
    return any(each.__module__ == "tvm.ir.transform" and each.__name__ == "Pass" for each in type(obj).__mro__)


def _used_by(obj: object) -> Iterator[object]:
    """The variables of a function's surroundings that it uses."""
    if inspect.isfunction(obj):
        used = inspect.getclosurevars(obj)
        yield from (*used.nonlocals.values(), *used.globals.values())


# --- in the other process


def from_module(module: str, name: str) -> Any:
    return pkgutil.resolve_name(f"{module}:{name}")


def from_file(path: str, name: str) -> Any:
    """Execute a file, not as `__main__`, and return an object of it."""
    loader = SourceFileLoader(OWN_MODULE, path)
    spec = spec_from_loader(OWN_MODULE, loader)
    assert spec is not None
    module = sys.modules[OWN_MODULE] = module_from_spec(spec)
    loader.exec_module(module)
    return attrgetter(name)(module)


def from_text(text: str) -> Any:
    import dill

    return dill.loads(base64.b64decode(text))
