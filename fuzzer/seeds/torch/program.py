"""A model from a file as plain data: calls of PyTorch, the types of all values, and numbers worth keeping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from generators.graph import Role, Scalar, TensorType


def no_tensor(name: str) -> str:
    """A line for a result that no lane returns."""
    return f"the result {name}: it is no tensor, and no lane returns it"


@dataclass(frozen=True, slots=True)
class Ref:
    """An operand, by the file's name for it."""

    name: str


Arg = Ref | tuple[Ref | Scalar, ...] | Scalar
"""A tensor, a list of tensors (None where one is left out), or an attribute."""


@dataclass(frozen=True, slots=True)
class Call:
    """`function` is the name in PyTorch, without the overload; `args` are in the order of its signature."""

    function: str
    args: Mapping[str, Arg]
    results: tuple[str, ...]

    @property
    def operands(self) -> tuple[str, ...]:
        """The tensor operands in order, without those that are None."""
        found: list[str] = []
        for arg in self.args.values():
            each = arg if isinstance(arg, tuple) else (arg,)
            found += [item.name for item in each if isinstance(item, Ref)]
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Exact:
    """A node as a call of its own operator, in the form of `generators.torch.ops.calls`.

    function  the operator with its overload
    call      the call, with the operands as a0, a1, ...
    operands  their names in the file
    branches  the functions f0, f1, ... that the call reads
    places    which value of the call each result of the step is; None where the call gives one value
    """

    function: str
    call: str
    operands: tuple[str, ...]
    branches: tuple[str, ...] = ()
    places: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A node of the file and the calls that compute the same. The last call has the node's results.

    why_not  why there are no calls
    exact    the call of the node's own operator; None where it cannot be written
    """

    title: str
    results: tuple[str, ...]
    calls: tuple[Call, ...] = ()
    why_not: str = ""
    exact: Exact | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """A graph in topological order.

    types      by value, where the type is known and supported; symbolic sizes have the numbers of the example inputs
    roles      of the values that no node makes; without an entry the role is `Role.INPUT`
    constants  integers and booleans of the model: positions, masks. Trained weights are not read: they say little
               about a compiler, and may not be published
    returned   the outputs, where the file says them
    as_real    by complex value, the type of its real view: one more dimension of size 2
    """

    name: str
    steps: tuple[Step, ...]
    types: Mapping[str, TensorType]
    roles: Mapping[str, Role] = field(default_factory=dict)
    constants: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)  # decoded by this type
    returned: tuple[str, ...] = ()
    as_real: Mapping[str, TensorType] = field(default_factory=dict)
