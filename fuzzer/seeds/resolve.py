"""A model in rows of the operator table. Steps of a program without a row cut the graph and are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from fuzzer.seeds.aten_names import in_table_form
from fuzzer.seeds.program import Program, Step
from fuzzer.seeds.row_of_call import NoRow, node_of
from generators.graph import Array, Node, Role, TensorType


@dataclass(frozen=True, slots=True)
class Resolved:
    """A model in one dialect.

    name       of its file
    nodes      of all steps that have rows, in order, with the names of the file
    types      of all values, also between the calls of one step
    steps      the number of steps of the program; `mapped` is how many of them have rows
    lacking    how often a step has no row, by its title and the reason
    roles      of the values that no node makes; without an entry the role is `Role.INPUT`
    constants  the model's own numbers that cases keep
    inputs     what the model is given
    returned   the outputs of the model, where they are known
    opset      of the file; 0 for PyTorch
    open       the names of the sizes of inputs that the file leaves open; "" for a size that is a number. The types
               have a number in place of each
    from_open  the first results of nodes that these numbers have made what they are
    """

    name: str
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

    @property
    def dialect(self) -> str:
        return "onnx" if self.opset else "torch"

    @property
    def why_no_nodes(self) -> str:
        """Why there are no nodes; "" where there are some."""
        if self.nodes:
            return ""
        reasons = [f"{title}: {why}" for title, why in self.lacking]
        return f"no node has a row of the operator table: {'; '.join(reasons) or 'all of its results are constants'}"


def resolve(program: Program) -> Resolved:
    nodes: list[Node] = []
    types = dict(program.types)
    lacking: Counter[tuple[str, str]] = Counter()
    for step in program.steps:
        try:
            made = _nodes(step, types, program.types)
        except NoRow as why:
            lacking[step.title, str(why)] += 1
            continue
        nodes += made
        types |= {value.name: value.type for node in made for value in node.results}
    steps = len(program.steps)
    mapped = steps - sum(lacking.values())
    inputs = program.types.keys() - {name for step in program.steps for name in step.results} - program.roles.keys()
    return Resolved(
        program.name,
        tuple(nodes),
        types,
        steps,
        mapped,
        lacking,
        program.roles,
        program.constants,
        frozenset(inputs),
    )


def _nodes(step: Step, types: Mapping[str, TensorType], declared: Mapping[str, TensorType]) -> list[Node]:
    if not step.calls:
        raise NoRow(step.why_not)
    known, nodes = dict(types), []
    for call in step.calls:
        node = node_of(in_table_form(call, known), known, declared)
        known |= {value.name: value.type for value in node.results}
        nodes.append(node)
    return nodes
