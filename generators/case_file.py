"""Writes and reads a case as `case.json` (the graph) and `tensors.safetensors` (the values).

Nothing in these files is executed. Every field is validated against the document types below, then by `check`.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from generators.graph import (
    SMALL_DTYPES,
    Array,
    Attr,
    Attrs,
    Case,
    Domain,
    Form,
    Given,
    Graph,
    Input,
    Invalid,
    Layout,
    Node,
    Profile,
    Role,
    Scalar,
    Symbol,
    TensorType,
    Value,
)
from generators.plain_file import MOST_DOCUMENT, MOST_TENSORS, read_plain

FORMAT = 2
JSON_NAME = "case.json"
TENSORS_NAME = "tensors.safetensors"
MOST_PARTS = 10_000
"""The most inputs, nodes, outputs, operands of a node, elements of an attribute and so on. Cases of campaigns have up
to eight nodes, those cut from real models have some hundred, and a whole model has up to 5,000
(`fuzzer.seeds.onnx.whole_model`)."""

GIVEN = "given"
"""The name under which the second file has the bytes of a given model. No value of a graph has it: it has no digit."""

MOST_SIZE = 10**10
MOST_ORIGIN = 1000
"""The most characters of the text that says where a case comes from."""


class InputDoc(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    name: str
    type: str
    role: Role
    domain: str = "any"
    layout: Layout = Layout.CONTIGUOUS


class NodeDoc(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    op: str
    args: list[str]
    attrs: dict[str, Any]
    results: dict[str, str]
    form: Form = Form.PLAIN


class SymbolDoc(msgspec.Struct, forbid_unknown_fields=True):
    low: int
    high: int


class GivenDoc(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A given model without its bytes, which are a tensor of the other file."""

    names: dict[str, str]
    open: bool = False
    made: dict[str, str] = {}
    small: dict[str, str] = {}


class CaseDoc(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    format: int
    dialect: str
    inputs: list[InputDoc]
    nodes: list[NodeDoc]
    outputs: list[str]
    opset: int = 0
    symbols: dict[str, SymbolDoc] = {}
    sizes: dict[str, int] = {}
    also: list[dict[str, int]] = []
    profile: Profile = Profile.NORMAL
    origin: str = ""
    given: GivenDoc | None = None


def encode(case: Case) -> tuple[bytes, bytes]:
    """Return the contents of the two files. Equal cases give equal bytes."""
    from generators import tensors_file  # imports numpy, as in `decode`

    graph = case.graph
    doc = CaseDoc(
        FORMAT,
        graph.dialect,
        [InputDoc(i.value.name, str(i.value.type), i.role, str(i.domain), i.layout) for i in graph.inputs],
        [
            NodeDoc(n.op, list(n.args), dict(sorted(n.attrs.items())), {v.name: str(v.type) for v in n.results}, n.form)
            for n in graph.nodes
        ],
        list(graph.outputs),
        graph.opset,
        {symbol.name: SymbolDoc(symbol.low, symbol.high) for symbol in graph.symbols},
        dict(sorted(case.sizes.items())),
        [dict(sorted(sizes.items())) for sizes in case.also],
        case.profile,
        case.origin,
        _given_doc(case.given) if case.given else None,
    )
    numbers = dict(case.tensors) | tensors_file.of_bytes(GIVEN, case.given.model if case.given else None)
    return msgspec.json.format(msgspec.json.encode(doc), indent=1) + b"\n", tensors_file.encode(numbers)


def decode(text: bytes, tensors: bytes, where: str = "case") -> Case:
    """Return the case that the contents of the two files describe. Raise `Invalid` with a message of one line that
    names the fault and its place; `where` is the folder's name in it."""
    # these import numpy and all operators, which takes 130 ms: commands that read no case need not wait
    from generators import tensors_file
    from generators.check import check

    try:
        doc = msgspec.json.decode(text, type=CaseDoc)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"{where}/{JSON_NAME}: {_one_line(error)}") from None
    if doc.format != FORMAT:
        raise Invalid(f"{where}/{JSON_NAME}: format {doc.format} is not known; this version reads {FORMAT}")
    if reason := _too_large(doc):
        raise Invalid(f"{where}/{JSON_NAME}: {reason}")
    try:
        graph = _graph(doc)
    except Invalid as error:
        raise Invalid(f"{where}/{JSON_NAME}: {_one_line(error)}") from None
    try:
        arrays = tensors_file.decode(tensors, {item.value.name: item.value.type for item in graph.inputs})
    except Invalid as error:
        raise Invalid(f"{where}/{TENSORS_NAME}: {_one_line(error)}") from None
    try:
        given = _given(doc.given, graph, arrays.pop(GIVEN, None))
        case = Case(graph, arrays, doc.sizes, tuple(doc.also), doc.profile, doc.origin, given)
        check(case)
    except Invalid as error:
        raise Invalid(f"{where}/{JSON_NAME}: {_one_line(error)}") from None
    return case


def _too_large(doc: CaseDoc) -> str:
    """Why the document is larger than any case that difftvm makes; "" where it is not. The time that a case takes grows
    with the square of some of these numbers."""
    counts = {
        "inputs": len(doc.inputs),
        "nodes": len(doc.nodes),
        "outputs": len(doc.outputs),
        "symbols": len(doc.symbols),
        "operands of a node": max((len(node.args) for node in doc.nodes), default=0),
        "results of a node": max((len(node.results) for node in doc.nodes), default=0),
        "elements of an attribute": max(
            (_length(value) for node in doc.nodes for value in node.attrs.values()), default=0
        ),
        "bindings": len(doc.also),
    }
    numbers = [n for sizes in (doc.sizes, *doc.also) for n in sizes.values()]
    numbers += [n for symbol in doc.symbols.values() for n in (symbol.low, symbol.high)]
    if any(abs(n) > MOST_SIZE for n in numbers):
        return f"a size is larger than {MOST_SIZE:,}"
    return next((f"{n:,} {what} are more than {MOST_PARTS:,}" for what, n in counts.items() if n > MOST_PARTS), "")


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list) else 1


def read(folder: Path) -> Case:
    """Return the case in a folder. Raise `Invalid` where a file cannot be read, is a link, or is wrong."""
    contents = []
    for name, most in ((JSON_NAME, MOST_DOCUMENT), (TENSORS_NAME, MOST_TENSORS)):
        try:
            contents.append(read_plain(folder / name, most))
        except OSError as error:
            raise Invalid(f"{error.filename}: {error.strerror}") from None
    return decode(contents[0], contents[1], str(folder))


def input_types(folder: Path) -> tuple[str, ...]:
    """Return the types of the inputs, such as "float32[2,3]", without reading the values or checking the graph. Raise
    `Invalid` where the file cannot be read."""
    try:
        doc = msgspec.json.decode(read_plain(folder / JSON_NAME, MOST_DOCUMENT), type=CaseDoc)
    except OSError as error:
        raise Invalid(f"{error.filename}: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"{folder / JSON_NAME}: {_one_line(error)}") from None
    return tuple(item.type for item in doc.inputs)


def digest(case: Case) -> str:
    """Return the SHA-256 of graph and values, in hex. The origin is left out."""
    text, tensors = encode(replace(case, origin=""))
    return hashlib.sha256(text + tensors).hexdigest()


def _graph(doc: CaseDoc) -> Graph:
    inputs = tuple(
        Input(Value(i.name, TensorType.parse(i.type)), i.role, Domain.parse(i.domain), i.layout) for i in doc.inputs
    )
    nodes = []
    for index, node in enumerate(doc.nodes):
        try:
            results = tuple(Value(name, TensorType.parse(type)) for name, type in node.results.items())
            nodes.append(Node(node.op, tuple(node.args), _attrs(node.attrs), results, node.form))
        except Invalid as error:
            raise Invalid(f"nodes[{index}] ({node.op}): {error}") from None
    if len(doc.origin) > MOST_ORIGIN:
        raise Invalid(f"origin: it has more than {MOST_ORIGIN} characters")
    symbols = tuple(Symbol(name, each.low, each.high) for name, each in doc.symbols.items())
    return Graph(inputs, tuple(nodes), tuple(doc.outputs), doc.dialect, symbols, doc.opset)


def _given_doc(given: Given) -> GivenDoc:
    names, made, small = (dict(sorted(each.items())) for each in (given.names, given.made, given.small))
    return GivenDoc(names, given.open, made, small)


def _given(doc: GivenDoc | None, graph: Graph, model: Array | None) -> Given | None:
    if (doc is None) != (model is None):
        raise Invalid(f"given: one of its two parts is missing: the names, or the tensor {GIVEN!r}")
    if doc is None or model is None:
        return None
    if model.dtype != "uint8" or model.ndim != 1:
        raise Invalid(f"given: the tensor {GIVEN!r} is {model.dtype}{list(model.shape)}, not bytes in a row")
    if unknown := sorted(set(doc.names) - {item.value.name for item in graph.inputs}):
        raise Invalid(f"given: {unknown[0]!r} is no input")
    if unknown := sorted(set(doc.made) - {value.name for node in graph.nodes for value in node.results}):
        raise Invalid(f"given: no node computes {unknown[0]!r}")
    if unknown := sorted(set(doc.small) - graph.types.keys()):
        raise Invalid(f"given: there is no value {unknown[0]!r}")
    for name, dtype in sorted(doc.small.items()):
        if SMALL_DTYPES.get(dtype) is not graph.types[name].dtype:
            raise Invalid(f"given: {graph.types[name].dtype} does not hold {dtype!r}")
    return Given(graph, model.tobytes(), doc.names, doc.open, doc.made, doc.small)


def _attrs(raw: dict[str, Any]) -> Attrs:
    return {key: _attr(value, key) for key, value in raw.items()}


def _attr(value: Any, key: str) -> Attr:
    return tuple(_scalar(item, key) for item in value) if isinstance(value, list) else _scalar(value, key)


def _scalar(value: Any, key: str) -> Scalar:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise Invalid(f"attribute {key} is neither a number, nor a string, nor a list of these")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
