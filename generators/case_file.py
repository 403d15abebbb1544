"""A case on disk: `case.json` for the graph, `tensors.safetensors` for the values. Both are checked when read.

Nothing in a file is ever executed. Every field is validated against the document types below, then by `check`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import safetensors
import safetensors.numpy

from generators.check import check
from generators.graph import Attr, Attrs, Case, Domain, Graph, Input, Invalid, Node, Role, Scalar, TensorType, Value

FORMAT = 1
JSON_NAME = "case.json"
TENSORS_NAME = "tensors.safetensors"


class InputDoc(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    type: str
    role: Role
    domain: Domain


class NodeDoc(msgspec.Struct, forbid_unknown_fields=True):
    op: str
    args: list[str]
    attrs: dict[str, Any]
    results: dict[str, str]


class CaseDoc(msgspec.Struct, forbid_unknown_fields=True):
    format: int
    dialect: str
    inputs: list[InputDoc]
    nodes: list[NodeDoc]
    outputs: list[str]
    sizes: dict[str, int]
    origin: str


def encode(case: Case) -> tuple[bytes, bytes]:
    """The two files' contents; equal cases give equal bytes."""
    graph = case.graph
    doc = CaseDoc(
        FORMAT,
        graph.dialect,
        [InputDoc(i.value.name, str(i.value.type), i.role, i.domain) for i in graph.inputs],
        [
            NodeDoc(n.op, list(n.args), dict(sorted(n.attrs.items())), {v.name: str(v.type) for v in n.results})
            for n in graph.nodes
        ],
        list(graph.outputs),
        dict(sorted(case.sizes.items())),
        case.origin,
    )
    tensors = {name: np.ascontiguousarray(array) for name, array in sorted(case.tensors.items())}
    # ascontiguousarray makes 1-d of 0-d; reshape restores it
    tensors = {name: array.reshape(case.tensors[name].shape) for name, array in tensors.items()}
    return msgspec.json.format(msgspec.json.encode(doc), indent=1) + b"\n", safetensors.numpy.save(tensors)


def decode(text: bytes, tensors: bytes, where: str = "case") -> Case:
    """Raise `Invalid` with one line that says what is wrong and where."""
    try:
        doc = msgspec.json.decode(text, type=CaseDoc)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"{where}/{JSON_NAME}: {_one_line(error)}") from None
    if doc.format != FORMAT:
        raise Invalid(f"{where}/{JSON_NAME}: format {doc.format} is not known; this version reads {FORMAT}")
    try:
        arrays = safetensors.numpy.load(tensors)
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise Invalid(f"{where}/{TENSORS_NAME}: {_one_line(error)}") from None
    try:
        case = Case(_graph(doc), arrays, doc.sizes, doc.origin)
        check(case)
    except Invalid as error:
        raise Invalid(f"{where}/{JSON_NAME}: {_one_line(error)}") from None
    return case


def read(folder: Path) -> Case:
    contents = []
    for name in (JSON_NAME, TENSORS_NAME):
        try:
            contents.append((folder / name).read_bytes())
        except OSError as error:
            raise Invalid(f"{folder / name}: {error.strerror}") from None
    return decode(contents[0], contents[1], str(folder))


def digest(case: Case) -> str:
    """SHA-256 of graph and values; the origin does not count."""
    text, tensors = encode(Case(case.graph, case.tensors, case.sizes))
    return hashlib.sha256(text + tensors).hexdigest()


def _graph(doc: CaseDoc) -> Graph:
    inputs = tuple(Input(Value(i.name, TensorType.parse(i.type)), i.role, i.domain) for i in doc.inputs)
    nodes = []
    for index, node in enumerate(doc.nodes):
        try:
            results = tuple(Value(name, TensorType.parse(type)) for name, type in node.results.items())
            nodes.append(Node(node.op, tuple(node.args), _attrs(node.attrs), results))
        except Invalid as error:
            raise Invalid(f"nodes[{index}] ({node.op}): {error}") from None
    return Graph(inputs, tuple(nodes), tuple(doc.outputs), doc.dialect)


def _attrs(raw: dict[str, Any]) -> Attrs:
    return {key: _attr(value, key) for key, value in raw.items()}


def _attr(value: Any, key: str) -> Attr:
    return tuple(_scalar(item, key) for item in value) if isinstance(value, list) else _scalar(value, key)


def _scalar(value: Any, key: str) -> Scalar:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise Invalid(f"attribute {key} is no number, text or list of them")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
