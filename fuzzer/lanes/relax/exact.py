"""Which kernels compute without rounding on whole numbers: then no schedule may change a bit of their results.

A sum of products of whole numbers is exact in any order while it is smaller than 2 to the power of the digits of its
dtype. Such results are compared bit for bit: a schedule that leaves one of 100,000 terms out is found.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from generators import syntax_tree
from generators.graph import Array

DIGITS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}
"""The bits of a number, by dtype (IEEE 754-2019, table 3.5; bfloat16 has 8)."""

_DTYPE = re.compile(r"bfloat16|float\d+")
_MOST_CONSTANT = 1024.0
_LEAST = -65504.0
"""Constants that are at most this are what a maximum begins with."""


def is_exact(kernel: Any) -> bool:
    """Whether a kernel only adds, multiplies, moves and takes the larger of numbers and of constants that are whole and
    not negative. Then the results for positive numbers are at least as large as all that is computed on the way."""
    stores = [
        node.value
        for node in ast.walk(syntax_tree.parse(kernel.script()))
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript)
    ]
    return bool(stores) and all(map(_is_exact, stores))


def stays_exact(kernel: Any, results: Iterable[Array]) -> bool:
    """Whether the results of an exact kernel for positive whole numbers are small enough for each of its dtypes."""
    found = set(_DTYPE.findall(kernel.script()))
    if not found <= DIGITS.keys():
        return False
    most = 2.0 ** min((DIGITS[dtype] for dtype in found), default=0)
    return all(float(np.abs(each.astype(np.float64)).max(initial=0.0)) <= most for each in results)


def _is_exact(value: ast.expr) -> bool:
    match value:
        case ast.Subscript() | ast.Constant(value=int()):
            return True
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult(), right=right):
            return _is_exact(left) and _is_exact(right)
        case ast.Call(func=ast.Attribute(attr="max"), args=args):
            return all(map(_is_exact, args))
        case ast.Call(func=ast.Attribute(attr="if_then_else" | "Select"), args=[_, *branches]):
            return all(isinstance(each, ast.Subscript) or _is_constant(each) for each in branches)
        case ast.Call(func=ast.Attribute(attr="Cast"), args=[_, inner]):
            return _is_exact(inner)
        case _:
            return _is_constant(value)


def _is_constant(value: ast.expr) -> bool:
    """Whether this is a constant as `T.float32(2.0)` is, whole and not negative, or what a maximum begins with."""
    match value:
        case ast.Call(func=ast.Attribute(attr=name), args=[argument]) if _DTYPE.fullmatch(name):
            try:
                number = float(ast.literal_eval(argument))
            except ValueError:
                return False
            return number <= _LEAST or (number.is_integer() and 0.0 <= number <= _MOST_CONSTANT)
    return False
