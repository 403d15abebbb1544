"""A model in rows of the operator table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from generators.graph import Array, Node, Role, TensorType


@dataclass(frozen=True, slots=True)
class Resolved:
    """A model in one dialect.

    name       of its file
    dialect    of the rows
    nodes      of all steps that have rows, in order, with the names of the file
    types      of all values, also between the calls of one step
    steps      the number of steps of the program; `mapped` is how many of them have rows
    lacking    how often a step has no row, by its title and the reason
    roles      of the values that no node makes; without an entry the role is `Role.INPUT`
    constants  the model's own numbers that cases keep
    inputs     what the model is given
    returned   the outputs of the model, where they are known
    opset      of the file; 0 for a dialect without opsets
    open       the names of the sizes of inputs that the file leaves open; "" for a size that is a number. The types
               have a number in place of each
    from_open  the first results of nodes that these numbers have made what they are
    unlisted   how often a node without a row is in the model as it is in the file, by its title and the reason
    small      the dtype in the file of each value that cases hold in a wider one
    """

    name: str
    dialect: str
    nodes: tuple[Node, ...]
    types: Mapping[str, TensorType]
    steps: int
    mapped: int
    lacking: Counter[tuple[str, str]]
    roles: Mapping[str, Role] = field(default_factory=dict)
    constants: Mapping[str, Array] = field(default_factory=dict)
    inputs: frozenset[str] = frozenset()
    returned: tuple[str, ...] = ()
    opset: int = 0
    open: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    from_open: frozenset[str] = frozenset()
    unlisted: Counter[tuple[str, str]] = field(default_factory=Counter)
    small: Mapping[str, str] = field(default_factory=dict)

    @property
    def why_no_nodes(self) -> str:
        """Why there are no nodes; "" where there are some."""
        if self.nodes:
            return ""
        reasons = [f"{title}: {why}" for title, why in self.lacking]
        return f"no node has a row of the operator table: {'; '.join(reasons) or 'all of its results are constants'}"
