"""Replaces a node If by the nodes of one of its branches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import onnx
from onnx import helper


def inlined(nodes: Iterable[Any], conditions: Mapping[str, bool]) -> tuple[list[Any], set[str], int]:
    """Return the nodes with each If replaced whose condition is known or whose branches are the same; the results of
    the nodes that stood alone in both branches; and how many were replaced."""
    found: list[Any] = []
    both: set[str] = set()
    count = 0
    for node in nodes:
        branches = {each.name: each.g for each in node.attribute if each.name in ("then_branch", "else_branch")}
        if node.op_type != "If" or node.domain not in ("", "ai.onnx") or len(branches) < 2 or not node.input:
            found.append(node)
            continue
        chosen, other = branches["then_branch"], branches["else_branch"]
        same = len(chosen.output) == len(other.output) and _canonical(chosen) == _canonical(other)
        if not same and node.input[0] not in conditions:
            found.append(node)
            continue
        body = chosen if same or conditions[node.input[0]] else other
        if len(body.output) != len(node.output):  # no valid If
            found.append(node)
            continue
        inside = list(_nodes_of(body, node))
        if same and len(inside) == 1:
            both.update(inside[0].output)
        found += inside
        count += 1
    return found, both, count


def _nodes_of(body: Any, node: Any) -> Iterator[Any]:
    """The nodes of a branch, whose results have the names of the If. Other names begin with that of its first result:
    another If may have the same ones."""
    names = dict(_inner_names(body, f"{node.output[0]}/"))
    direct: list[tuple[str, str]] = []
    for output, own in zip(body.output, node.output, strict=True):
        if output.name not in names or names[output.name] in node.output:
            direct.append((output.name, own))  # the branch returns a value of the graph around it, or one twice
        else:
            names[output.name] = own
    for item in body.initializer:
        value = onnx.TensorProto()
        value.CopyFrom(item)
        yield helper.make_node("Constant", [], [names[item.name]], value=value)
    for inner in body.node:
        yield renamed(inner, names)
    for value_name, own in direct:
        if own:
            yield helper.make_node("Identity", [names.get(value_name, value_name)], [own])


def _inner_names(body: Any, prefix: str) -> Iterator[tuple[str, str]]:
    for name in (*(item.name for item in body.initializer), *(name for node in body.node for name in node.output)):
        if name:
            yield name, prefix + name


def renamed(node: Any, names: Mapping[str, str]) -> Any:
    """A copy with other names, of graphs in it too: these may read what is around them."""
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    copy.input[:] = [names.get(name, name) for name in node.input]
    copy.output[:] = [names.get(name, name) for name in node.output]
    for each in copy.attribute:
        for graph in (*([each.g] if each.HasField("g") else []), *each.graphs):
            rename_graph(graph, names)
    return copy


def rename_graph(graph: Any, names: Mapping[str, str]) -> None:
    own = {item.name for item in (*graph.input, *graph.initializer)}
    own.update(name for node in graph.node for name in node.output)
    outer = {name: new for name, new in names.items() if name not in own}
    nodes = [renamed(node, outer) for node in graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    for item in graph.output:
        item.name = outer.get(item.name, item.name)


def _canonical(body: Any) -> tuple[bytes, ...]:
    """The nodes and outputs with names that depend on their places alone."""
    names = {name: f"_{number}" for number, (name, _) in enumerate(_inner_names(body, ""))}
    parts = []
    for item in body.initializer:
        copy = onnx.TensorProto()
        copy.CopyFrom(item)
        copy.name = names[item.name]
        parts.append(copy.SerializeToString(deterministic=True))
    for node in body.node:
        plain = renamed(node, names)
        plain.ClearField("name")
        plain.ClearField("doc_string")
        parts.append(plain.SerializeToString(deterministic=True))
    return (*parts, *(names.get(item.name, item.name).encode() for item in body.output))
