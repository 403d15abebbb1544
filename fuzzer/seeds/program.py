"""A model from a file as plain data: calls in PyTorch's words, the types of all values, and numbers worth keeping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from generators.graph import Array, Attr, Role, TensorType

MAX_SIZE = 1 << 40
"""Of a dimension: larger ones are nonsense."""


@dataclass(frozen=True, slots=True)
class Ref:
    """An operand, by the file's name for it."""

    name: str


Arg = Ref | tuple[Ref | None, ...] | Attr
"""A tensor, a list of tensors (None where one is left out), or an attribute."""


@dataclass(frozen=True, slots=True)
class Call:
    """`word` is the function, as PyTorch calls it without its overload; `args` in the order of its signature."""

    word: str
    args: Mapping[str, Arg]
    results: tuple[str, ...]

    @property
    def operands(self) -> tuple[str, ...]:
        """Tensors in order; those left out do not count."""
        found: list[str] = []
        for arg in self.args.values():
            each = arg if isinstance(arg, tuple) else (arg,)
            found += [item.name for item in each if isinstance(item, Ref)]
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Step:
    """A node of the file, and the calls that do the same; the last one gives the node's results.

    why_not  why there are none
    """

    title: str
    results: tuple[str, ...]
    calls: tuple[Call, ...] = ()
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """Nodes in order, each after those that it reads.

    types      of the values whose type is known and one of ours; symbolic sizes as the numbers of the example inputs
    roles      of what no node makes; of all else that none makes, `Role.INPUT`
    constants  integers and booleans that the model owns: positions, masks. Its other numbers are left in the file: what
               a model was trained to says little about a compiler, and may not be anyone's to publish
    """

    name: str
    steps: tuple[Step, ...]
    types: Mapping[str, TensorType]
    roles: Mapping[str, Role] = field(default_factory=dict)
    constants: Mapping[str, Array] = field(default_factory=dict)
