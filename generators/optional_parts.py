"""The operands and results that a call may have or not, which each dialect says in its own way."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from generators.graph import Node


def first_operands(node: Node, number: int) -> Node:
    """A call with its first operands, of which no attribute says which ones it has."""
    return replace(node, args=node.args[:number])


def none_fewer(node: Node, read: Collection[str]) -> Iterator[Node]:
    """No call: a dialect knows none that can do without an operand."""
    yield from ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionalParts:
    """What a dialect knows of operands and results that a call may have or not.

    attributes  attributes of rows, which its operators do not have: each says which parts a call has, and names them
                for people
    named       the optional parts that such an attribute of a call says, by name, each with whether it is there; none
                where it says none
    first       a call with this number of operands, its first ones; it may be one that the operator refuses
    fewer       a call in ways to try: without results that are not in `read`, and without operands that it can do
                without, the last one first
    """

    attributes: Mapping[str, str] = field(default_factory=dict)
    named: Callable[[Node, str], Sequence[tuple[str, bool]]] = lambda node, attribute: ()
    first: Callable[[Node, int], Node] = first_operands
    fewer: Callable[[Node, Collection[str]], Iterator[Node]] = none_fewer


ALL_PARTS = OptionalParts()
"""Those of a dialect whose calls have all of their operands and results."""
