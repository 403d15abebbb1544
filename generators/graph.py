"""Graphs and cases: the values that everything else passes around.

A `Graph` is an immutable, typed dataflow graph. Its invariants, which `generators.check.check` verifies and which
every builder keeps by construction:

- values are named once, each by an input or by a node, before they are used (nodes stand in a valid order);
- each value carries its type, and a node's result types are what its operator infers from its operand types;
- there is at least one output, and each output names a value.

A `Case` is a graph together with the arrays of its inputs and the concrete sizes of its symbolic dimensions; it
determines a model and its result completely.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Scalar = None | bool | int | float | str
Attr = Scalar | tuple[Scalar, ...]
Attrs = Mapping[str, Attr]

SYMBOL = re.compile(r"[a-z][a-z0-9_]{0,31}")
NAME = re.compile(r"[a-z]{1,8}[0-9]{1,6}")
"""Of values: letters, then digits. So a name is never a Python keyword, and hides nothing that the source uses."""


class Invalid(ValueError):
    """A graph, case or file that breaks a rule; the message says which rule, where, in one line."""


class DType(StrEnum):
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    INT64 = "int64"
    BOOL = "bool"

    @property
    def is_float(self) -> bool:
        return self in FLOATS

    @property
    def numpy(self) -> np.dtype[Any]:
        return np.dtype(self.value)


FLOATS = (DType.FLOAT32, DType.FLOAT64)
DTYPE_NAMES = frozenset(dtype.value for dtype in DType)


@dataclass(frozen=True, slots=True)
class Sym:
    """A dimension known by name only; a case binds it to a size."""

    name: str

    def __str__(self) -> str:
        return self.name


Dim = int | Sym


@dataclass(frozen=True, slots=True)
class TensorType:
    """dtype and shape, written `float32[2,3,n]`; `float32[]` is a 0-d tensor."""

    dtype: DType
    shape: tuple[Dim, ...]

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"

    @staticmethod
    def parse(text: str) -> TensorType:
        match = re.fullmatch(r"([a-z0-9]+)\[([a-z0-9_,]*)\]", text)
        if not match or match[1] not in DTYPE_NAMES:
            raise Invalid(f"{text!r} is no tensor type; expected e.g. float32[2,3] with one of {', '.join(DType)}")
        return TensorType(DType(match[1]), tuple(_parse_dim(d) for d in match[2].split(",")) if match[2] else ())

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape of a type without symbols."""
        if any(isinstance(dim, Sym) for dim in self.shape):
            raise Invalid(f"{self} has symbolic dimensions: bind the graph to sizes first")
        return tuple(dim for dim in self.shape if isinstance(dim, int))

    @property
    def numel(self) -> int:
        return int(np.prod(self.sizes, dtype=object))

    def bind(self, sizes: Mapping[str, int]) -> TensorType:
        return TensorType(self.dtype, tuple(sizes.get(d.name, d) if isinstance(d, Sym) else d for d in self.shape))

    def with_shape(self, *shape: Dim) -> TensorType:
        return TensorType(self.dtype, shape)

    def with_dtype(self, dtype: DType) -> TensorType:
        return TensorType(dtype, self.shape)


def _parse_dim(text: str) -> Dim:
    if re.fullmatch(r"0|[1-9][0-9]{0,9}", text):
        return int(text)
    if SYMBOL.fullmatch(text):
        return Sym(text)
    raise Invalid(f"{text!r} is no dimension: expected a size or a symbol")


@dataclass(frozen=True, slots=True)
class Value:
    name: str
    type: TensorType


class Role(StrEnum):
    INPUT = "input"
    PARAM = "param"


class Domain(StrEnum):
    """What an input's elements may be, so that operators stay where they are defined."""

    ANY = "any"
    POSITIVE = "positive"
    NONZERO = "nonzero"


@dataclass(frozen=True, slots=True)
class Input:
    value: Value
    role: Role = Role.INPUT
    domain: Domain = Domain.ANY


@dataclass(frozen=True, slots=True)
class Node:
    """One operator call: `args` name its operands, `results` are the values that it defines."""

    op: str
    args: tuple[str, ...]
    attrs: Attrs
    results: tuple[Value, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "attrs", MappingProxyType(dict(self.attrs)))


@dataclass(frozen=True, slots=True)
class Graph:
    inputs: tuple[Input, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    dialect: str = "torch"

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
        return tuple(node.op for node in self.nodes)

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
        )


@dataclass(frozen=True, slots=True)
class Case:
    """A graph, the array of each input, the size of each symbolic dimension, and where it came from.

    `origin` is for people ("seed 1 test 17"); it never takes part in reproducing the case.
    """

    graph: Graph
    tensors: Mapping[str, Array]
    sizes: Mapping[str, int] = field(default_factory=dict)
    origin: str = ""

    @property
    def bound(self) -> Graph:
        return self.graph.bind(self.sizes) if self.sizes else self.graph

    def arrays(self, role: Role) -> dict[str, Array]:
        return {i.value.name: self.tensors[i.value.name] for i in self.graph.inputs if i.role is role}
