"""Renders a graph as the source of a PyTorch module. Lanes run this source, and reports show it."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from generators.graph import Form, Graph, Input, Node, Role, TensorType
from generators.op import Layer
from generators.syntax_tree import parse_expression
from generators.torch.ops import TABLE

HEADER = "import torch\nimport torch.nn.functional as F\n"
Types = tuple[TensorType, ...]


def render(graph: Graph, *, float64: bool = False) -> str:
    """Return the source of `class Model(torch.nn.Module)`.

    The arguments of the constructor are the parameters and buffers as tensors, and those of forward are the inputs, in
    the graph's order. forward returns a tuple. With `float64`, casts to other floats become casts to float64. Then the
    whole graph runs in double precision, if its inputs and torch's default dtype are float64.
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
        if layer in taken:  # the names of values contain no underscore
            layer = f"self.m_{index}"
        setup += constructor(node, args, operands, layer, float64=float64)
        lines = statements(node, args, layer, float64=float64)
        result_types = ", ".join(str(value.type) for value in node.results)
        body += [*lines[:-1], f"{lines[-1]}  # {result_types}"]
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
    """Return the parameters that are read once, by a layer. The module needs no attribute of its own for them."""
    uses = [name for node in graph.nodes for name in node.args] + list(graph.outputs)
    layers = [(node, TABLE[node.op].forms[node.form]) for node in graph.nodes if node.form is Form.MODULE]
    params = {name for node, layer in layers if isinstance(layer, Layer) for name in node.args[layer.inputs :]}
    return {name for name in params if uses.count(name) == 1}


def constructor(node: Node, args: tuple[str, ...], types: Types, layer: str, *, float64: bool = False) -> list[str]:
    """Return the lines that construct a node's layer and set its parameters. Other forms have no such lines."""
    op = TABLE[node.op]
    row_layer = op.forms[node.form] if node.form is Form.MODULE else None
    if not isinstance(row_layer, Layer):
        return []
    attrs = dict((_in_double(node) if float64 else node).attrs)
    text = row_layer.make(types, attrs) if callable(row_layer.make) else op.fill(row_layer.make, (), attrs)
    params = zip(row_layer.params, args[row_layer.inputs :], strict=False)
    return [f"{layer} = {text}", *(f"{layer}.{param} = {arg}" for param, arg in params)]


def statements(node: Node, args: tuple[str, ...], layer: str = "", *, float64: bool = False) -> list[str]:
    """Return the Python lines that compute a node's results. `layer` is the expression of its layer, if it has one."""
    op = TABLE[node.op]
    node = _in_double(node) if float64 else node
    row_layer = op.forms[node.form] if node.form is Form.MODULE else None
    if isinstance(row_layer, Layer):
        text = op.fill(row_layer.call, args, node.attrs)
    else:
        text = op.render(args, node.attrs, node.form)
    text = text.replace("{self}", layer)
    if "{out" not in text:
        names = ", ".join(value.name for value in node.results)
        return [f"({names},) = {text}" if _returns_list_of_one(node) else f"{names} = {text}"]
    text = text.replace("{out}", node.results[0].name)
    for index, value in enumerate(node.results):
        text = text.replace(f"{{out{index}}}", value.name)
    return text.split("\n")


def _returns_list_of_one(node: Node) -> bool:
    """Whether the call returns a list although it has one result."""
    return len(node.results) == 1 and TABLE[node.op].lists


def _in_double(node: Node) -> Node:
    """Return the node with float64 in place of the other float dtypes among its attributes."""
    schema = TABLE[node.op].schema
    return replace(node, attrs={key: schema[key].in_double(value) for key, value in node.attrs.items()})


def called(graph: Graph, node: Node) -> str:
    """The function that a node's source calls, or its expression. A layer is written for numbers: those of a graph with
    symbols are the largest."""
    types = graph.bind({symbol.name: symbol.high for symbol in graph.symbols}).types if graph.symbols else graph.types
    made = constructor(node, node.args, tuple(types[name] for name in node.args), "layer")
    lines = statements(node, node.args, "layer")
    if assigned := next((line for line in lines if re.match(r"\w+\[", line)), ""):
        return assigned
    result = lines[-1].partition(" = ")[2] or lines[-1]
    source = "\n".join([*made, *lines])
    if arithmetic := _arithmetic(result):
        return arithmetic
    if found := re.search(r"\b((?:torch|F)(?:\.[A-Za-z_]\w*)+)\(", source):
        return found[1]
    methods = re.findall(r"[\w)]\.([a-z_]\w*)\(", source)
    if methods:
        return f"Tensor.{next((name for name in methods if name not in _PREPARES), methods[0])}"
    return result


_PREPARES = ("clone", "contiguous")
"""Methods that give an operand the memory that the call needs: `x.contiguous().view(2)` calls view."""


def _arithmetic(result: str) -> str:
    """An expression that is an operator of Python, such as `x / x.size(0)`; "" for calls and others."""
    try:
        expression = parse_expression(result).body
    except SyntaxError:  # a statement of several lines
        return ""
    return ast.unparse(expression) if isinstance(expression, (ast.BinOp, ast.UnaryOp, ast.Compare)) else ""
