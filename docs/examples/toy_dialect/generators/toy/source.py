"""How a graph of the toy is written: as a module of PyTorch that computes the same."""

from __future__ import annotations

from generators.graph import Graph, Node
from generators.toy.rows import TABLE


def text(node: Node) -> list[str]:
    """The line of a call. The value has the name that it has in the graph: blame finds the operator by it."""
    return [f"{node.results[0].name} = {TABLE[node.op].render(node.args, node.attrs)}"]


def render(graph: Graph) -> str:
    owned = [item.value.name for item in graph.inputs if item.role.is_owned]
    inputs = [item.value.name for item in graph.inputs if not item.role.is_owned]
    lines = ["import torch", "", "class Model(torch.nn.Module):"]
    if owned:
        lines += [f"    def __init__({', '.join(['self', *owned])}):", "        super().__init__()"]
        lines += [f'        self.register_buffer("{name}", {name})' for name in owned]
    lines += [f"    def forward({', '.join(['self', *inputs])}):"]
    lines += [f"        {name} = self.{name}" for name in owned]
    lines += [f"        {line}" for node in graph.nodes for line in text(node)]
    return "\n".join([*lines, f"        return ({', '.join(graph.outputs)},)"]) + "\n"
