"""Leave out operands that calls of ONNX can do without, and results that nothing reads."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from fuzzer.triage.reducers.base import Subject
from generators.graph import Node
from generators.onnx.operator import INPUTS, OUTPUTS, NodeForm
from generators.table import TABLE


def fewer_operands(subject: Subject) -> Iterator[Subject]:
    """Propose each call without its unread results, and without each operand that may be left out, the last first.

    Only rows of ONNX say in an attribute which operands and results a call has.
    """
    graph = subject.graph
    read = {*graph.outputs, *(name for node in graph.nodes for name in node.args)}
    for index, node in enumerate(graph.nodes):
        form = TABLE[node.op].source
        if isinstance(form, NodeForm):
            for changed in (*_without_unread(node, read), *_without_an_operand(node, form)):
                yield subject.with_graph(
                    replace(graph, nodes=(*graph.nodes[:index], changed, *graph.nodes[index + 1 :]))
                )


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
