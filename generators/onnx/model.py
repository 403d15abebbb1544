"""An ONNX file as plain data: the file of a graph of ONNX (`generators.onnx.source`), or one that a lane read.

A child sends it, and a report builds the file from it. The form is JSON, with numbers as bytes. It is decoded strictly
and within bounds, because a compiler bug may have corrupted the process that sent it. Files with sparse tensors cannot
be described. This module loads no compiler.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from keyword import iskeyword
from typing import Literal

import ml_dtypes
import msgspec
import numpy as np

from generators.graph import Array, Invalid
from generators.onnx.small_types import SMALL_TYPES
from generators.text_forms import SHORT_TEXT, TEXT, Forms, faults, form

MAX_BYTES = 4 << 20
"""Larger files are not described: a report would not show them."""

ELEMENTS = {
    "FLOAT": np.dtype("float32"),
    "DOUBLE": np.dtype("float64"),
    "FLOAT16": np.dtype("float16"),
    "BFLOAT16": np.dtype(ml_dtypes.bfloat16),
    "BOOL": np.dtype("bool"),
    **{f"{sign}INT{bits}": np.dtype(f"{sign.lower()}int{bits}") for sign in ("", "U") for bits in (8, 16, 32, 64)},
}
"""The names of onnx.TensorProto's element types that are dtypes of cases, and their numpy types."""

MOST_RANK = 64
"""The most dimensions of an array of numpy."""

Element = Literal[
    "FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16", "BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32",
    "UINT64", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "FLOAT8E8M0", "FLOAT6E2M3",
    "FLOAT6E3M2", "FLOAT4E2M1", "INT4", "UINT4", "INT2", "UINT2",
]  # fmt: skip
"""Those of cases, and the small ones (`generators.onnx.small_types`)."""


class Tensor(msgspec.Struct, forbid_unknown_fields=True):
    """A constant. `data` are the bytes of the elements, in C order. Each takes at least a byte."""

    element: Element
    shape: tuple[int, ...]
    data: bytes

    @property
    def array(self) -> Array:
        small = SMALL_TYPES.get(self.element)
        return np.frombuffer(self.data, small.numpy if small else ELEMENTS[self.element]).reshape(self.shape)


class Attribute(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """An attribute of a node: `tensor` or `body` where one is set, else `value`. Floats are finite."""

    name: str
    value: int | float | str | tuple[int | float | str, ...] = 0
    tensor: Tensor | None = None
    body: Body | None = None


class Node(msgspec.Struct, forbid_unknown_fields=True):
    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[Attribute, ...] = ()
    name: str = ""
    domain: str = ""


class Body(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A subgraph, such as a branch of an If or the body of a Loop. It reads values of the graph around it, too."""

    nodes: tuple[Node, ...]
    outputs: tuple[Value, ...]
    inputs: tuple[Value, ...] = ()
    initializers: dict[str, Tensor] = {}


class Function(msgspec.Struct, forbid_unknown_fields=True):
    """A function of the model, which a node of its domain and name calls."""

    name: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    opsets: dict[str, int]


class Value(msgspec.Struct, forbid_unknown_fields=True):
    """An input or output. A dimension is None where it has neither a size nor a name. `element` and `shape` are None
    where the file does not say them, as for many values of subgraphs."""

    name: str
    element: Element | None
    shape: tuple[int | str | None, ...] | None


class OnnxModel(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A file. `opsets` are the versions of the domains; the domain "" is ONNX's own."""

    ir_version: int
    opsets: dict[str, int]
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    nodes: tuple[Node, ...]
    initializers: dict[str, Tensor]
    functions: tuple[Function, ...] = ()

    @property
    def ops(self) -> tuple[str, ...]:
        return tuple(node.op for node in self.nodes)


FORMS: Forms = {
    (Attribute, "name"): form(r"[A-Za-z_]\w{0,99}", "is no name of an attribute"),
    (Attribute, "value"): TEXT,
    **{(Node, name): SHORT_TEXT for name in ("op", "inputs", "outputs", "name", "domain")},
    **{(Function, name): SHORT_TEXT for name in ("name", "domain", "inputs", "outputs", "opsets")},
    **{(Value, name): SHORT_TEXT for name in ("name", "shape")},
    (Value, "element"): SHORT_TEXT,
    (Tensor, "element"): SHORT_TEXT,  # `Element` lists them
    **{(OnnxModel, name): SHORT_TEXT for name in ("opsets", "initializers")},
    (Body, "initializers"): SHORT_TEXT,
}
"""The form of each text of a file. Its names may have any character: an exporter chooses them."""

_ARGUMENTS = frozenset({"op_type", "inputs", "outputs", "name", "doc_string", "domain", "overload"})


def encode(model: OnnxModel) -> bytes:
    return msgspec.json.encode(model)


def decode(text: bytes, where: str) -> OnnxModel:
    """Raise `Invalid` with one line that describes what is wrong in `where`."""
    if len(text) > 2 * MAX_BYTES:
        raise Invalid(f"{where}: {len(text)} bytes, more than a description may have")
    try:
        model = msgspec.json.decode(text, type=OnnxModel)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"{where}: {error}") from None
    if reason := next(faults(model, FORMS), None):
        raise Invalid(f"{where}: {reason}")
    for tensor in model.initializers.values():
        require_array(tensor, where)
    require_attributes(all_nodes(model), where)
    return model


def require_attributes(nodes: Iterable[Node], where: str) -> None:
    """Raise `Invalid` where attributes have names that scripts cannot write, or tensors that are no arrays."""
    for node in nodes:  # scripts have attributes as arguments of onnx.helper.make_node, beside its own
        names = [each.name for each in node.attributes]
        if unfit := [name for name in names if iskeyword(name) or name in _ARGUMENTS or names.count(name) > 1]:
            raise Invalid(f"{where}: {unfit[0][:60]!r} is no name of an attribute, or that of two")
        for each in node.attributes:
            for tensor in (
                *([each.tensor] if each.tensor else []),
                *(each.body.initializers.values() if each.body else ()),
            ):
                require_array(tensor, where)


def all_nodes(model: OnnxModel) -> Iterator[Node]:
    """The nodes of the model, of its functions and of subgraphs, to any depth."""
    yield from with_inner((*model.nodes, *(node for function in model.functions for node in function.nodes)))


def with_inner(nodes: Iterable[Node]) -> Iterator[Node]:
    """The nodes and those of their subgraphs, to any depth."""
    rest = list(nodes)
    while rest:
        node = rest.pop()
        yield node
        rest += [inner for each in node.attributes if each.body for inner in each.body.nodes]


def require_array(tensor: Tensor, where: str) -> None:
    """Raise `Invalid` where the bytes do not fit the shape, or numpy has no array of it."""
    try:
        if min(tensor.shape, default=0) >= 0:  # numpy computes a negative size
            _ = tensor.array
            return
    except (ValueError, OverflowError):
        pass
    raise Invalid(f"{where}: {len(tensor.data)} bytes for {tensor.element}{list(tensor.shape)[:MOST_RANK]}")
