"""Graphs and cases, the immutable data that all other parts of the project work on.

A `Graph` is a typed dataflow graph. `generators.check.check` verifies its invariants, and `generators.builder.Builder`
keeps them by construction:

- each value is defined once, by an input or by a node, and before it is used (nodes are in topological order);
- each value has a type. The result types of a node are those that its operator infers from the operand types, for
  every size that the case binds its symbols to;
- a node that works in place changes a value that a node computed, that nothing else reads, and that is no view;
- there is at least one output, and each output names a value. An input may be an output. A value may be two outputs.

A `Case` is a graph with the arrays of its inputs and the sizes of its symbolic dimensions. It determines a model and
its result completely.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from generators.domain import ANY as ANY
from generators.domain import Domain as Domain
from generators.symbolic import SYMBOL as SYMBOL
from generators.symbolic import Expr as Expr
from generators.types import DTYPE_NAMES as DTYPE_NAMES
from generators.types import FLOATS as FLOATS
from generators.types import INTEGERS as INTEGERS
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
    LOCAL = "local"  # the node is a function of the model
    BRANCH = "branch"  # the node is in both branches of an If


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
        """The operator's name for people. For a row that calls a function by name, it is the name of the function; for
        ONNX, the operator without its version."""
        call = self.attrs.get("call")
        return call.partition("(")[0] if isinstance(call, str) else self.op.partition("-")[0]

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
    """`opset` is the version of ONNX's default domain; 0 for PyTorch."""

    inputs: tuple[Input, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    dialect: str = "torch"
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

    def arg_types(self, node: Node) -> tuple[TensorType, ...]:
        types = self.types
        return tuple(types[name] for name in node.args)

    @property
    def output_types(self) -> tuple[TensorType, ...]:
        types = self.types
        return tuple(types[name] for name in self.outputs)

    def bind(self, sizes: Mapping[str, int]) -> Graph:
        """Return the graph with its symbols replaced by sizes."""

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
class Case:
    """A graph, the array of each input, the size of each symbolic dimension, and the origin.

    tensors  the array of each input, parameter and buffer, by name
    sizes    the size of each symbol in the shapes of `tensors`
    also     other sizes for which the graph is valid, each at most that in `sizes`. Their tensors are the leading parts
    origin   text for people, such as "seed 1 test 17". It does not influence a run
    """

    graph: Graph
    tensors: Mapping[str, Array]
    sizes: Mapping[str, int] = field(default_factory=dict)
    also: tuple[Mapping[str, int], ...] = ()
    profile: Profile = Profile.NORMAL
    origin: str = ""

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
        return Case(graph, cropped, {}, (), self.profile, self.origin)

    def instances(self) -> list[Case]:
        """Return a case without symbols for each binding, or only this case where it has none."""
        return [self.at(sizes) for sizes in (self.sizes, *self.also)] if self.graph.symbols else [self]
