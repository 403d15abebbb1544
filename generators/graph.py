"""Graphs and cases: the values that everything else passes around.

A `Graph` is an immutable, typed dataflow graph. Its invariants, which `generators.check.check` verifies and which
every builder keeps by construction:

- values are named once, each by an input or by a node, before they are used (nodes stand in a valid order);
- each value carries its type, and a node's result types are what its operator infers from its operand types, for
  every size that the case binds its symbols to;
- a node that works in place changes a value that a node made, that nobody else reads, and that is no view of another;
- there is at least one output, and each output names a value. An input may be an output, and a value may be it twice.

A `Case` is a graph together with the arrays of its inputs and the concrete sizes of its symbolic dimensions; it
determines a model and its result completely.
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
"""Of values: letters, then digits. So a name is never a Python keyword, and hides nothing that the source uses."""


@dataclass(frozen=True, slots=True)
class Value:
    name: str
    type: TensorType


class Role(StrEnum):
    INPUT = "input"
    PARAM = "param"  # a torch.nn.Parameter of the module (a buffer, where it is no float)
    BUFFER = "buffer"

    @property
    def is_owned(self) -> bool:
        """Whether the value belongs to the module."""
        return self is not Role.INPUT


class Layout(StrEnum):
    """How an input's elements lie in memory."""

    CONTIGUOUS = "contiguous"
    TRANSPOSED = "transposed"  # the first dimension is the fastest
    STRIDED = "strided"  # every other element along the last dimension of a larger tensor
    EXPANDED = "expanded"  # the first dimension has stride 0: all its slices are one


@dataclass(frozen=True, slots=True)
class Input:
    value: Value
    role: Role = Role.INPUT
    domain: Domain = ANY
    layout: Layout = Layout.CONTIGUOUS


class Form(StrEnum):
    """How a call is written. Every operator has its plain form; the others are where people write it otherwise."""

    PLAIN = "plain"
    FUNCTION = "function"  # torch.add(x, y)
    METHOD = "method"  # x.add(y)
    OPERATOR = "operator"  # x + y
    INPLACE = "inplace"  # x.add_(y), x += y
    MODULE = "module"  # a layer of torch.nn, made in the constructor


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
        """The operator's name; of the row that calls functions by name, the function's."""
        called = self.attrs.get("call")
        return called.partition("(")[0] if isinstance(called, str) else self.op

    @property
    def not_in_place(self) -> Node:
        """The same call, in its plain form where it would change its operand in place: it computes the same."""
        return replace(self, form=Form.PLAIN) if self.form is Form.INPLACE else self


@dataclass(frozen=True, slots=True)
class Symbol:
    """A dimension known by name only, and the sizes that it may have (both ends included)."""

    name: str
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Graph:
    inputs: tuple[Input, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    dialect: str = "torch"
    symbols: tuple[Symbol, ...] = ()

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
        """What people call the nodes, in order."""
        return tuple(node.title for node in self.nodes)

    def arg_types(self, node: Node) -> tuple[TensorType, ...]:
        types = self.types
        return tuple(types[name] for name in node.args)

    @property
    def output_types(self) -> tuple[TensorType, ...]:
        types = self.types
        return tuple(types[name] for name in self.outputs)

    def bind(self, sizes: Mapping[str, int]) -> Graph:
        """The same graph with symbolic dimensions replaced by their sizes."""

        def bound(value: Value) -> Value:
            return Value(value.name, value.type.bind(sizes))

        return replace(
            self,
            inputs=tuple(replace(item, value=bound(item.value)) for item in self.inputs),
            nodes=tuple(replace(node, results=tuple(map(bound, node.results))) for node in self.nodes),
            symbols=(),
        )


class Profile(StrEnum):
    """What numbers a case holds."""

    NORMAL = "normal"  # negative numbers and zeros always among them, within what operators are defined for
    EDGE = "edge"  # ties, large offsets with small spread, denormals, exact halves
    SPECIAL = "special"  # NaN, infinities, zeros of both signs: anywhere, whatever the operators like
    EXTREME = "extreme"  # smallest and largest integers: arithmetic on them wraps around


@dataclass(frozen=True, slots=True)
class Case:
    """A graph, the array of each input, the size of each symbolic dimension, and where it came from.

    sizes   binds the symbols to the shapes of `tensors`
    also    other sizes that the graph holds for, each at most those of `sizes`; their tensors are the leading part
    origin  is for people ("seed 1 test 17"); it never takes part in reproducing the case
    """

    graph: Graph
    tensors: Mapping[str, Array]
    sizes: Mapping[str, int] = field(default_factory=dict)
    also: tuple[Mapping[str, int], ...] = ()
    profile: Profile = Profile.NORMAL
    origin: str = ""

    @property
    def bound(self) -> Graph:
        return self.graph.bind(self.sizes) if self.graph.symbols else self.graph

    @property
    def inputs(self) -> dict[str, Array]:
        """What the model's forward takes, in order."""
        return {i.value.name: self.tensors[i.value.name] for i in self.graph.inputs if not i.role.is_owned}

    @property
    def owned(self) -> dict[str, Array]:
        """Parameters and buffers: what the model's constructor takes, in order."""
        return {i.value.name: self.tensors[i.value.name] for i in self.graph.inputs if i.role.is_owned}

    def at(self, sizes: Mapping[str, int]) -> Case:
        """The static case for one of the bindings."""
        graph = self.graph.bind(sizes)
        shapes = {item.value.name: item.value.type.sizes for item in graph.inputs}
        cropped = {name: array[tuple(map(slice, shapes[name]))].copy() for name, array in self.tensors.items()}
        return Case(graph, cropped, {}, (), self.profile, self.origin)

    def instances(self) -> list[Case]:
        """The static cases, one for each binding; the case itself where nothing is symbolic."""
        return [self.at(sizes) for sizes in (self.sizes, *self.also)] if self.graph.symbols else [self]
