"""What all who say what Relax's operators mean share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Function = Callable[..., Any]
"""(attributes of the call, values of its operands) -> value."""


class Unknown(Exception):
    """There is no opinion on this call."""

    __module__ = "fuzzer.lanes.relax_opinions"  # the name in findings that are saved


class Outside(Exception):
    """Elements are asked for that are not there."""

    __module__ = "fuzzer.lanes.relax_opinions"  # the name in findings that are saved


def plain(function: Function) -> Function:
    """Of the operands alone."""
    return lambda attrs, *args: function(*args)


def floats(function: Function) -> Function:
    """Of floats alone: what integers become is decided by other rules."""

    def call(attrs: Any, *args: Any) -> Any:
        only(
            all(arg.is_floating_point() for arg in args if isinstance(arg, Tensor)), "an operator of floats on integers"
        )
        return function(*args)

    return call


def ints(value: Any) -> list[int]:
    """An attribute that is one number, or a list of them."""
    return [int(each) for each in value] if hasattr(value, "__len__") else [int(value)]


def axes_of(value: Any, x: Tensor) -> list[int]:
    """None stands for all."""
    return list(range(x.dim())) if value is None else ints(value)


def only(good: bool, what: str) -> None:
    if not good:
        raise Unknown(what)


def dtype_of(name: object) -> torch.dtype:
    found = getattr(torch, str(name), None)
    if not isinstance(found, torch.dtype):
        raise Unknown(f"dtype {name}")
    return found
