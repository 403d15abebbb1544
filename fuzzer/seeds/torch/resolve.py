"""A program in rows of PyTorch. Steps without a row cut the graph and are counted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from fuzzer.seeds.order import in_order
from fuzzer.seeds.resolved import Resolved
from fuzzer.seeds.torch import unlisted
from fuzzer.seeds.torch.aten_names import in_table_form
from fuzzer.seeds.torch.program import Program, Step
from fuzzer.seeds.torch.row_of_call import NoRow, node_of
from generators.graph import Node, TensorType
from generators.torch.dialect import DIALECT


def resolve(program: Program, *, whole: bool = False) -> Resolved:
    """Find the rows of a program. A step without a row cuts the graph; with `whole`, it becomes a node that calls the
    operator itself where that can be checked (`unlisted`)."""
    types = dict(program.types)
    made: dict[int, list[Node]] = {}
    why_not: dict[int, str] = {}
    for place, step in enumerate(program.steps):
        try:
            made[place] = _nodes(step, types, program.types)
        except NoRow as why:
            why_not[place] = str(why)
            continue
        types |= {value.name: value.type for node in made[place] for value in node.results}
    if whole:
        why_not, held = _with_calls(program, made, why_not)
        types |= held
    nodes = tuple(in_order([node for place in sorted(made) for node in made[place]]))
    lacking = Counter((program.steps[place].title, why_not[place]) for place in sorted(why_not))
    steps = len(program.steps)
    inputs = program.types.keys() - {name for step in program.steps for name in step.results} - program.roles.keys()
    return Resolved(
        program.name,
        DIALECT.name,
        nodes,
        types,
        steps,
        steps - len(why_not),
        lacking,
        program.roles,
        program.constants,
        frozenset(inputs),
        tuple(name for name in program.returned if name in types),
    )


def _with_calls(
    program: Program, made: dict[int, list[Node]], why_not: Mapping[int, str]
) -> tuple[dict[int, str], dict[str, TensorType]]:
    """Put the nodes that call operators themselves into `made`, each at its last step. Return why the other steps are
    no nodes, and the types of complex values that nodes read or give as real ones."""
    found = unlisted.regions(program, why_not)
    lost = dict(found.lost)
    held: dict[str, TensorType] = {}
    readers: defaultdict[str, set[int]] = defaultdict(set)
    for place, step in enumerate(program.steps):
        for name in unlisted.reads_of(step):
            readers[name].add(place)
    for group in found.groups:
        steps = [program.steps[place] for place in group]
        inside = {name for step in steps for name in step.results if readers[name] <= set(group)}
        made_here = {name for step in steps for name in step.results}
        try:
            node = unlisted.node_of_steps(steps, made_here - (inside - set(program.returned)), program)
        except unlisted.NoCall as why:
            lost |= {place: str(why) for place in group if place in why_not}
            continue
        for place in group:
            made.pop(place, None)
        made[group[-1]] = [node]
        held |= {name: program.as_real[name] for name in node.args if name not in program.types}
        held |= {value.name: value.type for value in node.results}
    return lost, held


def _nodes(step: Step, types: Mapping[str, TensorType], declared: Mapping[str, TensorType]) -> list[Node]:
    if not step.calls:
        raise NoRow(step.why_not)
    known, nodes = dict(types), []
    for call in step.calls:
        node = node_of(in_table_form(call, known), known, declared)
        known |= {value.name: value.type for value in node.results}
        nodes.append(node)
    return nodes
