"""A TVM module as the numbered nodes of its JSON, which allows changes that constructors refuse.

TVM normalises a module that is parsed from TVMScript or built by hand, and infers its types. It loads JSON unchanged. A
change is a list of edits: the number of a node and its new content. New nodes get the next numbers. In memory, nodes
have the kinds and fields of the newest release of TVM.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import tvm

from fuzzer.lanes.relax.releases import JsonForm, json_form

Json = Any
TENSOR, TUPLE, CALL, BINDING = "relax.TensorType", "ir.TupleType", "ir.Call", "relax.expr.VarBinding"


@dataclass(frozen=True, slots=True)
class Binding:
    """A binding `variable = operator(arguments)`. The fields are numbers of nodes, but for the operator's name."""

    number: int
    variable: int
    call: int
    operator: str
    type: int


@dataclass(slots=True)
class Document:
    """The nodes and the edits of a module. `original` is the JSON that TVM wrote."""

    nodes: list[Json]
    original: dict[str, Json]
    form: JsonForm
    edits: dict[int, Json] = field(default_factory=dict)

    @staticmethod
    def of(module: Any) -> Document:
        original, form = json.loads(tvm.ir.save_json(module)), json_form()
        return Document([form.read(node) for node in original["nodes"]], original, form)

    def copy(self) -> Document:
        """Return a document to edit. Edits replace nodes and never change them."""
        return Document(list(self.nodes), self.original, self.form)

    def module(self) -> Any:
        nodes = list(self.original["nodes"])
        for number, node in self._written():
            nodes[number : number + 1] = [node]
        return tvm.ir.load_json(json.dumps({**self.original, "nodes": nodes}))

    @property
    def written(self) -> str:
        return json.dumps(self._written())

    def _written(self) -> list[tuple[int, Json]]:
        return [(number, self.form.written(node)) for number, node in sorted(self.edits.items())]

    def data(self, number: int) -> Json:
        """Return the data of a node; None for the node that stands for None."""
        return self.nodes[number].get("data")

    def kind(self, number: int) -> str:
        return str(self.nodes[number]["type"])

    def put(self, number: int, **fields: Json) -> None:
        """Replace fields of a node."""
        node = deepcopy(self.nodes[number])
        node["data"].update(fields)
        self._set(number, node)

    def put_item(self, number: int, index: int, value: int) -> None:
        """Replace an item of an array node."""
        node = deepcopy(self.nodes[number])
        node["data"][index] = value
        self._set(number, node)

    def add(self, kind: str, data: Json) -> int:
        self.nodes.append(None)
        self._set(len(self.nodes) - 1, {"type": kind, "data": data})
        return len(self.nodes) - 1

    def like(self, number: int, **fields: Json) -> int:
        """Add a copy of a node with some fields replaced; return its number."""
        return self.add(self.kind(number), {**self.data(number), **fields})

    def _set(self, number: int, node: Json) -> None:
        self.nodes[number] = self.edits[number] = node

    # --- the parts of a Relax module

    def bindings(self) -> Iterator[Binding]:
        """Yield the bindings of operator calls whose result type is a tensor of known shape."""
        for number, node in enumerate(self.nodes):
            if node["type"] != BINDING or self.kind(node["data"]["value"]) != CALL:
                continue
            variable, call = node["data"]["var"], node["data"]["value"]
            operator, type = self.data(self.data(call)["op"]), self.data(variable)["ty"]
            if isinstance(operator, str) and self.sizes(type) is not None:
                yield Binding(number, variable, call, operator, type)

    def sizes(self, type: int) -> list[int] | None:
        """Return the sizes of a tensor type, or None where they are not all numbers."""
        if self.kind(type) != TENSOR or self.kind(self.data(type)["shape"]) != "relax.expr.ShapeExpr":
            return None
        values = self.data(self.data(self.data(type)["shape"])["values"])
        if any(self.kind(value) != "ir.IntImm" for value in values):
            return None
        return [self._int(self.data(value)["value"]) for value in values]

    def _int(self, value: int) -> int:
        return int(self.data(value)) if self.form.int_nodes else value

    def dtype(self, type: int) -> str:
        dtype = self.data(type)["dtype"]
        return str(self.data(dtype)["dtype"] if self.form.dtype_nodes else dtype)

    def with_dtype(self, type: int, dtype: str) -> int:
        if not self.form.dtype_nodes:
            return self.like(type, dtype=dtype)
        return self.like(type, dtype=self.like(self.data(type)["dtype"], dtype=dtype))

    def with_sizes(self, type: int, sizes: Sequence[int]) -> int:
        shape = self.data(type)["shape"]
        shape_type = self.data(shape)["ty"]
        int64: Json = {"dtype": "int64"}
        if self.form.dtype_nodes:
            int64 = {"ty": self.add("ir.PrimType", {"span": 0, "dtype": "int64"})}
        numbers = [self.add("int", size) if self.form.int_nodes else size for size in sizes]
        values = [self.add("ir.IntImm", {"span": 0, **int64, "value": number}) for number in numbers]
        array = self.add("ffi.Array", values)
        new_type = self.like(shape_type, values=array, ndim=len(sizes))
        return self.like(type, shape=self.like(shape, ty=new_type, values=array), ndim=len(sizes))
