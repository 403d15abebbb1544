"""A graph as a module of Relax in TVMScript. Lanes parse the text that a report shows.

    @I.ir_module
    class Module:
        @R.function
        def main(x0: R.Tensor((2, 3), dtype="float32"), w0: R.Tensor((3,), dtype="float32")):

TVM infers the types of the results of main, which lanes compare with those of the graph. The parameters of main are the
inputs of the graph, then the condition of all branches where there is one, then the parameters and buffers. The names
that are added to those of the graph have an underscore, or no digit at their end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from generators.dialect import ModuleText
from generators.graph import Array, Case, Form, Graph, Node, TensorType, Value
from generators.relax.calls import INDENT, bound, call_text, indented, tensor, together
from generators.relax.functions import (
    calls_functions,
    functions,
    is_local,
    is_private,
    local_call,
    local_function,
    private_call,
    symbols_of,
)
from generators.relax.ops import TABLE
from generators.relax.packed import HELPERS, PACKED
from generators.relax.row import KernelForm

CONDITION = "cond"
"""The parameter of main that all branches read."""

OUTSIDE = (Form.BINDING, Form.BRANCH)
"""Forms of calls that are bound outside of dataflow blocks."""


_LOSING = (Form.OPEN, Form.PRIMITIVE)
"""Forms of calls of whose results TVM does not infer the sizes: match_cast gives them. For functions in main it
infers no open sizes."""


def inputs_of_module(case: Case) -> Mapping[str, Array]:
    """The arguments of main that are no parameters of the module."""
    branches = any(node.form is Form.BRANCH for node in case.graph.nodes)
    return {**case.inputs, **({CONDITION: np.array(True)} if branches else {})}


def module(graph: Graph) -> ModuleText:
    """The module, and what must be done before it is compiled."""
    forms = [TABLE[node.op].source for node in graph.nodes]
    names = [PACKED[f.how][f.name] for f in forms if isinstance(f, KernelForm) and f.how in PACKED]
    helpers = tuple(HELPERS[name].strip() for name in dict.fromkeys(names))
    return ModuleText(render(graph), any(map(is_local, graph.nodes)), helpers)


def render(graph: Graph) -> str:
    """The class Module, without imports."""
    body = "\n\n".join("\n".join(indented(lines)) for lines in (*functions(graph), _main(graph)))
    return f"@I.ir_module\nclass Module:\n{body}\n"


def text(node: Node) -> list[str]:
    """The lines of a call, for people."""
    results = ", ".join(value.name for value in node.results)
    return [f"{results} = {call_text(node, node.args)}"]


def written(node: Node) -> str:
    """How a call is written, for titles: "in If"; "" for a plain call."""
    return _WORDS.get(node.form, "")


_WORDS = {
    Form.BINDING: "outside of a dataflow block",
    Form.BRANCH: "in If",
    Form.SUBROUTINE: "in a private function",
    Form.TUPLE: "of items of a tuple",
    Form.MATCH_CAST: "after match_cast",
    Form.OPEN: "of variable sizes",
    Form.RECURSION: "in a recursive function",
    Form.PRIMITIVE: "in a private function of its sizes",
    Form.LOCAL: "in a local function",
    Form.CLOSURE: "in a closure",
    Form.TWICE: "and the same call, which nothing reads",
    Form.SAME_NAME: "of a tuple of the same name",
}


# --- functions


def _main(graph: Graph) -> list[str]:
    branches = any(node.form is Form.BRANCH for node in graph.nodes)
    own = [item.value for item in graph.inputs if not item.role.is_owned]
    owned = [item.value for item in graph.inputs if item.role.is_owned]
    params = [_param(value) for value in own]
    params += [f'{CONDITION}: R.Tensor((), dtype="bool")'] if branches else []
    params += [_param(value) for value in owned]
    returned = graph.outputs[0] if len(graph.outputs) == 1 else f"({', '.join(graph.outputs)})"
    number = len(own) + branches
    return [
        "@R.function",
        f"def main({', '.join(params)}):",
        *indented([f'R.func_attr({{"num_input": {number}}})', *symbols_of(graph), *_class_of(graph)]),
        *indented(_blocks(graph)),
        f"{INDENT}return {returned}",
    ]


def _class_of(graph: Graph) -> list[str]:
    """The name by which main calls other functions of the module, where it does."""
    return ["cls = Module"] if calls_functions(graph) else []


def _param(value: Value) -> str:
    return f"{value.name}: {tensor(value.type, named=True)}"


def _blocks(graph: Graph) -> Iterator[str]:
    """The bindings of main. Neighbours that may be in a dataflow block are in one."""
    nodes, place = list(graph.nodes), 0
    while place < len(nodes):
        if nodes[place].form in OUTSIDE:
            yield from _bindings(graph, nodes[place])
            place += 1
            continue
        end = next((i for i in range(place, len(nodes)) if nodes[i].form in OUTSIDE), len(nodes))
        block = nodes[place:end]
        left = _read_later(graph, block, nodes[end:])
        yield "with R.dataflow():"
        yield from indented(line for node in block for line in _bindings(graph, node))
        yield f"{INDENT}R.output({', '.join(left)})"
        place = end


def _read_later(graph: Graph, block: Sequence[Node], later: Sequence[Node]) -> list[str]:
    """The values of a block that are read after it. A block outputs its last value where none is."""
    read = {name for node in later for name in node.args} | set(graph.outputs)
    made = [value.name for node in block for value in node.results]
    return [name for name in made if name in read] or made[-1:]


def _bindings(graph: Graph, node: Node) -> Iterator[str]:
    """The statements that bind the results of a call in main."""
    first, args, type = node.results[0].name, list(node.args), together([tensor(v.type) for v in node.results])
    several = len(node.results) > 1
    target = f"t_{first}" if several else first
    match node.form:
        case Form.TUPLE:
            yield f"a_{first} = ({args[0]}, ({', '.join(args)},))"
            args = [f"a_{first}[1][{place}]" for place in range(len(args))]
        case Form.SAME_NAME:
            yield f"{target} = ({', '.join(args)},)"
            args = [f"{target}[{place}]" for place in range(len(args))]
        case Form.MATCH_CAST:
            yield f"m_{first} = R.match_cast({args[0]}, {tensor(graph.arg_types(node)[0])})"
            args[0] = f"m_{first}"
        case Form.OPEN:
            yield from _opened(first, args[0], graph.arg_types(node)[0])
            args[0] = f"m_{first}"
        case Form.TWICE:
            yield from bound(f"n_{first}", node, args)
        case Form.LOCAL | Form.CLOSURE:
            yield from local_function(graph, node)
    loses = node.form in _LOSING or (is_local(node) and bool(graph.symbols))
    made = f"r_{first}" if loses else target
    if is_private(node):
        yield f"{made} = {private_call(graph, node)}"
    elif is_local(node):
        yield f"{made} = {local_call(node)}"
    elif node.form is Form.BRANCH:
        lines = list(bound(made, node, args))
        yield from (f"if {CONDITION}:", *indented(lines), "else:", *indented(lines))
    else:
        yield from bound(made, node, args)
    if loses:
        yield f"{target} = R.match_cast({made}, {type})"
    if several:
        yield from (f"{value.name} = {target}[{place}]" for place, value in enumerate(node.results))


def _opened(name: str, operand: str, type: TensorType) -> Iterator[str]:
    """The statements that bind the operand again, with a variable for each of its sizes."""
    sizes = [f"{name}_{axis}" for axis in range(type.rank)]
    yield from (f"{size} = T.int64()" for size in sizes)
    shape = f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
    yield f'm_{name} = R.match_cast({operand}, R.Tensor({shape}, dtype="{type.dtype}"))'
