"""The operands and results of calls of ONNX that may be left out. An attribute of the row says which ones are there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from generators.graph import Node
from generators.onnx.operator import INPUTS, OUTPUTS, NodeForm
from generators.onnx.rows import ROWS


def named(node: Node, attribute: str) -> Sequence[tuple[str, bool]]:
    """The operands (INPUTS) or results (OUTPUTS) that may be left out, by their names in the schema. The attribute may
    end before the last operands, which are then left out."""
    form, given = ROWS[node.op].source, node.attrs.get(attribute)
    if not isinstance(form, NodeForm) or not isinstance(given, tuple):
        return ()
    parameters = form.operands if attribute == INPUTS else form.schema.outputs
    return [
        (each.name, place < len(given) and bool(given[place])) for place, each in enumerate(parameters) if each.optional
    ]


def first(node: Node, number: int) -> Node:
    """The call with its first operands."""
    attrs, given = node.attrs, node.attrs.get(INPUTS)
    if isinstance(given, tuple):
        kept = [sum(map(bool, given[: place + 1])) <= number for place in range(len(given))]
        attrs = {**attrs, INPUTS: tuple(bool(one and keep) for one, keep in zip(given, kept, strict=True))}
    return replace(node, args=node.args[:number], attrs=attrs)


def fewer(node: Node, read: Collection[str]) -> Iterator[Node]:
    form = ROWS[node.op].source
    if isinstance(form, NodeForm):
        yield from _without_unread(node, read)
        yield from _without_an_operand(node, form)


def _without_unread(node: Node, read: Collection[str]) -> Iterator[Node]:
    wanted = node.attrs.get(OUTPUTS)
    if not isinstance(wanted, tuple):
        return
    names = iter(node.results)
    kept = tuple(bool(is_wanted) and next(names).name in read for is_wanted in wanted)
    if kept != wanted:
        results = tuple(value for value in node.results if value.name in read)
        yield replace(node, attrs={**node.attrs, OUTPUTS: kept}, results=results)


def _without_an_operand(node: Node, form: NodeForm) -> Iterator[Node]:
    """Operands of a variadic input can be left out down to one."""
    given = node.attrs.get(INPUTS)
    for place in reversed(range(len(node.args))):
        args = (*node.args[:place], *node.args[place + 1 :])
        if form.operands and form.operands[-1].variadic and place >= len(form.operands) - 1 and args:
            yield replace(node, args=args)
        elif isinstance(given, tuple) and place < sum(map(bool, given)):
            at = [input for input, is_given in enumerate(given) if is_given][place]
            if form.operands[at].optional:
                yield replace(node, args=args, attrs={**node.attrs, INPUTS: (*given[:at], False, *given[at + 1 :])})
