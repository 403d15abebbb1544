"""The row of nodes without a row: a node of a file as it is there, with the types that its values have.

A model that a person gives has operators without a row, versions without a row, and calls that a row refuses. Such a
node becomes a call of this row. The case has the node itself as data, with its attributes and subgraphs, and the types
of its operands and results, as a reference gave them. No rule infers them, and random generation does not draw it.

In the case, the node's operands are a0, a1, ...: first the inputs that the node has, then the values that its subgraphs
read from around the node. Its results are r0, r1, ..., and the values inside of its subgraphs b0, b1, ... An input or
result that is left out has an empty name. So equal nodes have equal texts.

Several nodes are one call, too, where a case cannot hold a value between them, such as a sequence. They are the
subgraph `NODES` of the call: it reads the operands, and its outputs are the results. A file has these nodes themselves.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial

import msgspec

from generators.builder import Builder
from generators.graph import Attr, Attrs, Invalid, TensorType, Value
from generators.graph import Node as Call
from generators.onnx.model import FORMS, Attribute, Body, Node, require_attributes, with_inner
from generators.onnx.model import Value as FileValue
from generators.onnx.schema import MICROSOFT
from generators.op import Arithmetic, AttrKind, CallForm, Op, Types, one_of, require
from generators.text_forms import SHORT_TEXT, Forms, faults

NAME = "onnx_node"
ML = "ai.onnx.ml"
PREVIEW = ("ai.onnx.preview", "ai.onnx.preview.training")
DOMAINS = ("", MICROSOFT, ML, *PREVIEW)
"""The domains whose operators have a documented meaning."""

MOST_TEXT = 4 << 20
"""The most characters of a node."""
MOST_DEPTH = 8
"""How deep subgraphs may contain each other."""
MOST_NODES = 2_000
"""The most nodes of all subgraphs of a node."""
MOST_OPERANDS = 1_000
MOST_RESULTS = 64

NODES = "nodes"
"""The attribute of a call of several nodes that has them. No operator has an attribute of this name."""

EXACT = ("Compress", "NonZero", "OptionalGetElement", "Unique")
"""Operators without a row whose results hold the very numbers of their operands, or none that is rounded."""

OPERATOR = re.compile(r"[A-Za-z]\w{0,99}", re.ASCII)


class Written(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What a node has beside its operator: the attribute `node` of the row, as JSON."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[Attribute, ...] = ()

    @property
    def several(self) -> Body | None:
        """The nodes of a call of several ones; None for that of one node."""
        return next((each.body for each in self.attributes if each.name == NODES), None)


@dataclass(frozen=True, slots=True)
class UnlistedForm(CallForm):
    """How a call of the row becomes a node of a file: it has the node."""


# --- the attributes of the row


def written(text: str) -> Written:
    """The node of a call. Raise `Invalid` where the text is none."""
    found = _decoded(text)
    if isinstance(found, str):
        raise Invalid(found)
    return found


@lru_cache(512)
def _decoded(text: str) -> Written | str:
    """The node, or why the text is none."""
    if len(text) > MOST_TEXT:
        return f"{len(text)} characters are more than {MOST_TEXT}"
    try:
        found = msgspec.json.decode(text, type=Written)
        if msgspec.json.encode(found).decode() != text:
            return "it is not written as this version writes it"
        _require_sound(found)
    except (msgspec.DecodeError, UnicodeError, RecursionError, Invalid) as error:
        return " ".join(str(error).split())[:300]
    return found


_FORMS: Forms = {**FORMS, **{(Written, name): SHORT_TEXT for name in ("inputs", "outputs")}}


def _require_sound(found: Written) -> None:
    if reason := next(faults(found, _FORMS), None):
        raise Invalid(reason)
    require(len(found.outputs) <= MOST_RESULTS and any(found.outputs), f"it has no result, or more than {MOST_RESULTS}")
    for letter, names in (("a", found.inputs), ("r", found.outputs)):
        given = [name for name in names if name]
        require(given == [f"{letter}{place}" for place in range(len(given))], f"{given} are no names of operands")
    outer = Node("", found.inputs, found.outputs, found.attributes)
    _require_depth(found.attributes)
    inner = list(with_inner((outer,)))
    require(len(inner) <= MOST_NODES, f"its subgraphs have more than {MOST_NODES} nodes")
    require_attributes(inner, "its attributes")
    for node in inner:
        if node is not outer:
            require_known(node)
            require(not node.name, "a node of a subgraph has a name")
    _Scopes(found).check()
    if found.several:
        _require_several(found, found.several)


def _require_several(found: Written, body: Body) -> None:
    require(not found.inputs and len(found.attributes) == 1, "several nodes have inputs or attributes of one node")
    require(not body.inputs and not body.initializers, "several nodes have inputs or tensors of a subgraph")
    require(all(found.outputs), "several nodes leave out a result")
    made = {name for node in body.nodes for name in node.outputs if name}
    returned = [item.name for item in body.outputs]
    require(len(returned) == len(found.outputs), "several nodes have other results than their subgraph")
    require(made >= set(returned) and len(set(returned)) == len(returned), "a result is that of no node, or is twice")


def require_known(node: Node) -> None:
    """Raise `Invalid` unless the node is of a domain whose operators have a documented meaning."""
    require(OPERATOR.fullmatch(node.op) is not None, f"{node.op[:60]!r} is no name of an operator")
    require(node.domain in ("ai.onnx", *DOMAINS), f"the domain {node.domain[:60]!r} has no documented operators")


def _require_depth(attributes: Sequence[Attribute], depth: int = 1) -> None:
    for body in (each.body for each in attributes if each.body):
        require(depth <= MOST_DEPTH, f"its subgraphs are deeper than {MOST_DEPTH}")
        for node in body.nodes:
            _require_depth(node.attributes, depth + 1)


class _Scopes:
    """Checks that names in subgraphs are those that this module gives, in their order, and are known where they are
    read."""

    def __init__(self, found: Written) -> None:
        self._found = found
        self._locals = 0
        self._operands = sum(map(bool, found.inputs))

    def check(self) -> None:
        for each in self._found.attributes:
            if each.body:
                self._body(each.body, frozenset())

    @property
    def operands(self) -> int:
        """How many operands the node has, with those that subgraphs read."""
        return self._operands

    def _body(self, body: Body, around: frozenset[str]) -> None:
        known = set(around)
        for name in (*(item.name for item in body.inputs), *body.initializers):
            self._define(name, known)
        for node in body.nodes:
            for name in filter(None, node.inputs):
                self._read(name, known)
            for each in node.attributes:
                if each.body:
                    self._body(each.body, frozenset(known))
            for name in filter(None, node.outputs):
                self._define(name, known)
        for item in body.outputs:
            self._read(item.name, known)

    def _define(self, name: str, known: set[str]) -> None:
        require(name == f"b{self._locals}", f"{name!r} is not the next name of a subgraph")
        known.add(name)
        self._locals += 1

    def _read(self, name: str, known: Collection[str]) -> None:
        if name in known:
            return
        match = re.fullmatch(r"a(0|[1-9][0-9]{0,3})", name)
        place = int(match[1]) if match else -1
        require(0 <= place <= self._operands, f"a subgraph reads {name!r}, which nothing makes")
        self._operands = max(self._operands, place + 1)


def operand_count(found: Written) -> int:
    """How many operands a node has, with those that its subgraphs read."""
    scopes = _Scopes(found)
    scopes.check()
    return scopes.operands


def _is_node(value: Attr) -> bool:
    return isinstance(value, str) and not isinstance(_decoded(value), str)


def _is_types(most: int, value: Attr) -> bool:
    return isinstance(value, tuple) and len(value) <= most and all(map(_is_type, value))


@lru_cache(4096)
def _is_type(text: object) -> bool:
    try:
        return isinstance(text, str) and not TensorType.parse(text).symbols
    except Invalid:
        return False


NODE = AttrKind("a node of ONNX: its inputs, outputs and attributes", _is_node)
OPERATOR_NAME = AttrKind("the name of an operator", lambda v: isinstance(v, str) and OPERATOR.fullmatch(v) is not None)
VERSION = AttrKind("the version of a domain, or 0 for ONNX's own", lambda v: type(v) is int and 0 <= v <= 1000)
OPERAND_TYPES = AttrKind("a list of tensor types", partial(_is_types, MOST_OPERANDS), types=True)
RESULT_TYPES = AttrKind("a list of tensor types", partial(_is_types, MOST_RESULTS), types=True)


def _declared(types: Types, attrs: Attrs) -> Types:
    """The types of the results. Those of the operands are declared too: nobody knows what other ones would give."""
    found = written(str(attrs["node"]))
    own = attrs["domain"] == ""
    require((attrs["version"] == 0) == own, "only ONNX's own domain has no version")
    require(operand_count(found) == len(types), f"reads {operand_count(found)} operands, there are {len(types)}")
    takes, gives = _parsed(attrs["takes"]), _parsed(attrs["types"])
    if takes != types:
        raise Invalid(f"takes {', '.join(map(str, takes))}, not {', '.join(map(str, types))}")
    require(len(gives) == sum(map(bool, found.outputs)), f"{len(gives)} types are declared for other results")
    return gives


def _parsed(texts: Attr) -> Types:
    assert isinstance(texts, tuple)
    return tuple(_type(str(text)) for text in texts)


_type = lru_cache(4096)(TensorType.parse)


# --- the row


def _never(b: Builder) -> tuple[Value, ...] | None:
    return None


def _terms(exact: Collection[str], types: Types, attrs: Attrs) -> int:
    """0 where the operator rounds nothing; else an upper bound: operators sum at most as many terms as their largest
    operand or result has elements."""
    several = written(str(attrs["node"])).several
    names = {node.op for node in several.nodes} if several else {attrs["op_type"]}
    if attrs["domain"] != ML and names <= set(exact):
        return 0
    return max([type.numel for type in (*types, *_parsed(attrs["types"]))], default=1) or 1


def row(exact: Collection[str]) -> Op:
    """The row. `exact` are the operators that round nothing."""
    return Op(
        NAME,
        _never,
        _declared,
        UnlistedForm(),
        schema={
            "op_type": OPERATOR_NAME,
            "domain": one_of(*DOMAINS),
            "version": VERSION,
            "node": NODE,
            "takes": OPERAND_TYPES,
            "types": RESULT_TYPES,
        },
        arity=(0, MOST_OPERANDS),
        terms=partial(_terms, frozenset(exact) | frozenset(EXACT)),
        arithmetic=Arithmetic.FUNCTION_IN_ANY,
        view=True,
        unlisted=True,
    )


# --- between a file and a case


def captured(node: Node) -> tuple[str, ...]:
    """The values that the subgraphs of a node read from around it, each once, in the order in which they are read."""
    found: dict[str, None] = {}
    for each in node.attributes:
        if each.body:
            found |= dict.fromkeys(_read_around(each.body))
    return tuple(found)


def _read_around(body: Body) -> Iterator[str]:
    own = {*(item.name for item in body.inputs), *body.initializers}
    for node in body.nodes:
        yield from (name for name in (*filter(None, node.inputs), *captured(node)) if name not in own)
        own.update(node.outputs)
    yield from (item.name for item in body.outputs if item.name not in own)


def call_of(node: Node, version: int, types: Mapping[str, TensorType]) -> Call:
    """The call of a node of a file, with the names of the file. `types` has those of all its operands and results.
    Raise `Invalid` where the node is none that a case can have."""
    require_known(node)
    domain = "" if node.domain == "ai.onnx" else node.domain
    args = (*filter(None, node.inputs), *captured(node))
    results = tuple(filter(None, node.outputs))
    attrs: Attrs = {
        "op_type": node.op,
        "domain": domain,
        "version": version if domain else 0,
        "node": _text(node),
        "takes": tuple(str(types[name]) for name in args),
        "types": tuple(str(types[name]) for name in results),
    }
    written(str(attrs["node"]))
    return Call(NAME, args, attrs, tuple(Value(name, types[name]) for name in results))


def _text(node: Node) -> str:
    places = iter(range(len(node.inputs)))
    inputs = tuple(f"a{next(places)}" if name else "" for name in node.inputs)
    places = iter(range(len(node.outputs)))
    outputs = tuple(f"r{next(places)}" if name else "" for name in node.outputs)
    first = sum(map(bool, inputs))
    around = {name: f"a{first + place}" for place, name in enumerate(captured(node))}
    attributes = _Renaming().attributes(node.attributes, around)
    return msgspec.json.encode(Written(inputs, outputs, attributes)).decode()


def nodes_of(call: Call) -> tuple[Node, ...]:
    """The nodes of a file that a call is, mostly one, with the names that the call's values have in the file. Values of
    subgraphs, and those between several nodes, have names of their own that begin with that of the first result."""
    found = written(str(call.attrs["node"]))
    args = {f"a{place}": name for place, name in enumerate(call.args)}
    results = {f"r{place}": value.name for place, value in enumerate(call.results)}
    prefix = f"{call.results[0].name}_"
    if found.several:
        returned = [item.name for item in found.several.outputs]
        fixed = {name: value.name for name, value in zip(returned, call.results, strict=True)}
        return _Renaming(prefix, fixed).body(found.several, args).nodes
    node = Node(
        str(call.attrs["op_type"]),
        tuple(args.get(name, "") for name in found.inputs),
        tuple(results.get(name, "") for name in found.outputs),
        _Renaming(prefix).attributes(found.attributes, args),
        "",
        str(call.attrs["domain"]),
    )
    return (node,)


@dataclass
class _Renaming:
    """Gives new names to the values of subgraphs: b0, b1, ... after `prefix`, in the order of their definitions, or
    those of `fixed`."""

    prefix: str = ""
    fixed: Mapping[str, str] = field(default_factory=dict)
    count: int = field(default=0, init=False)

    def attributes(self, attributes: Sequence[Attribute], names: Mapping[str, str]) -> tuple[Attribute, ...]:
        """The attributes with other names in their subgraphs. `names` are those of values around them."""
        return tuple(
            msgspec.structs.replace(each, body=self.body(each.body, names)) if each.body else each
            for each in attributes
        )

    def body(self, body: Body, around: Mapping[str, str]) -> Body:
        names = dict(around)
        inputs = tuple(self._defined(item, names) for item in body.inputs)
        initializers = {self._new(name, names): tensor for name, tensor in body.initializers.items()}
        nodes = tuple(self._node(node, names) for node in body.nodes)
        outputs = tuple(msgspec.structs.replace(item, name=names.get(item.name, item.name)) for item in body.outputs)
        return Body(nodes, outputs, inputs, initializers)

    def _node(self, node: Node, names: dict[str, str]) -> Node:
        inputs = tuple(names.get(name, name) for name in node.inputs)
        attributes = self.attributes(node.attributes, names)
        outputs = tuple(self._new(name, names) if name else "" for name in node.outputs)
        return Node(node.op, inputs, outputs, attributes, "", "" if node.domain == "ai.onnx" else node.domain)

    def _defined(self, item: FileValue, names: dict[str, str]) -> FileValue:
        return msgspec.structs.replace(item, name=self._new(item.name, names))

    def _new(self, name: str, names: dict[str, str]) -> str:
        names[name] = self.fixed.get(name, f"{self.prefix}b{self.count}")
        self.count += 1
        return names[name]


# --- for people


def text_of(call: Call) -> str:
    """The call on one line: the operator, its operands, and its attributes; of tensors and subgraphs what they are."""
    found = written(str(call.attrs["node"]))
    args = {f"a{place}": name for place, name in enumerate(call.args)}
    inputs = list(call.args) if found.several else [args.get(name, "None") for name in found.inputs]
    attributes = [f"{each.name}={_shown(each)}" for each in found.attributes]
    results = ", ".join(value.name for value in call.results)
    return f"{results} = {call.title}({', '.join([*inputs, *attributes])})"


def _shown(each: Attribute) -> str:
    if each.tensor:
        return f"{each.tensor.element}{list(each.tensor.shape)}"
    if each.body:
        return f"({', '.join(node.op for node in each.body.nodes)})"
    return repr(each.value)
