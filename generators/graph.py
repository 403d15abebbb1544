"""Graphs and cases, the immutable data that all other parts of the project work on.

A `Graph` is a typed dataflow graph. `generators.check.check` verifies its invariants, and `generators.builder.Builder`
keeps them by construction:

- each value is defined once, by an input or by a node, and before it is used (nodes are in topological order);
- each value has a type. The result types of a node are those that its operator infers from the operand types, for
  every size that the case binds its symbols to;
- a node that works in place changes a value that a node computed, that nothing else reads, and that is no view;
- there is at least one output, and each output names a value. An input may be an output. A value may be two outputs.

A `Case` is a graph with the arrays of its inputs and the sizes of its symbolic dimensions. It determines a model and
its result completely. A case that was read from a person's model has that model too, as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from generators.dialect_names import DEFAULT
from generators.domain import ANY as ANY
from generators.domain import Domain as Domain
from generators.symbolic import SYMBOL as SYMBOL
from generators.symbolic import Expr as Expr
from generators.types import DRAWN as DRAWN
from generators.types import DTYPE_NAMES as DTYPE_NAMES
from generators.types import FLOATS as FLOATS
from generators.types import HALVES as HALVES
from generators.types import INTEGERS as INTEGERS
from generators.types import SMALL_DTYPES as SMALL_DTYPES
from generators.types import Array as Array
from generators.types import Dim as Dim
from generators.types import DType as DType
from generators.types import Invalid as Invalid
from generators.types import TensorType as TensorType
from generators.types import holds_floats as holds_floats

Scalar = None | bool | int | float | str
Attr = Scalar | tuple[Scalar, ...]
Attrs = Mapping[str, Attr]

NAME = re.compile(r"[a-z]{1,8}[0-9]{1,6}")
"""The names of values: letters, then digits. Such a name is no Python keyword and shadows no name of the source."""


@dataclass(frozen=True, slots=True)
class Value:
    name: str
    type: TensorType


class Role(StrEnum):
    INPUT = "input"
    PARAM = "param"  # a torch.nn.Parameter of the module; a buffer if its dtype is not a float. In ONNX: an initializer
    BUFFER = "buffer"  # in ONNX: the result of a node Constant

    @property
    def is_owned(self) -> bool:
        """Whether the module owns the value, as a parameter or buffer."""
        return self is not Role.INPUT


class Layout(StrEnum):
    """The order of an input's elements in memory."""

    CONTIGUOUS = "contiguous"
    TRANSPOSED = "transposed"  # the first dimension varies fastest
    STRIDED = "strided"  # every second element along the last dimension of a larger tensor
    EXPANDED = "expanded"  # the first dimension has stride 0: all its slices share their memory


@dataclass(frozen=True, slots=True)
class Input:
    value: Value
    role: Role = Role.INPUT
    domain: Domain = ANY
    layout: Layout = Layout.CONTIGUOUS


class Form(StrEnum):
    """How a call is written. Every operator has the plain form, and some have others."""

    PLAIN = "plain"  # in ONNX: a node whose constant inputs are initializers

    # of PyTorch
    FUNCTION = "function"  # torch.add(x, y)
    METHOD = "method"  # x.add(y)
    OPERATOR = "operator"  # x + y
    INPLACE = "inplace"  # x.add_(y), x += y
    MODULE = "module"  # a layer of torch.nn, constructed in __init__

    # of ONNX. The first four say where the constant inputs of a node come from
    CONSTANT = "constant"  # nodes Constant with a tensor
    LIST = "list"  # nodes Constant with a number or a list of numbers, which opset 12 has
    AS_INPUT = "as-input"  # inputs of the model
    COMPUTED = "computed"  # computed from the shape of the first operand: Shape, Gather, Add, Concat
    IDENTITY = "identity"  # the first operand comes through Identity
    CAST = "cast"  # the first operand comes through Cast to a wider dtype, and Cast back
    EMPTY = "empty"  # inputs that are left out at the end are written as empty names
    LOCAL = "local"  # the node is a function of the model, or in Relax of main
    BRANCH = "branch"  # the node is in both branches of an If

    # of Relax, which has BRANCH and LOCAL too
    BINDING = "binding"  # the call is bound outside of the dataflow blocks
    SUBROUTINE = "subroutine"  # a private function makes the call
    TUPLE = "tuple"  # the operands come through a tuple in a tuple
    MATCH_CAST = "match-cast"  # the first operand comes through match_cast to its own type
    OPEN = "open"  # the sizes of the only operand are variables, and the result comes through match_cast to its type
    RECURSION = "recursion"  # a private function calls itself twice, and then makes the call
    PRIMITIVE = "primitive"  # a private function makes the call. It takes the sizes of the only operand as numbers
    CLOSURE = "closure"  # a function in main makes the call. It captures the first operand; one of LOCAL captures none
    TWICE = "twice"  # the call is there twice. Nothing reads the first one
    SAME_NAME = "same-name"  # the operands come through a tuple with the name of the result


_FUNCTION = re.compile(r"\b([A-Za-z]\w*(?:\.\w+)+)\(")
MOST_TITLE = 72
"""The most characters of a title that names several functions."""


def _called(calls: str) -> str:
    """The names of the functions that a text calls, each once, as many as a title may have: `torch.sin`,
    `aten._fft_r2c+aten.abs`. Control flow comes before what its branches and bodies call."""
    found = [name.split(".") for name in _FUNCTION.findall(calls)]
    names = [".".join(each[2:4] if each[1] == "ops" else each) for each in found]
    first, *others = sorted(dict.fromkeys(names), key=lambda name: not name.startswith("higher_order.")) or [""]
    title = first
    for index, name in enumerate(others):
        if len(title) + len(name) > MOST_TITLE:
            return f"{title}+{len(others) - index}-more"
        title = f"{title}+{name}"
    return title


@dataclass(frozen=True, slots=True)
class Node:
    """One operator call: `args` name its operands, `results` are the values that it defines."""

    op: str
    args: tuple[str, ...]
    attrs: Attrs
    results: tuple[Value, ...]
    form: Form = Form.PLAIN

    def __post_init__(self) -> None:
        object.__setattr__(self, "attrs", MappingProxyType(dict(self.attrs)))

    @property
    def title(self) -> str:
        """The operator's name for people. For a row that calls functions by name, it is their names, each once; for
        ONNX, the operator without its version, also that of a node without a row."""
        call, op_type = self.attrs.get("call"), self.attrs.get("op_type")
        if isinstance(op_type, str):
            return op_type
        return _called(call) if isinstance(call, str) else self.op.partition("-")[0]

    @property
    def not_in_place(self) -> Node:
        """The node in its plain form if it works in place, else the node itself. Both compute the same result."""
        return replace(self, form=Form.PLAIN) if self.form is Form.INPLACE else self


@dataclass(frozen=True, slots=True)
class Symbol:
    """The name of a symbolic dimension, and the range of its sizes (both ends included)."""

    name: str
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Graph:
    """`opset` is the version of ONNX's default domain; 0 where the dialect has no opsets."""

    inputs: tuple[Input, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    dialect: str = DEFAULT
    symbols: tuple[Symbol, ...] = ()
    opset: int = 0

    def values(self) -> Iterator[Value]:
        for item in self.inputs:
            yield item.value
        for node in self.nodes:
            yield from node.results

    @property
    def types(self) -> dict[str, TensorType]:
        return {value.name: value.type for value in self.values()}

    @property
    def ops(self) -> tuple[str, ...]:
        """The titles of the nodes, in order."""
        return tuple(node.title for node in self.nodes)

    @property
    def rows(self) -> frozenset[str]:
        """The names of the rows of its nodes."""
        return frozenset(node.op for node in self.nodes)

    def arg_types(self, node: Node) -> tuple[TensorType, ...]:
        types = self.types
        return tuple(types[name] for name in node.args)

    @property
    def output_types(self) -> tuple[TensorType, ...]:
        types = self.types
        return tuple(types[name] for name in self.outputs)

    def bind(self, sizes: Mapping[str, int]) -> Graph:
        """Return the graph with its symbols replaced by sizes; the graph itself where it has none."""
        if not self.symbols:
            return self

        def bound_value(value: Value) -> Value:
            return Value(value.name, value.type.bind(sizes))

        return replace(
            self,
            inputs=tuple(replace(item, value=bound_value(item.value)) for item in self.inputs),
            nodes=tuple(replace(node, results=tuple(map(bound_value, node.results))) for node in self.nodes),
            symbols=(),
        )


class Profile(StrEnum):
    """The kind of numbers in the tensors of a case."""

    NORMAL = "normal"  # among them negative numbers and zeros, where the domain allows them
    EDGE = "edge"  # ties, large offsets with a small spread, denormals, exact halves
    SPECIAL = "special"  # NaN, infinities and zeros of both signs in every input without a domain
    EXTREME = "extreme"  # the smallest and largest integers, so that arithmetic wraps around


@dataclass(frozen=True, slots=True)
class Given:
    """The model that a person gave, as it is: a file of ONNX, or an exported program of PyTorch.

    graph    the graph that was read from it. A case of another graph has no given model
    model    its bytes. Numbers that the case has are left out of them
    names    the model's name of each input, parameter and buffer of the graph
    open     whether the model leaves sizes open. The graph has numbers in their place
    made     the model's name of each value that the graph computes, as far as it has one
    small    the model's dtype of each value that the graph holds in a wider one (`SMALL_DTYPES`)
    """

    graph: Graph
    model: bytes
    names: Mapping[str, str]
    open: bool = False
    made: Mapping[str, str] = field(default_factory=dict)
    small: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Case:
    """A graph, the array of each input, the size of each symbolic dimension, and the origin.

    tensors  the array of each input, parameter and buffer, by name
    sizes    the size of each symbol in the shapes of `tensors`
    also     other sizes for which the graph is valid, each at most that in `sizes`. Their tensors are the leading parts
    origin   text for people, such as "seed 1 test 17". It does not influence a run
    given    the model as a person gave it, which lanes run in place of one that is rendered from the graph
    """

    graph: Graph
    tensors: Mapping[str, Array]
    sizes: Mapping[str, int] = field(default_factory=dict)
    also: tuple[Mapping[str, int], ...] = ()
    profile: Profile = Profile.NORMAL
    origin: str = ""
    given: Given | None = None

    def __post_init__(self) -> None:
        if self.given is not None and self.given.graph is not self.graph:
            object.__setattr__(self, "given", None)

    @property
    def bound(self) -> Graph:
        """The graph bound to `sizes`."""
        return self.graph.bind(self.sizes) if self.graph.symbols else self.graph

    @property
    def inputs(self) -> dict[str, Array]:
        """The arguments of the model's forward, in order."""
        return {i.value.name: self.tensors[i.value.name] for i in self.graph.inputs if not i.role.is_owned}

    @property
    def owned(self) -> dict[str, Array]:
        """The parameters and buffers, which are the arguments of the model's constructor, in order."""
        return {i.value.name: self.tensors[i.value.name] for i in self.graph.inputs if i.role.is_owned}

    def at(self, sizes: Mapping[str, int]) -> Case:
        """Return the case bound to these sizes, without symbols. Each tensor is cropped to its leading part."""
        graph = self.graph.bind(sizes)
        shapes = {item.value.name: item.value.type.sizes for item in graph.inputs}
        cropped = {name: array[tuple(map(slice, shapes[name]))].copy() for name, array in self.tensors.items()}
        given = replace(self.given, graph=graph) if self.given else None
        return Case(graph, cropped, {}, (), self.profile, self.origin, given)

    def instances(self) -> list[Case]:
        """Return a case without symbols for each binding, or only this case where it has none."""
        return [self.at(sizes) for sizes in (self.sizes, *self.also)] if self.graph.symbols else [self]
