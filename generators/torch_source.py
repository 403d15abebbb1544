"""A case as the source of a PyTorch module: what runs in the lanes is what stands in the report."""

from __future__ import annotations

from generators.graph import DType, Graph, Node, Role
from generators.ops import TABLE
from generators.ops.base import DTYPE

HEADER = "import torch\nimport torch.nn.functional as F\n"


def render(graph: Graph, *, float64: bool = False) -> str:
    """Source of `class Model(torch.nn.Module)`.

    Its constructor takes the parameters as tensors, its forward the inputs, both in the graph's order; forward
    returns a tuple. With `float64`, casts to float32 become casts to float64: on float64 inputs, and with float64 as
    torch's default dtype, the same graph in double precision throughout.
    """
    params = [item.value for item in graph.inputs if item.role is Role.PARAM]
    inputs = [item.value.name for item in graph.inputs if item.role is Role.INPUT]
    names = {value.name: f"self.{value.name}" for value in params}
    lines = ["class Model(torch.nn.Module):"]
    if params:
        lines += [f"    def __init__(self, {', '.join(v.name for v in params)}):", "        super().__init__()"]
        for value in params:
            if value.type.dtype.is_float:
                lines.append(f"        self.{value.name} = torch.nn.Parameter({value.name})")
            else:
                lines.append(f'        self.register_buffer("{value.name}", {value.name})')
        lines.append("")
    lines.append(f"    def forward(self, {', '.join(inputs)}):")
    for node in graph.nodes:
        results = ", ".join(value.name for value in node.results)
        args = tuple(names.get(name, name) for name in node.args)
        shown = ", ".join(str(value.type) for value in node.results)
        lines.append(f"        {results} = {call(node, args, float64=float64)}  # {shown}")
    outputs = ", ".join(names.get(name, name) for name in graph.outputs)
    lines.append(f"        return ({outputs},)" if len(graph.outputs) == 1 else f"        return {outputs}")
    return f"{HEADER}\n\n" + "\n".join(lines) + "\n"


def call(node: Node, args: tuple[str, ...], *, float64: bool = False) -> str:
    """One node as a Python expression on the given operand names."""
    op, attrs = TABLE[node.op], dict(node.attrs)
    if float64:
        for key, kind in op.schema.items():
            if kind is DTYPE and attrs[key] == DType.FLOAT32:
                attrs[key] = DType.FLOAT64.value
    return op.render(args, attrs)
