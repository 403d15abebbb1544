"""The outline of a graph: one line with its operators and how they are connected.

An outline does not depend on names, sizes, dtypes, attributes, inputs or parameters, nor on the order of calls that do
not depend on each other.
"""

from __future__ import annotations

import hashlib
from collections import Counter

from generators.graph import Graph, Node


def outline(graph: Graph) -> str:
    """Return the outline of the graph.

    A chain of calls is `relu(conv2d)`. A value with several uses gets a letter: `add(a, exp(a)) where a = neg`. Several
    outputs are separated: `exp; neg`. Each call is written once, so that the outline is at most as long as the graph.
    """
    maker = {value.name: node for node in graph.nodes for value in node.results}
    operands = {id(node): [maker[name] for name in node.args if name in maker] for node in graph.nodes}
    digests: dict[int, str] = {}
    for node in graph.nodes:  # operands come first
        parts = [node.title, *(digests[id(operand)] for operand in operands[id(node)])]
        digests[id(node)] = hashlib.sha256("(".join(parts).encode()).hexdigest()
    ends = {id(maker[name]): maker[name] for name in graph.outputs if name in maker}
    uses = Counter(ends.keys())
    uses.update(id(operand) for node in graph.nodes for operand in operands[id(node)])
    letters: dict[int, str] = {}
    calls: dict[int, str] = {}
    shared: list[str] = []

    def written(node: Node) -> str:
        return letters.get(id(node)) or calls[id(node)]

    roots = sorted(ends.values(), key=lambda node: digests[id(node)])
    stack = [(node, False) for node in reversed(roots)]  # no recursion: a graph may be one long chain
    while stack:
        node, operands_are_written = stack.pop()
        if operands_are_written:
            inner = ", ".join(map(written, operands[id(node)]))
            calls[id(node)] = f"{node.title}({inner})" if inner else node.title
            if id(node) in letters:
                shared.append(f"{letters[id(node)]} = {calls[id(node)]}")
        elif id(node) not in letters:
            if uses[id(node)] > 1:
                letters[id(node)] = _letter(len(letters))
            stack.append((node, True))
            stack.extend((operand, False) for operand in reversed(operands[id(node)]))
    text = "; ".join(map(written, roots))
    return f"{text} where {', '.join(shared)}" if shared else text


def _letter(index: int) -> str:
    return chr(ord("a") + index) if index < 26 else f"a{index}"
