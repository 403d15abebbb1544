"""The functions of a module beside main, and those in main."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from generators.graph import Form, Graph, Node
from generators.relax.calls import INDENT, bound, indented, is_kernel, kernel_name, kernel_of, size, tensor, together
from generators.relax.kernels import kernel

CALLS = 2
"""How often a recursive function calls itself."""


def functions(graph: Graph) -> Iterator[list[str]]:
    """The lines of each function but main."""
    for node in graph.nodes:
        if is_kernel(node):
            yield kernel(kernel_name(node), kernel_of(node), graph.arg_types(node), node.results[0].type)
    for node in graph.nodes:
        if node.form in _PRIVATE:
            yield _PRIVATE[node.form](graph, node)


def calls_functions(graph: Graph) -> bool:
    """Whether main calls another function of the module."""
    return any(is_private(node) or is_kernel(node) for node in graph.nodes)


def is_private(node: Node) -> bool:
    """Whether a private function of the module makes the call."""
    return node.form in _PRIVATE


def symbols_of(graph: Graph) -> list[str]:
    return [f"{symbol.name} = T.int64()" for symbol in graph.symbols]


def private_call(graph: Graph, node: Node) -> str:
    """The call of the private function."""
    args = [*_sizes(graph), *node.args]
    if node.form is Form.RECURSION:
        args.insert(0, f'R.const({CALLS}, "int64")')
    if node.form is Form.PRIMITIVE:
        (type,) = graph.arg_types(node)
        args = [*(_number(each) for each in type.shape), *node.args]
    return f"cls.f_{node.results[0].name}({', '.join(args)})"


def is_local(node: Node) -> bool:
    """Whether a function in main makes the call."""
    return node.form in (Form.LOCAL, Form.CLOSURE)


def local_function(graph: Graph, node: Node) -> Iterator[str]:
    """A function in main. Its parameters are the operands, but for the first of a closure, which it captures."""
    kept = _captured(node)
    names = _names(node)[len(kept) :]
    pairs = zip(names, graph.arg_types(node)[len(kept) :], strict=True)
    params = ", ".join(f"{name}: {tensor(type)}" for name, type in pairs)
    yield "@R.function"
    yield f"def c_{node.results[0].name}({params}) -> {together([tensor(value.type) for value in node.results])}:"
    yield from indented(_body(node, [*kept, *names]))


def local_call(node: Node) -> str:
    """The call of the function in main."""
    return f"c_{node.results[0].name}({', '.join(node.args[len(_captured(node)) :])})"


def _captured(node: Node) -> tuple[str, ...]:
    return node.args[:1] if node.form is Form.CLOSURE else ()


# --- private functions


def _sizes(graph: Graph) -> list[str]:
    """The open sizes, which a private function takes as its first argument."""
    names = [symbol.name for symbol in graph.symbols]
    return [f"R.shape([{', '.join(names)}])"] if names else []


def _subroutine(graph: Graph, node: Node) -> list[str]:
    """Makes the call."""
    start = [*symbols_of(graph), *(["cls = Module"] if is_kernel(node) else [])]
    return [*_head(graph, node), *indented([*start, *_body(node, _names(node))])]


def _recursion(graph: Graph, node: Node) -> list[str]:
    """Calls itself with a smaller number until that is 0, and then makes the call."""
    again = ["less", *_sizes(graph), *_names(node)]
    lines = [
        *symbols_of(graph),
        "cls = Module",
        'more = R.greater(count, R.const(0, "int64"))',
        "if more:",
        f'{INDENT}less = R.subtract(count, R.const(1, "int64"))',
        f"{INDENT}result = cls.f_{node.results[0].name}({', '.join(again)})",
        "else:",
        *indented(bound("result", node, _names(node))),
        "return result",
    ]
    return [*_head(graph, node, 'count: R.Tensor((), dtype="int64")'), *indented(lines)]


def _primitive(graph: Graph, node: Node) -> list[str]:
    """Takes the sizes of the only operand as numbers, and makes the call for all sizes. TVM infers the result."""
    (type,) = graph.arg_types(node)
    sizes = [f"s{axis}" for axis in range(type.rank)]
    names = ", ".join(f'"{each}"' for each in sizes)  # Python evaluates annotations: no name is bound there
    shape = f"({names}{',' if type.rank == 1 else ''})"
    params = [*(f"{each}: T.int64" for each in sizes), f'a0: R.Tensor({shape}, dtype="{type.dtype}")']
    head = f"def f_{node.results[0].name}({', '.join(params)}):"
    return ["@R.function(private=True)", head, *indented(_body(node, ["a0"]))]


def _number(dim: object) -> str:
    """A size as an argument: a number needs its dtype."""
    return f"T.int64({dim})" if isinstance(dim, int) else size(dim)


def _names(node: Node) -> list[str]:
    """The names of parameters. They are those of all other functions."""
    return [f"a{place}" for place in range(len(node.args))]


def _head(graph: Graph, node: Node, *more: str) -> list[str]:
    """The first lines of a private function."""
    pairs = zip(_names(node), graph.arg_types(node), strict=True)
    params = [f"{name}: {tensor(type, named=True)}" for name, type in pairs]
    if graph.symbols:
        open_sizes = ", ".join(f'"{symbol.name}"' for symbol in graph.symbols)
        params.insert(0, f"sizes: R.Shape([{open_sizes}])")
    types = [tensor(value.type, named=True) for value in node.results]
    head = f"def f_{node.results[0].name}({', '.join([*more, *params])}) -> {together(types)}:"
    return ["@R.function(private=True)", head]


def _body(node: Node, names: Sequence[str]) -> Iterator[str]:
    """The call in a dataflow block."""
    yield "with R.dataflow():"
    yield from indented(bound("result", node, names))
    yield f"{INDENT}R.output(result)"
    yield "return result"


_PRIVATE: Mapping[Form, Callable[[Graph, Node], list[str]]] = {
    Form.SUBROUTINE: _subroutine,
    Form.RECURSION: _recursion,
    Form.PRIMITIVE: _primitive,
}
