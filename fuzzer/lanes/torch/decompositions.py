"""Make torch.export decompose faster with the same result, by caching what it computes anew each time.

Where another release of torch has other internals, nothing is cached, and the result is the same.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

Replacement = tuple[Any, str, Any]
"""A module of torch, the name of an attribute, and the value that caches."""


_installed = ExitStack()
"""Puts torch's own attributes back."""


def remember_decompositions() -> None:
    """Install the three caches in this process.

    All that is changed in torch are the attributes that the three functions below name.

    Measured CPU ms of one decomposition: from 129 to 82 with cached operators, from 219 to 81 with cached annotations
    (on another day), from 112 to 45 with cached overrides."""
    for owner, name, cached in (*_aliases(), *_operators(), *_overrides()):
        _installed.callback(setattr, owner, name, getattr(owner, name))
        setattr(owner, name, cached)


def forget_decompositions() -> None:
    """Put torch's own attributes back."""
    _installed.close()


def _operators() -> Iterator[Replacement]:
    """Cache the set of operators that need not be decomposed. torch collects it at each decomposition."""
    utils = importlib.import_module("torch._export.utils")
    for name in ("_collect_all_valid_cia_ops", "_collect_all_valid_cia_ops_for_aten_namespace"):
        collect = getattr(utils, name, None)
        if collect is None:
            continue
        cached = _copied(collect)
        for module in ("torch._export.utils", "torch.export.decomp_utils", "torch.export.exported_program"):
            loaded = importlib.import_module(module)
            if getattr(loaded, name, None) is collect:
                yield loaded, name, cached


def _copied(collect: Callable[[], set[Any]]) -> Callable[[], set[Any]]:
    once = functools.cache(collect)
    return lambda: set(once())


def _aliases() -> Iterator[Replacement]:
    """Cache the annotation `Callable[_P, _T]`, which torch makes anew at each of ten thousand registrations."""
    ops: Any = importlib.import_module("torch._ops")
    yield ops, "Callable", _Remembered(ops.Callable)


class _Remembered:
    """A generic type that caches its aliases."""

    def __init__(self, generic: Any) -> None:
        self._generic = generic
        self._alias = functools.cache(lambda *parameters: generic[parameters])

    def __getitem__(self, parameters: tuple[Any, ...]) -> Any:
        try:
            return self._alias(*parameters)
        except TypeError:  # a list is not hashable
            return self._generic[parameters]

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, self._generic)


Overrides = Mapping[Any, Callable[..., Any]]
"""From an operator to its decomposition."""


@dataclass(frozen=True, slots=True)
class _Tables:
    """The operators' kernels and rules for fake tensors, outside of an override and during it.

    Only some operators have a rule."""

    kernels: dict[Any, dict[Any, Any]]
    kernels_during: dict[Any, dict[Any, Any]]
    rules: dict[Any, Any]
    rules_during: dict[Any, Any]


def _overrides() -> Iterator[Replacement]:
    """Cache the overrides of operators. While a program is decomposed, 525 operators get some twenty kernels each.

    The first override is done by torch. Later ones put the tables that it made into place."""
    exported_program: Any = importlib.import_module("torch.export.exported_program")
    fake: Any = importlib.import_module("torch._subclasses.fake_impls")
    name = "_override_composite_implicit_decomp"
    original = getattr(exported_program, name, None)
    rules = getattr(fake, "op_implementations_dict", None)
    if original is not None and rules is not None:
        yield exported_program, name, overriding(original, rules)


def overriding(
    original: Callable[[Overrides], AbstractContextManager[None]], rules: dict[Any, Any]
) -> Callable[[Overrides], AbstractContextManager[None]]:
    """Return `original` with a cache for each set of overrides.

    `original` is called again where the operators' own kernels have changed. It removes the rules of three operators
    for good (torch 2.13). This puts them back, so that every decomposition is like the first one of a process."""
    known: dict[tuple[Any, ...], _Tables] = {}

    @contextmanager
    def override(overrides: Overrides) -> Iterator[None]:
        key = tuple((op, _identity(function)) for op, function in overrides.items())
        tables = known.get(key)
        if tables is None or any(op.py_kernels != kernels for op, kernels in tables.kernels.items()):
            kernels, own_rules = _kernels(overrides), _rules(overrides, rules)
            try:
                with original(overrides):
                    known[key] = _Tables(kernels, _kernels(overrides), own_rules, _rules(overrides, rules))
                    yield
            finally:
                rules.update(own_rules)
            return
        _put(tables.kernels_during)
        rules.update(tables.rules_during)
        try:
            yield
        finally:
            _put(tables.kernels)
            for op in tables.rules_during:
                rules.pop(op, None)
            rules.update(tables.rules)

    return override


def _kernels(overrides: Overrides) -> dict[Any, dict[Any, Any]]:
    return {op: op.py_kernels.copy() for op in overrides}


def _rules(overrides: Overrides, rules: Mapping[Any, Any]) -> dict[Any, Any]:
    return {op: rules[op] for op in overrides if op in rules}


def _put(tables: Mapping[Any, dict[Any, Any]]) -> None:
    for op, kernels in tables.items():
        op.py_kernels.clear()
        op.py_kernels.update(kernels)
        op._dispatch_cache.clear()


def _identity(function: Any) -> object:
    """Return a key that is equal for equal overrides: torch makes a new partial of the same function each time."""
    if isinstance(function, functools.partial) and not function.args:
        return function.func.__qualname__, tuple(function.keywords.items())
    return function
