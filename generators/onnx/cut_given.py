"""A part of a given file of ONNX: its nodes between some of its values. The numbers of fields are those of onnx.proto3.

The file is cut without the onnx package, whose C++ this process does not load.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from generators.graph import Input, Invalid, Role, TensorType
from generators.onnx.source import NUMBER_OF, element
from generators.onnx.wire import VARINT, Field, fields, of, texts, written

GRAPH, FUNCTION = 7, 25
"""The fields of a model that are read."""
NODE, INITIALIZER, INPUT, OUTPUT, VALUE_INFO = 1, 5, 11, 12, 13
"""Those of a graph. It has its name and its text in other fields."""
READS, MAKES, OP_TYPE, ATTRIBUTE = 1, 2, 4, 5
"""Those of a node."""
BODY, BODIES = 6, 11
"""Those of an attribute that has graphs."""
VALUE_NAME, TENSOR_NAME = 1, 8
NUMBERS = frozenset((4, 5, 7, 9, 10, 11))
"""Those in which a tensor has its numbers."""
FUNCTION_NAME, FUNCTION_NODE = 1, 7
MOST_DEPTH = 60


class _Node(NamedTuple):
    """`reads` are its inputs, and what graphs inside of it read, which may be values of theirs."""

    field: Field
    op: str
    reads: tuple[str, ...]
    makes: tuple[str, ...]


def cut_given(
    model: bytes, inputs: Mapping[str, Input], outputs: Mapping[str, TensorType]
) -> tuple[bytes, tuple[str, ...]]:
    """Return the file that takes `inputs` and returns `outputs`, both by the names of the file and in this order, and
    the names of further inputs and initializers of the file that it reads. It takes these last. Constants stay in it:
    initializers whose numbers the file has, nodes Constant, and what is inside of functions. Raise `Invalid` where it
    has no such part."""
    file = fields(model)
    graph = [each for field in of(GRAPH, file) for each in fields(field.message)]
    nodes = [_node(field) for field in of(NODE, graph)]
    makers = {name for node in nodes for name in node.makes}
    owned = {_name(field, TENSOR_NAME): field for field in of(INITIALIZER, graph)}
    takes = {_name(field, VALUE_NAME): field for field in of(INPUT, graph)}
    there = makers | owned.keys() | takes.keys()
    inputs = {name: item for name, item in inputs.items() if name in there or not item.role.is_owned}
    if missing := [name for name in (*inputs, *outputs) if name not in there]:
        raise Invalid(f"the file has no value {missing[0]!r}")
    if both := [name for name in outputs if name in inputs]:
        raise Invalid(f"the part returns its input {both[0]!r}")
    constants = {name for node in nodes if node.op == "Constant" for name in node.makes}  # they stay as they are
    inputs = {name: item for name, item in inputs.items() if name not in constants}
    kept = _needed(nodes, inputs, outputs)
    read = dict.fromkeys(name for node in kept for name in node.reads)
    kept_numbers = {name for name, field in owned.items() if name not in takes and _has_numbers(field)}
    further = [name for name in read if name not in inputs and (name in takes or name in owned)]
    taken = tuple(name for name in further if name not in kept_numbers)
    known = {_name(field, VALUE_NAME): field for number in (OUTPUT, VALUE_INFO) for field in of(number, graph)}
    parts = [field for field in graph if field.number not in (NODE, INITIALIZER, INPUT, OUTPUT, VALUE_INFO)]
    parts += (node.field for node in kept)
    parts += (owned.get(name) or _tensor(name, item) for name, item in inputs.items() if item.role.is_owned)
    parts += (owned[name] for name in further if name in owned)
    arguments = [name for name, item in inputs.items() if not item.role.is_owned]
    parts += (takes.get(name) or Field(INPUT, _value(name, inputs[name].value.type)) for name in arguments)
    parts += (takes[name] for name in taken if name in takes)
    parts += (Field(OUTPUT, known[n].message if n in known else _value(n, type)) for n, type in outputs.items())
    inner = {name for node in kept for name in node.makes if name not in outputs}
    parts += (field for field in of(VALUE_INFO, graph) if _name(field, VALUE_NAME) in inner)
    functions = _called(file, [node.field for node in kept])
    whole = [field for field in file if field.number not in (GRAPH, FUNCTION)]
    return written([*whole, Field(GRAPH, written(parts)), *functions]), taken


def _needed(nodes: Sequence[_Node], given: Mapping[str, Input], wanted: Iterable[str]) -> list[_Node]:
    """The nodes that compute the wanted values from the given ones, in order."""
    needed, found = set(wanted), []
    for node in reversed(nodes):
        if not needed.isdisjoint(node.makes):
            found.append(node)
            needed.update(name for name in node.reads if name not in given)
    return found[::-1]


def _has_numbers(tensor: Field) -> bool:
    return any(field.number in NUMBERS for field in fields(tensor.message))


def _node(field: Field) -> _Node:
    found = fields(field.message)
    inside = (name for attribute in of(ATTRIBUTE, found) for name in _read_inside(attribute, 0))
    reads, makes = (*texts(READS, found), *inside), texts(MAKES, found)
    return _Node(field, _text(OP_TYPE, found), tuple(filter(None, reads)), tuple(filter(None, makes)))


def _read_inside(attribute: Field, depth: int) -> Iterator[str]:
    """What the nodes and results of graphs in an attribute name."""
    if depth > MOST_DEPTH:
        raise Invalid(f"given: its graphs are more than {MOST_DEPTH} deep")
    parts = fields(attribute.message)
    for body in (*of(BODY, parts), *of(BODIES, parts)):
        graph = fields(body.message)
        yield from (_name(field, VALUE_NAME) for field in of(OUTPUT, graph))
        for field in of(NODE, graph):
            node = fields(field.message)
            yield from texts(READS, node)
            for each in of(ATTRIBUTE, node):
                yield from _read_inside(each, depth + 1)


def _called(file: Sequence[Field], nodes: Sequence[Field]) -> list[Field]:
    """The functions of the file that these nodes call, and those that these functions call."""
    functions = list(of(FUNCTION, file))
    waiting, called = list(nodes), set[str]()
    while waiting:
        names = {name for node in waiting for name in _operators(node, 0)} - called
        called |= names
        found = [fields(each.message) for each in functions if _name(each, FUNCTION_NAME) in names]
        waiting = [node for each in found for node in of(FUNCTION_NODE, each)]
    return [each for each in functions if _name(each, FUNCTION_NAME) in called]


def _operators(node: Field, depth: int) -> Iterator[str]:
    """The operator of a node, and those of the graphs inside of it."""
    if depth > MOST_DEPTH:
        raise Invalid(f"given: its graphs are more than {MOST_DEPTH} deep")
    found = fields(node.message)
    yield from texts(OP_TYPE, found)
    for attribute in of(ATTRIBUTE, found):
        parts = fields(attribute.message)
        for body in (*of(BODY, parts), *of(BODIES, parts)):
            for each in of(NODE, fields(body.message)):
                yield from _operators(each, depth + 1)


def _name(field: Field, number: int) -> str:
    return _text(number, fields(field.message))


def _text(number: int, found: Sequence[Field]) -> str:
    return next(iter(texts(number, found)), "")


def _value(name: str, type: TensorType) -> bytes:
    """A ValueInfoProto."""
    sizes = [Field(1, written([Field(1, size, VARINT)])) for size in type.sizes]
    tensor = [Field(1, NUMBER_OF[element(type.dtype)], VARINT), Field(2, written(sizes))]
    return written([Field(VALUE_NAME, name.encode()), Field(2, written([Field(1, written(tensor))]))])


def _tensor(name: str, item: Input) -> Field:
    """An initializer without numbers: the case has them."""
    assert item.role is not Role.INPUT
    type = item.value.type
    dims = [Field(1, size, VARINT) for size in type.sizes]
    dtype = Field(2, NUMBER_OF[element(type.dtype)], VARINT)
    return Field(INITIALIZER, written([*dims, dtype, Field(TENSOR_NAME, name.encode())]))
