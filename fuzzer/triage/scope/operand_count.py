"""A call without operands that it can do without, and with operands that it may have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from fuzzer.triage.scope.neighbours import retyped_if_valid
from generators.choice import ChoiceSource
from generators.dialect import dialect_named
from generators.graph import Case, Input, Profile, Value
from generators.table import TABLE
from generators.values import draw

MOST_ADDED = 2
"""How many operands are added to a call that may have more."""


def with_operands_left_out_and_added(source: ChoiceSource, case: Case) -> Iterator[tuple[int, Case]]:
    """Yield the case with other numbers of operands, and the case itself among them. There are none for several calls,
    for a call that reads an operand twice, and where the operator takes one number of operands only."""
    if len(case.graph.nodes) != 1 or len(case.graph.inputs) != len(case.graph.nodes[0].args):
        return
    number = len(case.graph.inputs)
    fewest, most = TABLE[case.graph.nodes[0].op].arity
    found = {fewer: _with_fewer(case, fewer) for fewer in range(fewest, number)} | {number: case}
    for longer in range(number + 1, min(most, number + MOST_ADDED) + 1):
        before = found[longer - 1]
        found[longer] = before and _with_one_more(source, before)
    for each, varied in found.items() if len(found) > 1 else ():
        if varied is not None:
            yield each, varied


def _with_fewer(case: Case, number: int) -> Case | None:
    """Return the call with its first operands only; None where its operator refuses that."""
    (node,) = case.graph.nodes
    inputs = tuple(item for item in case.graph.inputs if item.value.name in node.args[:number])
    called = dialect_named(case.graph.dialect).parts.first(node, number)
    graph = replace(case.graph, inputs=inputs, nodes=(called,))
    tensors = {item.value.name: case.tensors[item.value.name] for item in inputs}
    return retyped_if_valid(replace(case, graph=graph, tensors=tensors))


def _with_one_more(source: ChoiceSource, case: Case) -> Case | None:
    """Return the call with another operand, of the first type that its operator takes: that of an operand or of a
    result, or one of their dimensions. None where it takes none of them."""
    (node,) = case.graph.nodes
    types = (*case.graph.arg_types(node), *(value.type for value in node.results))
    vectors = (type.with_shape(size) for type in types for size in type.sizes)
    name = next(each for each in map("x{}".format, count()) if each not in case.tensors)
    for type in dict.fromkeys((*types, *vectors)):
        item = Input(Value(name, type.with_dtype(types[0].dtype)))
        called = replace(node, args=(*node.args, name))
        graph = replace(case.graph, inputs=(*case.graph.inputs, item), nodes=(called,))
        tensors = {**case.tensors, name: draw(source, item, Profile.NORMAL, source.rng())}
        if longer := retyped_if_valid(replace(case, graph=graph, tensors=tensors)):
            return longer
    return None
