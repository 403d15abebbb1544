"""A case as the source of a PyTorch module: what runs in the lanes is what stands in the report."""

from __future__ import annotations

from dataclasses import replace

from generators.graph import Form, Graph, Input, Node, Role, TensorType
from generators.ops import TABLE
from generators.ops.base import Layer

HEADER = "import torch\nimport torch.nn.functional as F\n"
Types = tuple[TensorType, ...]


def render(graph: Graph, *, float64: bool = False) -> str:
    """Source of `class Model(torch.nn.Module)`.

    Its constructor takes parameters and buffers as tensors, its forward the inputs, both in the graph's order; forward
    returns a tuple. With `float64`, casts to other floats become casts to float64: on float64 inputs, and with float64
    as torch's default dtype, the same graph in double precision throughout.
    """
    owned = [item for item in graph.inputs if item.role.is_owned]
    inputs = [item.value.name for item in graph.inputs if not item.role.is_owned]
    names = {item.value.name: f"self.{item.value.name}" for item in owned}
    in_layers = _in_one_layer(graph)
    taken = {f"self.{item.value.name}" for item in owned}
    types = graph.types
    setup, body = [], []
    for item in owned:
        name = item.value.name
        if name in in_layers:
            names[name] = f"torch.nn.Parameter({name})" if _trained(item) else name
        elif _trained(item):
            setup.append(f"self.{name} = torch.nn.Parameter({name})")
        else:
            setup.append(f'self.register_buffer("{name}", {name})')
    for index, node in enumerate(graph.nodes):
        args = tuple([names.get(name, name) for name in node.args])
        operands = tuple([types[name] for name in node.args])
        layer = f"self.m{index}"
        if layer in taken:  # no value's name has a line in it
            layer = f"self.m_{index}"
        setup += constructor(node, args, operands, layer, float64=float64)
        lines = statements(node, args, layer, float64=float64)
        shown = ", ".join(str(value.type) for value in node.results)
        body += [*lines[:-1], f"{lines[-1]}  # {shown}"]
    outputs = ", ".join(names.get(name, name) for name in graph.outputs)
    body.append(f"return ({outputs},)" if len(graph.outputs) == 1 else f"return {outputs}")
    lines = ["class Model(torch.nn.Module):"]
    if setup:
        signature = ", ".join(["self", *(item.value.name for item in owned)])
        lines += [f"    def __init__({signature}):", "        super().__init__()"]
        lines += [f"        {line}" for line in setup]
        lines.append("")
    lines.append(f"    def forward({', '.join(['self', *inputs])}):")
    lines += [f"        {line}" for line in body]
    return f"{HEADER}\n\n" + "\n".join(lines) + "\n"


def _trained(item: Input) -> bool:
    return item.role is Role.PARAM and item.value.type.dtype.is_float


def _in_one_layer(graph: Graph) -> set[str]:
    """Parameters that one layer uses and nothing else: they need no place of their own in the module."""
    uses = [name for node in graph.nodes for name in node.args] + list(graph.outputs)
    layers = [(node, TABLE[node.op].forms[node.form]) for node in graph.nodes if node.form is Form.MODULE]
    params = {name for node, layer in layers if isinstance(layer, Layer) for name in node.args[layer.inputs :]}
    return {name for name in params if uses.count(name) == 1}


def constructor(node: Node, args: tuple[str, ...], types: Types, layer: str, *, float64: bool = False) -> list[str]:
    """The lines that make a node's layer and give it its parameters; none for the other forms."""
    op = TABLE[node.op]
    made = op.forms[node.form] if node.form is Form.MODULE else None
    if not isinstance(made, Layer):
        return []
    attrs = dict((_in_double(node) if float64 else node).attrs)
    text = made.make(types, attrs) if callable(made.make) else op.fill(made.make, (), attrs)
    given = zip(made.params, args[made.inputs :], strict=False)
    return [f"{layer} = {text}", *(f"{layer}.{param} = {arg}" for param, arg in given)]


def statements(node: Node, args: tuple[str, ...], layer: str = "", *, float64: bool = False) -> list[str]:
    """One node as Python lines that define its results."""
    op = TABLE[node.op]
    node = _in_double(node) if float64 else node
    made = op.forms[node.form] if node.form is Form.MODULE else None
    text = op.fill(made.call, args, node.attrs) if isinstance(made, Layer) else op.render(args, node.attrs, node.form)
    text = text.replace("{self}", layer)
    if "{out" not in text:
        names = ", ".join(value.name for value in node.results)
        return [f"({names},) = {text}" if _is_a_list_of_one(node) else f"{names} = {text}"]
    text = text.replace("{out}", node.results[0].name)
    for index, value in enumerate(node.results):
        text = text.replace(f"{{out{index}}}", value.name)
    return text.split("\n")


def _is_a_list_of_one(node: Node) -> bool:
    """Whether the operator gives a list even where it has one element."""
    return len(node.results) == 1 and TABLE[node.op].lists


def _in_double(node: Node) -> Node:
    """The node with float64 for each other float dtype among its attributes."""
    schema = TABLE[node.op].schema
    return replace(node, attrs={key: schema[key].in_double(value) for key, value in node.attrs.items()})
