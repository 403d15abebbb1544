"""Syntax trees of Python programs.

CPython before 3.11.8 and 3.12.2 counts the depth of all trees that a process makes in one number. Where two threads
parse at the same time, one of them may end with "SystemError: AST constructor recursion depth mismatch" (CPython's
issue 106905). Here one thread parses after the other.
"""

from __future__ import annotations

import ast
import threading

_LOCK = threading.Lock()


def parse(source: str | bytes, name: str = "<unknown>") -> ast.Module:
    """The tree of a program. `name` is the file that errors name. Raise as `ast.parse` does."""
    with _LOCK:
        return ast.parse(source, name)


def parse_expression(source: str) -> ast.Expression:
    """The tree of an expression. Raise as `ast.parse` does."""
    with _LOCK:
        return ast.parse(source, mode="eval")
