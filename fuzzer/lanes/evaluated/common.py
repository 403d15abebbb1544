"""Types and functions that the evaluations of Relax operators share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

Function = Callable[..., Any]
"""(attributes of the call, values of its operands) -> value."""


class Unknown(Exception):
    """The call cannot be evaluated."""

    __module__ = "fuzzer.lanes.relax_opinions"  # the name in findings that are saved


class Outside(Exception):
    """An element outside of a tensor or buffer is read or written."""

    __module__ = "fuzzer.lanes.relax_opinions"  # the name in findings that are saved


class Contradiction(Exception):
    """A call is declared with another shape than the definition of its operator gives."""

    def __init__(self, name: str, dtype: str, declared: Sequence[int], defined: Sequence[int]) -> None:
        """`name`: of the Relax operator; `dtype`: of its result; the shapes: as declared, and by the definition."""
        super().__init__(f"{name} is declared as {list(declared)}, and by its definition it is {list(defined)}")
        self.dtype, self.declared, self.defined = dtype, tuple(declared), tuple(defined)


def plain(function: Function) -> Function:
    """Adapt a function of the operands alone."""
    return lambda attrs, *args: function(*args)


def floats(function: Function) -> Function:
    """Adapt a function that is defined for floats only: other rules decide the results for integers."""

    def call(attrs: Any, *args: Any) -> Any:
        require(
            all(arg.is_floating_point() for arg in args if isinstance(arg, Tensor)), "an operator of floats on integers"
        )
        return function(*args)

    return call


def of_one_dtype(function: Function) -> Function:
    """Adapt a function of tensors that must have one dtype. For others, the kernels decide what is computed."""

    def call(attrs: Any, *args: Any) -> Any:
        require(len({arg.dtype for arg in args if isinstance(arg, Tensor)}) <= 1, "operands of two dtypes")
        return function(attrs, *args)

    return call


def ints(value: Any) -> list[int]:
    """Return an attribute that is a number or a list of numbers as a list."""
    return [int(each) for each in value] if hasattr(value, "__len__") else [int(value)]


def axes_of(value: Any, x: Tensor) -> list[int]:
    """Return an attribute that names axes as a list. None stands for all axes."""
    return list(range(x.dim())) if value is None else ints(value)


def require(holds: bool, what: str) -> None:
    """Raise `Unknown`, with `what` is not supported, unless a condition holds."""
    if not holds:
        raise Unknown(what)


def dtype_of(name: object) -> torch.dtype:
    found = getattr(torch, str(name), None)
    if not isinstance(found, torch.dtype):
        raise Unknown(f"dtype {name}")
    return found
