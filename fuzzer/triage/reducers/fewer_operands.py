"""Leave out operands that a call can do without, and results of ONNX that nothing reads."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from fuzzer.triage.reducers.base import Subject
from generators.graph import Node
from generators.onnx.operator import INPUTS, OUTPUTS, NodeForm
from generators.op import Op
from generators.table import TABLE
from generators.torch.ops.indexing import INDEX, index_of


def fewer_operands(subject: Subject) -> Iterator[Subject]:
    """Propose each call without its unread results, and without each operand that may be left out, the last first.

    Rows of ONNX say in an attribute which operands and results a call has. In PyTorch, an index `x[{1}, 0]` may name
    fewer tensors than the call has.
    """
    graph = subject.graph
    read = {*graph.outputs, *(name for node in graph.nodes for name in node.args)}
    for index, node in enumerate(graph.nodes):
        for changed in _with_fewer(node, TABLE[node.op], read):
            yield subject.with_graph(replace(graph, nodes=(*graph.nodes[:index], changed, *graph.nodes[index + 1 :])))


def _with_fewer(node: Node, row: Op, read: Collection[str]) -> Iterator[Node]:
    if isinstance(row.source, NodeForm):
        yield from _without_unread(node, read)
        yield from _without_an_operand(node, row.source)
    elif row.schema.get("index") is INDEX:
        yield from _with_named_tensors(node, row.arity[0])


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


def _with_named_tensors(node: Node, first: int) -> Iterator[Node]:
    """Keep the tensors that the index names. The tensors are the operands from number `first` on."""
    index = index_of(node.attrs)
    named = {int(item[1:-1]) for item in index if item.startswith("{")}
    kept = [place for place in range(len(node.args)) if place < first or place in named]
    if len(kept) < len(node.args):
        renamed = tuple(f"{{{kept.index(int(item[1:-1]))}}}" if item.startswith("{") else item for item in index)
        yield replace(node, args=tuple(node.args[place] for place in kept), attrs={**node.attrs, "index": renamed})
