"""The one gate for graphs that come from outside: files, reducers, mutators."""

from __future__ import annotations

from dataclasses import replace

from generators.graph import NAME, Case, Graph, Invalid, Node, Sym, TensorType, Value
from generators.ops import TABLE

MAX_NUMEL = 1 << 26
MAX_RANK = 8


def check(case: Case) -> None:
    """Raise `Invalid`, naming the place, unless `case` keeps every rule of `generators.graph`."""
    graph = case.graph
    if graph.dialect != "torch":
        raise Invalid(f"dialect {graph.dialect!r} is not known; this version reads 'torch'")
    _check_symbols(case)
    bound = case.bound
    _check_inputs(bound)
    fresh = retyped(bound)
    for index, (node, right) in enumerate(zip(bound.nodes, fresh.nodes, strict=True)):
        if node.results != right.results:
            declared, inferred = (", ".join(str(v.type) for v in n.results) for n in (node, right))
            raise Invalid(f"nodes[{index}] ({node.op}): declared as {declared}, but gives {inferred}")
    _check_tensors(case, bound)


def retyped(graph: Graph) -> Graph:
    """The graph with every result type inferred afresh from its inputs' types.

    What reducers call after a change. Raises `Invalid`, naming the node, where an operator refuses its operands, a name
    is unknown or defined twice, or the number of results changes.
    """
    types: dict[str, TensorType] = {item.value.name: item.value.type for item in graph.inputs}
    nodes: list[Node] = []
    for index, node in enumerate(graph.nodes):
        try:
            results = _infer(node, types)
        except Invalid as error:
            raise Invalid(f"nodes[{index}] ({node.op}): {error}") from None
        for value in results:
            types[value.name] = value.type
        nodes.append(replace(node, results=results))
    if not graph.outputs:
        raise Invalid("outputs: a graph needs at least one")
    for index, name in enumerate(graph.outputs):
        if name not in types:
            raise Invalid(f"outputs[{index}]: no value is called {name!r}")
    return replace(graph, nodes=tuple(nodes))


def _infer(node: Node, types: dict[str, TensorType]) -> tuple[Value, ...]:
    if node.op not in TABLE:
        raise Invalid(f"{node.op!r} is not in the operator table; `fuzz ops` lists it")
    for name in node.args:
        if name not in types:
            raise Invalid(f"operand {name!r} is not defined before its use")
    inferred = TABLE[node.op].results(tuple(types[name] for name in node.args), node.attrs)
    if len(inferred) != len(node.results):
        raise Invalid(f"has {len(inferred)} results, not {len(node.results)}")
    results = tuple(Value(value.name, type) for value, type in zip(node.results, inferred, strict=True))
    taken = dict(types)
    for value in results:
        _check_value(value, taken)
        taken[value.name] = value.type
    return results


def _check_value(value: Value, taken: dict[str, TensorType]) -> None:
    if not NAME.fullmatch(value.name):
        raise Invalid(f"{value.name!r} is no name; expected lower-case letters, then digits")
    if value.name in taken:
        raise Invalid(f"{value.name!r} is defined twice")
    if value.type.rank > MAX_RANK or value.type.numel > MAX_NUMEL:
        raise Invalid(f"{value.name}: {value.type} is larger than rank {MAX_RANK} or {MAX_NUMEL} elements")


def _check_inputs(graph: Graph) -> None:
    seen: dict[str, TensorType] = {}
    for index, item in enumerate(graph.inputs):
        try:
            _check_value(item.value, seen)
        except Invalid as error:
            raise Invalid(f"inputs[{index}]: {error}") from None
        seen[item.value.name] = item.value.type


def _check_symbols(case: Case) -> None:
    used = {dim.name for value in case.graph.values() for dim in value.type.shape if isinstance(dim, Sym)}
    if missing := used - set(case.sizes):
        raise Invalid(f"sizes: nothing binds {', '.join(sorted(missing))}")
    for name, size in case.sizes.items():
        if name not in used:
            raise Invalid(f"sizes.{name}: no dimension is called so")
        if size < 0:
            raise Invalid(f"sizes.{name}: {size} is negative")


def _check_tensors(case: Case, bound: Graph) -> None:
    names = {item.value.name for item in bound.inputs}
    if set(case.tensors) != names:
        raise Invalid(f"tensors: expected {sorted(names)}, found {sorted(case.tensors)}")
    for item in bound.inputs:
        array, type = case.tensors[item.value.name], item.value.type
        if array.dtype != type.dtype.numpy or array.shape != type.sizes:
            raise Invalid(f"tensors: {item.value.name} is {array.dtype}{list(array.shape)}, declared as {type}")
