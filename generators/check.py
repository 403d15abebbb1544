"""Validates graphs and cases that no builder made: those of files, of the reduction and of mutation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import ParamSpec, TypeVar

import numpy as np

from generators.dialect import dialect_named
from generators.dialect_names import NAMES
from generators.domain import ANY, Bounds
from generators.graph import NAME, SYMBOL, Array, Case, Form, Graph, Input, Invalid, Layout, Node, TensorType, Value
from generators.op import Layer
from generators.table import TABLE
from generators.values import holds

MAX_NUMEL = 1 << 26
MAX_RANK = 8
MAX_BINDINGS = 8


def check(case: Case) -> None:
    """Raise `Invalid`, which names the place, unless the case keeps every rule of `generators.graph`."""
    graph = case.graph
    _check_dialect(graph)
    if case.given is not None:
        dialect_named(graph.dialect).check_given(case.given.model)
    _check_symbols(case)
    _check_tensors(case, _bound_and_checked(graph, case.sizes))
    for sizes in case.also:
        _bound_and_checked(graph, sizes)


def _check_dialect(graph: Graph) -> None:
    """Check that all nodes and forms are those of the graph's dialect, and of its version."""
    if graph.dialect not in NAMES:
        raise Invalid(f"dialect {graph.dialect!r} is not known; this version reads {', '.join(map(repr, NAMES))}")
    dialect = dialect_named(graph.dialect)
    for index, node in enumerate(graph.nodes):
        if node.op not in dialect.rows() and node.op in TABLE:
            raise Invalid(f"nodes[{index}]: {node.op!r} is no operator of {graph.dialect}; `fuzz ops` lists them")
    dialect.check(graph)


def _bound_and_checked(graph: Graph, sizes: Mapping[str, int]) -> Graph:
    """Return the graph bound to these sizes, after checking that each declared type is the one that is inferred."""
    bound = graph.bind(sizes) if graph.symbols else graph
    _check_inputs(bound)
    fresh = retyped(bound)
    for index, (node, right) in enumerate(zip(bound.nodes, fresh.nodes, strict=True)):
        if node.results != right.results:
            declared, inferred = (", ".join(str(v.type) for v in n.results) for n in (node, right))
            raise Invalid(f"nodes[{index}] ({node.op}): declared as {declared}, but gives {inferred}")
    return bound


def retyped(graph: Graph) -> Graph:
    """Return the graph with every result type inferred again from the types of its inputs, which have no symbols.

    Raises `Invalid`, which names the node, where an operator refuses its operands, a name is unknown or defined twice,
    the number of results changes, or a call cannot be written in its form.
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
    fresh = replace(graph, nodes=tuple(nodes))
    _check_forms(fresh, types)
    return fresh


def _infer(node: Node, types: dict[str, TensorType]) -> tuple[Value, ...]:
    if node.op not in TABLE:
        raise Invalid(f"{node.op!r} is not in the operator table; `fuzz ops` lists it")
    for name in node.args:
        if name not in types:
            raise Invalid(f"operand {name!r} is not defined before its use")
    inferred = _applied(TABLE[node.op].results, tuple([types[name] for name in node.args]), node.attrs)
    if len(inferred) != len(node.results):
        raise Invalid(f"has {len(inferred)} results, not {len(node.results)}")
    results = tuple([Value(value.name, type) for value, type in zip(node.results, inferred, strict=True)])
    own: set[str] = set()
    for value in results:
        if value.name in own:
            raise Invalid(f"{value.name!r} is defined twice")
        _check_value(value, types)
        own.add(value.name)
    return results


_UNFORESEEN = (ArithmeticError, LookupError, MemoryError, TypeError, ValueError)

P = ParamSpec("P")
T = TypeVar("T")


def _applied(rule: Callable[P, T], *operands: P.args, **attributes: P.kwargs) -> T:
    """Apply a rule of a row to operands and attributes that no builder made. What the rule does not foresee is refused.

    A row that is drawn or mutated is asked without this: there, such an error is a defect of the row, and ends the
    test (`generators.builder`, `generators.mutate`)."""
    try:
        return rule(*operands, **attributes)
    except Invalid:
        raise
    except _UNFORESEEN as error:
        raise Invalid(f"no rule for these operands and attributes: {type(error).__name__}: {error}") from error


def _check_value(value: Value, defined: Mapping[str, TensorType]) -> None:
    if not NAME.fullmatch(value.name):
        raise Invalid(f"{value.name!r} is no name; expected lower-case letters, then digits")
    if value.name in defined:
        raise Invalid(f"{value.name!r} is defined twice")
    if value.type.rank > MAX_RANK or value.type.numel > MAX_NUMEL:
        raise Invalid(f"{value.name}: {value.type} is larger than rank {MAX_RANK} or {MAX_NUMEL} elements")
    if min(value.type.sizes, default=0) < 0:
        raise Invalid(f"{value.name}: {value.type} has a negative size")


def _check_forms(graph: Graph, types: Mapping[str, TensorType]) -> None:
    """Check that each call can be written in its form. A layer must own its parameters, and a value that is changed in
    place must have no other reader."""
    owned = {item.value.name for item in graph.inputs if item.role.is_owned}
    producers = {value.name: node for node in reversed(graph.nodes) for value in node.results}
    reads = Counter(name for node in graph.nodes for name in node.args)
    reads.update(set(graph.outputs))
    for index, node in enumerate(graph.nodes):
        if node.form is Form.PLAIN:
            continue
        op = TABLE[node.op]
        place = f"nodes[{index}] ({node.op})"
        operands = tuple([types[name] for name in node.args])
        try:
            expressed = _applied(op.expresses, node.form, operands, node.attrs)
        except Invalid as error:
            raise Invalid(f"{place}: {error}") from error
        if not expressed:
            raise Invalid(f"{place}: has no {node.form} form for these operands and attributes")
        layer = op.forms[node.form]
        if isinstance(layer, Layer) and not owned.issuperset(node.args[layer.inputs :]):
            raise Invalid(f"{place}: a layer's parameters must belong to the model")
        if node.form is Form.INPLACE and (why := _why_not_in_place(node, producers, reads, types)):
            raise Invalid(f"{place}: cannot work in place: {why}")


def _why_not_in_place(
    node: Node, producers: Mapping[str, Node], reads: Mapping[str, int], types: Mapping[str, TensorType]
) -> str | None:
    """Return why a node must not change its first operand, or None where it may. `producers` has the node of each
    result, and `reads` how often each value is an operand or an output."""
    name = node.args[0]
    if name not in producers or TABLE[producers[name].op].view:
        return f"{name} may be part of an input"
    if reads[name] > 1:
        return f"{name} is read elsewhere"
    if len(node.results) != 1 or node.results[0].type != types[name]:
        return f"{name} has another type than the result"
    return None


def _check_inputs(graph: Graph) -> None:
    defined: dict[str, TensorType] = {}
    for index, item in enumerate(graph.inputs):
        try:
            _check_value(item.value, defined)
        except Invalid as error:
            raise Invalid(f"inputs[{index}]: {error}") from None
        defined[item.value.name] = item.value.type


def _check_symbols(case: Case) -> None:
    declared = {symbol.name: symbol for symbol in case.graph.symbols}
    for name, symbol in declared.items():
        if not SYMBOL.fullmatch(name) or not 0 <= symbol.low <= symbol.high:
            raise Invalid(f"symbols: {name!r} from {symbol.low} to {symbol.high} is no dimension")
    if len(declared) < len(case.graph.symbols):
        raise Invalid("symbols: one is declared twice")
    used = {name for value in case.graph.values() for name in value.type.symbols}
    if missing := used - set(declared):
        raise Invalid(f"symbols: {', '.join(sorted(missing))} is not declared")
    if len(case.also) > MAX_BINDINGS:
        raise Invalid(f"also: more than {MAX_BINDINGS} bindings")
    for place, sizes in (("sizes", case.sizes), *((f"also[{i}]", sizes) for i, sizes in enumerate(case.also))):
        if set(sizes) != set(declared):
            raise Invalid(f"{place}: expected {sorted(declared)}, found {sorted(sizes)}")
        for name, size in sizes.items():
            low, high = declared[name].low, declared[name].high
            if not low <= size <= high:
                raise Invalid(f"{place}.{name}: {size} is not within {low} to {high}")
            if size > case.sizes[name]:
                raise Invalid(f"{place}.{name}: {size} is larger than the tensors' {case.sizes[name]}")


def _check_tensors(case: Case, bound: Graph) -> None:
    names = {item.value.name for item in bound.inputs}
    if set(case.tensors) != names:
        raise Invalid(f"tensors: expected {sorted(names)}, found {sorted(case.tensors)}")
    for item in bound.inputs:
        array, type = case.tensors[item.value.name], item.value.type
        if array.dtype != type.dtype.numpy or array.shape != type.sizes:
            raise Invalid(f"tensors: {item.value.name} is {array.dtype}{list(array.shape)}, declared as {type}")
        _check_layout(item, array)
        if item.domain != ANY:
            _check_domain(item, array)


def _check_domain(item: Input, array: Array) -> None:
    """Check that the numbers are in the input's domain, such as the indices of a dimension.

    One check covers all bindings: the tensors of the others are parts of the tensors of the largest.
    """
    domain, type = item.domain, item.value.type
    if domain.bounds is Bounds.DISTINCT and domain.axis >= type.rank:
        raise Invalid(f"tensors: {item.value.name} is {type}, which has no axis {domain.axis} to be {domain}")
    if domain.bounds in (Bounds.WITHIN, Bounds.DISTINCT) and not type.dtype.is_float:
        low, high = type.dtype.range
        if domain.low < low or domain.high > high:
            raise Invalid(f"tensors: {item.value.name} is {type.dtype}, which cannot hold all numbers {domain}")
    if not holds(array, domain):
        raise Invalid(f"tensors: {item.value.name} holds numbers that are not {domain}")


def _check_layout(item: Input, array: Array) -> None:
    if item.layout is Layout.CONTIGUOUS:
        return
    if item.role.is_owned or item.value.type.rank < 2:
        raise Invalid(f"tensors: {item.value.name} cannot be {item.layout}: only inputs of rank 2 and more can")
    if item.layout is Layout.EXPANDED and array.size and array.tobytes() != _expanded(array).tobytes():
        raise Invalid(f"tensors: {item.value.name} is expanded, but its slices differ")


def _expanded(array: Array) -> Array:
    return np.ascontiguousarray(np.broadcast_to(array[:1], array.shape))
