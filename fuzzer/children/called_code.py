"""Which functions a function of TVM calls, as far as Python shows it without a run, and a fingerprint of each.

The bytecode says which globals, modules, closures and methods of its own class a function uses. What it calls through
an object, such as a block builder, is not known, and neither is what is in C++.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import inspect
import sys
import types
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

_NONE = object()
_OWN = ("self", "cls")
_SILENT = frozenset(("CACHE", "PRECALL", "PUSH_NULL", "EXTENDED_ARG", "NOP", "COPY_FREE_VARS"))
_PLAIN = (bool, int, float, str, bytes, type(None))
FFI = "_ffi_api"
"""The last word of the modules whose attributes are functions in C++."""

MOST_DATA = 4000
"""The longest text of a global value that is read: a table of a module. Larger ones do not count."""

Callee = tuple[types.FunctionType, "type | None"]
"""A function, and the class whose methods it calls as its own."""


@dataclass(slots=True)
class Read:
    """What one function has.

    key        its place and the digest of its code, its defaults and its closure: equal where nothing differs
    callees    the functions that it calls
    ffi        the functions in C++ that it calls: `tvm.relax.op.nn._ffi_api.softmax`
    constants  the numbers in its code
    """

    key: str
    callees: list[Callee] = field(default_factory=list)
    ffi: list[str] = field(default_factory=list)
    constants: list[int | float] = field(default_factory=list)


class CodeReader:
    """Reads functions, each once. `is_ours` says of the name of a module whether its functions are read; `place_of`
    gives the path by which a file is known. Functions with a name of `tables` are not followed: what they list is read
    one by one."""

    def __init__(self, is_ours: Callable[[str], bool], place_of: Callable[[str], str], tables: Collection[str]) -> None:
        self._is_ours, self._place_of, self._tables = is_ours, place_of, tables
        self._known: dict[tuple[int, int], Read] = {}
        self._alive: list[object] = []  # an id is that of one object only while it is alive

    def closure(self, roots: Iterable[Callee]) -> list[Read]:
        """What the roots are and call, directly and indirectly, each once."""
        waiting, found = list(roots), dict[int, Read]()
        while waiting:
            read = self.read(waiting.pop())
            if id(read) not in found:
                found[id(read)] = read
                waiting += read.callees
        return list(found.values())

    def read(self, callee: Callee) -> Read:
        function, owner = callee
        key = (id(function), id(owner))
        if key not in self._known:
            self._alive += callee
            self._known[key] = self._read(function, owner)
        return self._known[key]

    def functions_of(self, value: object, owner: type | None = None) -> Iterator[Callee]:
        """The functions of TVM that stand behind a value: wrapped ones, methods of a class of the same file."""
        match value:
            case functools.partial():
                for part in (value.func, *value.args, *value.keywords.values()):
                    yield from self.functions_of(part, owner)
            case types.MethodType():
                receiver = value.__self__
                yield from self.functions_of(value.__func__, receiver if isinstance(receiver, type) else type(receiver))
            case staticmethod() | classmethod():
                yield from self.functions_of(value.__func__, owner)
            case property() if value.fget is not None:
                yield from self.functions_of(value.fget, owner)
            case types.FunctionType() if self._is_ours(value.__module__ or "") and value.__name__ not in self._tables:
                yield value, owner
            case type() if self._is_ours(value.__module__):
                for each in vars(value).values():
                    if not isinstance(each, type):
                        yield from self.functions_of(each, value)

    def _read(self, function: types.FunctionType, owner: type | None) -> Read:
        data: list[str] = [repr(function.__defaults__)] if _is_plain(function.__defaults__) else []
        read = Read("")
        for value in _references(function, owner):
            if isinstance(value, _Ffi):
                read.ffi.append(value.name)
            elif isinstance(value, type) and value.__module__ != function.__module__:
                data.append(value.__qualname__)  # a class of another file: its methods are called through objects
            elif _is_data(value):
                text = repr(value)
                data += [text] if len(text) <= MOST_DATA else []
            else:
                found = list(self.functions_of(value, owner if _is_method_of(value, owner) else None))
                read.callees += found
                data += [getattr(value, "__qualname__", "")] if not found and callable(value) else []
        read.constants = sorted(set(_numbers(function.__code__)))
        text = "\n".join((_digest(function.__code__), *data))
        name = f"{self._place_of(function.__code__.co_filename)} {qualified(function)}"
        read.key = f"{name}#{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"
        return read


def qualified(function: types.FunctionType) -> str:
    """The name of a function as `fuzzer.toolchains.reached` notes it."""
    return function.__qualname__.replace("<locals>.", "")


@dataclass(frozen=True, slots=True)
class _Ffi:
    name: str


def _is_method_of(value: object, owner: type | None) -> bool:
    function = getattr(value, "__func__", value)
    name = getattr(function, "__name__", None)
    return owner is not None and name is not None and inspect.getattr_static(owner, name, None) in (value, function)


def _is_plain(value: object) -> bool:
    return isinstance(value, _PLAIN) or (isinstance(value, tuple) and all(map(_is_plain, value)))


def _is_data(value: object) -> bool:
    if isinstance(value, dict):
        return all(_is_plain(key) and _is_data(each) for key, each in value.items())
    return _is_plain(value) or (isinstance(value, list | set | frozenset | tuple) and all(map(_is_data, value)))


def _references(function: types.FunctionType, owner: type | None) -> Iterator[Any]:
    """The values that the code of a function names: globals, attributes of modules and classes, its closure, methods of
    its own class. Functions defined in it count as it."""
    cells = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            cells[name] = cell.cell_contents
        except ValueError:  # it is empty
            continue
    yield from cells.values()
    if wrapped := getattr(function, "__wrapped__", None):
        yield wrapped
    for code in _codes(function.__code__):
        yield from _named(code, function.__globals__, cells, owner)


def _named(code: types.CodeType, names: dict[str, Any], cells: dict[str, Any], owner: type | None) -> Iterator[Any]:
    stored: dict[str, Any] = {}
    value: Any = _NONE
    for operation, name in _steps(code):
        match operation:
            case "LOAD_GLOBAL" | "LOAD_NAME":
                yield from _known(value)
                value = names.get(name, _NONE)
            case "LOAD_DEREF" | "LOAD_CLOSURE" | "LOAD_CLASSDEREF":
                yield from _known(value)
                value = owner if name in _OWN and owner else cells.get(name, _NONE)
            case "IMPORT_NAME":
                yield from _known(value)
                value = _module(name, names)
            case "LOAD_ATTR" | "LOAD_METHOD" | "IMPORT_FROM" | "LOAD_SUPER_ATTR":
                value = _attribute(value, str(name))
            case _ if operation.startswith("STORE_FAST") and isinstance(name, str):
                stored[name] = value
                yield from _known(value)
                value = _NONE
            case _ if operation.startswith("LOAD_FAST") and isinstance(name, str):
                yield from _known(value)
                value = owner if name in _OWN and owner else stored.get(name, _NONE)
            case _:
                yield from _known(value)
                value = _NONE


@functools.cache
def _steps(code: types.CodeType) -> list[tuple[str, Any]]:
    """The instructions with their arguments, without those that change no value. They are kept: a preloaded file
    changes few functions, and the second table reads all others again."""
    return [(step.opname, step.argval) for step in dis.get_instructions(code) if step.opname not in _SILENT]


def _known(value: Any) -> Iterator[Any]:
    if value is not _NONE and not isinstance(value, types.ModuleType):
        yield value


def _module(name: str, names: dict[str, Any]) -> Any:
    package = str(names.get("__package__") or "")
    found = sys.modules.get(name) or sys.modules.get(f"{package}.{name}".strip("."))
    return found or sys.modules.get(package, _NONE)


def _attribute(value: Any, name: str) -> Any:
    if isinstance(value, types.ModuleType):
        if value.__name__.rpartition(".")[2] == FFI:
            return _Ffi(f"{value.__name__}.{name}")
        return vars(value).get(name, _NONE)
    if isinstance(value, type):
        return inspect.getattr_static(value, name, _NONE)
    return _NONE


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            yield from _codes(value)


def _numbers(code: types.CodeType) -> Iterator[int | float]:
    for each in _codes(code):
        for value in each.co_consts:
            parts = value if isinstance(value, tuple | frozenset) else (value,)
            yield from (part for part in parts if isinstance(part, int | float) and not isinstance(part, bool))


def _digest(code: types.CodeType) -> str:
    """A digest of what the code does: not of its lines, its file, and its docstring."""
    documented = not code.co_name.startswith("<")  # the first constant is the docstring, or None
    constants = code.co_consts[1:] if documented else code.co_consts
    texts = [_digest(each) if isinstance(each, types.CodeType) else repr(each) for each in constants]
    whole = (code.co_code.hex(), *code.co_names, *code.co_varnames, *texts)
    return hashlib.blake2b("\n".join(whole).encode(), digest_size=8).hexdigest()
