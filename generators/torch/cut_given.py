"""A part of a given program of PyTorch: the JSON document of torch.export between some of its values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from generators.graph import Input, Invalid, TensorType
from generators.torch.given import DTYPE_CODES, is_tree
from generators.torch.in_place import Document, copy_of, in_order, names_in, with_copies

_OWNED = ("parameter", "buffer", "tensor_constant")
_VALUES = ("tensor_values", "sym_int_values", "sym_bool_values", "sym_float_values")


def cut_given(
    model: bytes, inputs: Mapping[str, Input], outputs: Mapping[str, TensorType]
) -> tuple[bytes, tuple[str, ...]]:
    """Return the document of a program that takes `inputs` and returns `outputs`, both by the names of the program and
    in this order, and the names of further inputs, parameters and buffers of the program that it reads. It takes these
    last. What the program changes in place is a value of its own after that; a copy is changed where the part takes or
    returns the value before. Raise `Invalid` where it has no such part."""
    try:
        return _cut(msgspec.json.decode(model), inputs, outputs)
    except (msgspec.DecodeError, LookupError, TypeError, AttributeError) as error:
        raise Invalid(f"given: it is no document of a program: {type(error).__name__}") from None


def _cut(
    document: dict[str, Any], inputs: Mapping[str, Input], outputs: Mapping[str, TensorType]
) -> tuple[bytes, tuple[str, ...]]:
    module: Document = document["graph_module"]
    graph: Document = module["graph"]
    if missing := [name for name in (*inputs, *outputs) if name not in graph["tensor_values"]]:
        raise Invalid(f"the program has no value {missing[0]!r}")
    types = {**{name: item.value.type for name, item in inputs.items()}, **outputs}
    if other := [
        name for name, type in types.items() if DTYPE_CODES[type.dtype] != graph["tensor_values"][name]["dtype"]
    ]:
        raise Invalid(f"the program has another dtype for {other[0]!r}")
    order = in_order(graph["nodes"])
    nodes = _needed(order.nodes, set(inputs), set(outputs))
    made = {name for node in nodes for name in names_in(node["outputs"])}
    read = dict.fromkeys((*(name for node in nodes for name in names_in(node["inputs"])), *outputs))
    taken = tuple(name for name in read if name not in made and name not in inputs)
    specs = _input_specs(module["signature"]["input_specs"], inputs, taken)
    part = dict(graph)
    part["nodes"], copied = with_copies(order, nodes, {*inputs, *taken, *outputs})
    part["inputs"] = [{"as_tensor": {"name": _name_of(spec)}} for spec in specs]
    part["outputs"] = [{"as_tensor": {"name": name}} for name in outputs]
    known = made | set(inputs) | set(taken)
    for key in _VALUES:
        part[key] = {name: value for name, value in graph[key].items() if name in known}
    part["tensor_values"] |= {name: _contiguous(part["tensor_values"][name]) for name in inputs}
    part["tensor_values"] |= {copy_of(name): part["tensor_values"][name] for name in copied}
    given = {
        "input_specs": specs,
        "output_specs": [{"user_output": {"arg": argument}} for argument in part["outputs"]],
    }
    calls = [_call(sum("user_input" in spec for spec in specs), len(outputs))]
    document["graph_module"] = {**module, "graph": part, "signature": given, "module_call_graph": calls}
    return msgspec.json.encode(document), taken


def for_lanes(document: Document) -> Document:
    """The document of a program as lanes call it: it returns its tensors alone, and takes and returns plain containers.
    Raise `Invalid` where it is no such document."""
    try:
        return _with_plain_trees(_with_tensors_alone(document))
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise Invalid(f"given: it is no document of a program: {type(error).__name__}") from None


def _with_tensors_alone(document: Document) -> Document:
    """The document of a program without its results that are no tensors, such as `x.shape[0]` or None."""
    module: Document = document["graph_module"]
    given, graph = module["signature"], module["graph"]
    kept = [_is_tensor(spec) for spec in given["output_specs"]]
    if all(kept):
        return document
    specs, outputs = (
        [each for each, is_kept in zip(listed, kept, strict=True) if is_kept]
        for listed in (given["output_specs"], graph["outputs"])
    )
    first, *others = module["module_call_graph"]
    _, gives = _flat(0, sum("user_output" in spec for spec in specs))
    calls = [{**first, "signature": {**first["signature"], "out_spec": gives}}, *others]
    changed = {"graph": {**graph, "outputs": outputs}, "signature": {**given, "output_specs": specs}}
    return {**document, "graph_module": {**module, **changed, "module_call_graph": calls}}


def _with_plain_trees(document: Document) -> Document:
    """The document of a program that takes and returns plain tuples where it has containers of other classes, such as
    data classes that its author registered."""
    module: Document = document["graph_module"]
    first, *others = module["module_call_graph"]
    given, own = module["signature"], first["signature"]
    takes, gives = _flat(
        sum("user_input" in spec or "constant_input" in spec for spec in given["input_specs"]),
        sum("user_output" in spec for spec in given["output_specs"]),
    )
    changed = {} if is_tree(own["in_spec"]) else {"in_spec": takes, "forward_arg_names": None}
    changed |= {} if is_tree(own["out_spec"]) else {"out_spec": gives}
    calls = [{**first, "signature": {**own, **changed}}, *others]
    return {**document, "graph_module": {**module, "module_call_graph": calls}}


def _is_tensor(spec: Document) -> bool:
    """Whether it is a tensor, or no result at all, such as the new value of a buffer."""
    return "user_output" not in spec or "as_tensor" in spec["user_output"]["arg"]


def _needed(nodes: Sequence[Document], given: set[str], wanted: set[str]) -> list[Document]:
    """The nodes that compute the wanted values from the given ones, in order."""
    found = []
    needed = wanted - given
    for node in reversed(nodes):
        if not needed.isdisjoint(names_in(node["outputs"])):
            found.append(node)
            needed.update(name for name in names_in(node["inputs"]) if name not in given)
    return found[::-1]


def _input_specs(specs: Sequence[Document], inputs: Mapping[str, Input], taken: Sequence[str]) -> list[Document]:
    """What the program owns, and then what it is given."""
    owned = {_name_of(spec): spec for spec in specs if any(key in spec for key in _OWNED)}
    names = (*inputs, *taken)
    if unknown := [name for name in taken if name not in {_name_of(spec) for spec in specs}]:
        raise Invalid(f"the part reads {unknown[0]!r}, which is no input")
    own = [owned[name] for name in names if name in owned]
    return [*own, *({"user_input": {"arg": {"as_tensor": {"name": name}}}} for name in names if name not in owned)]


def _name_of(spec: Document) -> str:
    """The name of a tensor that the program takes or owns; "" of another value."""
    return next(iter(names_in(spec)), "")


def _contiguous(meta: Document) -> Document:
    """The type of a tensor that is given in the usual order of its elements."""
    sizes = [size.get("as_int") for size in meta["sizes"]]
    if None in sizes:
        return meta
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append({"as_int": step})
        step *= max(size, 1)
    return {**meta, "strides": strides[::-1], "storage_offset": {"as_int": 0}}


def _call(inputs: int, outputs: int) -> Document:
    """How the program is called: with tensors in a row; it returns a tuple."""
    takes, gives = _flat(inputs, outputs)
    return {"fqn": "", "signature": {"inputs": [], "outputs": [], "in_spec": takes, "out_spec": gives}}


def _flat(inputs: int, outputs: int) -> tuple[str, str]:
    """The containers of the values that a program takes in a row, and of those that it returns in a tuple."""
    empty = _tree("builtins.dict", "[]", ())
    takes = _tree("builtins.tuple", "null", (_tree("builtins.tuple", "null", [_LEAF] * inputs), empty))
    return _written(takes), _written(_tree("builtins.tuple", "null", [_LEAF] * outputs))


def _written(tree: Document) -> str:
    return msgspec.json.encode([1, tree]).decode()


def _tree(type: str, context: str, children: Iterable[Document]) -> Document:
    return {"type": type, "context": context, "children_spec": list(children)}


_LEAF: Document = {"type": None, "context": None, "children_spec": []}
