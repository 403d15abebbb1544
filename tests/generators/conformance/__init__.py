"""One suite for the rows of all dialects.

Each family of rows has a module here, with tables of calls. test_calls.py reads all tables of a name:

    REFUSED     refused by the row; in the dialect of PyTorch, by PyTorch as well
    STRICTER    refused by the row, and accepted by PyTorch
    NOT_ASKED   refused by the row; PyTorch is not asked
    RESULTS     accepted, with the types of the results; in the dialect of PyTorch, by PyTorch as well, in every form

A module may also say which exceptions PyTorch raises for its refused calls (`RAISED`), and of which number the operands
that PyTorch gets are full (`NUMBER`).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from generators.graph import Attrs

Table = Sequence[tuple[str, str, Attrs, str]]
"""The row, the types of the operands, the attributes that are not the row's defaults, and what is expected: a part of
the message, or the types of the results."""


def families(dialect: str) -> list[ModuleType]:
    package = import_module(f"conformance.{dialect}")
    return [import_module(f"{package.__name__}.{module.name}") for module in iter_modules(package.__path__)]
