"""Renders a graph of ONNX as a file (`generators.onnx.model`). Lanes run this file, and reports show it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from generators.graph import Array, Attrs, Case, DType, Form, Graph, Input, Node, Role, TensorType
from generators.onnx import model, unlisted
from generators.onnx.computed import computed
from generators.onnx.forms import WIDER
from generators.onnx.model import ELEMENTS, Attribute, Body, Function, OnnxModel, Tensor, Value
from generators.onnx.operator import DTYPE_ATTRIBUTES, OUTPUTS, PREVIOUS, NodeForm
from generators.onnx.unlisted import UnlistedForm
from generators.table import TABLE

IR_VERSION = 8
"""The version of the file format: the oldest with functions of the model. TVM and onnxruntime read it."""

IR_OF_OPSET = ((25, 13), (24, 12), (23, 11), (21, 10), (19, 9))
"""From these opsets on, a file needs at least these versions of the format (onnx.helper.VERSION_TABLE)."""

LISTS = 12
"""The first opset whose Constant has numbers and lists of numbers."""

LOCAL_DOMAIN = "difftvm"
"""The domain of functions of the model."""

_ELEMENT_OF = {dtype: name for name, dtype in ELEMENTS.items()}
_NUMBERS = {"FLOAT": 1, "UINT8": 2, "INT8": 3, "INT16": 5, "INT32": 6, "INT64": 7, "BOOL": 9, "FLOAT16": 10}
NUMBER_OF = {**_NUMBERS, "DOUBLE": 11, "BFLOAT16": 16}
"""The numbers of onnx.TensorProto's element types, by name (onnx.proto3)."""


def element(dtype: DType) -> model.Element:
    return _ELEMENT_OF[dtype.numpy]  # type: ignore[return-value]


def tensor(array: Array) -> Tensor:
    return Tensor(_ELEMENT_OF[array.dtype], array.shape, np.ascontiguousarray(array).tobytes())  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class File:
    """The file of a case, and its inputs in the order of the file. Among them are constant inputs of nodes that are
    written as inputs of the model."""

    model: OnnxModel
    inputs: Mapping[str, Array]


def render(graph: Graph, tensors: Mapping[str, Array]) -> File:
    """Return the file of a graph. Symbolic dimensions become names; `tensors` are those of the case."""
    file = _File(graph, tensors)
    for item in graph.inputs:
        file.add_input(item)
    for node in graph.nodes:
        file.add(node)
    return file.finish()


def inputs_of_file(case: Case) -> Mapping[str, Array]:
    """The inputs of the file of a case at its own sizes, in the order of the file; of a given file by its names."""
    if case.given is not None:
        names = case.given.names
        return {names[name]: array for name, array in case.inputs.items() if name in names}
    return render(case.bound, case.tensors).inputs


@dataclass
class _File:
    graph: Graph
    tensors: Mapping[str, Array]
    nodes: list[model.Node] = field(default_factory=list)
    inputs: list[Value] = field(default_factory=list)
    initializers: dict[str, Tensor] = field(default_factory=dict)
    functions: list[Function] = field(default_factory=list)
    given: dict[str, Array] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    """Those of domains beside ONNX's own, where they are not 1."""

    def __post_init__(self) -> None:
        self.types = self.graph.types

    def add_input(self, item: Input) -> None:
        name, array = item.value.name, self.tensors[item.value.name]
        match item.role:
            case Role.INPUT:
                self.inputs.append(_value(name, item.value.type))
                self.given[name] = array
            case Role.PARAM:
                self.initializers[name] = tensor(array)
            case Role.BUFFER:
                self.nodes.append(model.Node("Constant", (), (name,), (Attribute("value", tensor=tensor(array)),)))

    def add(self, node: Node) -> None:
        form = TABLE[node.op].source
        if isinstance(form, UnlistedForm):
            self.nodes += unlisted.nodes_of(node)
            self.versions[str(node.attrs["domain"])] = int(str(node.attrs["version"]))
            return
        assert isinstance(form, NodeForm)
        self._write(node, self._calls(node, form, self._inputs_of(node, form)))

    def _inputs_of(self, node: Node, form: NodeForm) -> dict[str, tuple[str, ...]]:
        """The names that each input of the schema has in the file, in the schema's order. An input that is left out has
        an empty name, a variadic one has several."""
        named = form.names(len(node.args), node.attrs)
        variadic = [each.name for each in form.operands if each.variadic]
        operands = dict(zip(named, self._operands(node), strict=False))
        names: dict[str, tuple[str, ...]] = {}
        for each in form.schema.inputs:
            if each.name in form.constants:
                names[each.name] = (self._constant(node, form, each.name),)
            elif each.name in variadic:
                pairs = zip(self._operands(node), named, strict=True)
                names[each.name] = tuple(arg for arg, name in pairs if name == each.name)
            else:
                names[each.name] = (operands.get(each.name, ""),)
        return names

    def _calls(self, node: Node, form: NodeForm, inputs: Mapping[str, tuple[str, ...]]) -> tuple[model.Node, ...]:
        """The node, or the several nodes in a row, that the call is."""
        schema, outputs = form.schema, _outputs(node, form)
        if form.steps is None:
            names = _given(node, inputs.values())
            return (model.Node(schema.name, names, outputs, attributes(node.attrs, form), "", schema.domain),)
        steps = form.steps(form.call(tuple(self.types[arg] for arg in node.args), node.attrs))
        calls = []
        for number, step in enumerate(steps, 1):
            taken = _given(
                node, ((f"{_stem(node)}_step{number - 1}",) if n == PREVIOUS else inputs[n] for n in step.inputs)
            )
            results = outputs if number == len(steps) else (f"{_stem(node)}_step{number}",)
            own = {key: value for key, value in node.attrs.items() if key in step.attributes}
            calls.append(model.Node(step.op, taken, results, attributes(own, form)))
        return tuple(calls)

    def _operands(self, node: Node) -> tuple[str, ...]:
        return (f"{_stem(node)}_same", *node.args[1:]) if node.form in (Form.IDENTITY, Form.CAST) else node.args

    def _constant(self, node: Node, form: NodeForm, name: str) -> str:
        """Write the constant input as the form of the node says, and return its name."""
        value = node.attrs[name]
        if value is None:
            return ""
        dtype = form.dtype_of(name, tuple(self.types[arg] for arg in node.args), node.attrs)
        array = np.array(value, dtype.numpy)
        if not form.constants[name].scalar:
            array = array.reshape(-1)
        own = f"{_stem(node)}_{name}"
        match node.form:
            case Form.CONSTANT:
                self.nodes.append(model.Node("Constant", (), (own,), (Attribute("value", tensor=tensor(array)),)))
            case Form.LIST if self.graph.opset >= LISTS and dtype in (DType.INT64, DType.FLOAT32) and array.size:
                self.nodes.append(model.Node("Constant", (), (own,), (_listed(array),)))
            case Form.LIST:
                self.nodes.append(model.Node("Constant", (), (own,), (Attribute("value", tensor=tensor(array)),)))
            case Form.AS_INPUT:
                self.inputs.append(_value(own, TensorType(dtype, array.shape)))
                self.given[own] = array
            case Form.COMPUTED if dtype is DType.INT64:
                self.nodes += computed(own, array, node.args[0], self.types[node.args[0]], self.graph.opset)
            case _:
                self.initializers[own] = tensor(array)
        return own

    def _write(self, node: Node, calls: tuple[model.Node, ...]) -> None:
        results = tuple(_value(value.name, value.type) for value in node.results)
        match node.form:
            case Form.IDENTITY:
                same = model.Node("Identity", (node.args[0],), (f"{_stem(node)}_same",))
                self.nodes += [same, *calls]
            case Form.CAST:
                self.nodes += [*self._casts(node), *calls]
            case Form.LOCAL:
                self._write_function(calls)
            case Form.BRANCH:
                self._write_branch(node, calls, results)
            case _:
                self.nodes += calls

    def _casts(self, node: Node) -> Iterator[model.Node]:
        """The first operand in a wider dtype, and back in its own."""
        dtype, name = self.types[node.args[0]].dtype, node.args[0]
        for to, result in ((WIDER[dtype], f"{_stem(node)}_wide"), (dtype, f"{_stem(node)}_same")):
            yield model.Node("Cast", (name,), (result,), (Attribute("to", NUMBER_OF[element(to)]),))
            name = result

    def _write_function(self, calls: tuple[model.Node, ...]) -> None:
        """A function of the model with these nodes, and a call of it."""
        name = f"Local{len(self.functions) or ''}"
        inner = {output for call in calls[:-1] for output in call.outputs}
        taken = dict.fromkeys(each for call in calls for each in call.inputs if each and each not in inner)
        inputs, outputs = tuple(taken), tuple(filter(None, calls[-1].outputs))
        opsets = self._opsets(*(call.domain for call in calls))
        self.functions.append(Function(name, LOCAL_DOMAIN, inputs, outputs, calls, opsets))
        self.nodes.append(model.Node(name, inputs, outputs, (), "", LOCAL_DOMAIN))

    def _write_branch(self, node: Node, calls: tuple[model.Node, ...], results: tuple[Value, ...]) -> None:
        """An If with the nodes in both branches. The condition is an input of the model."""
        condition = f"{_stem(node)}_chosen"  # no name of an input in a schema
        self.inputs.append(Value(condition, "BOOL", ()))
        self.given[condition] = np.array(len(self.nodes) % 2 == 0)
        branches = []
        for name in ("then_branch", "else_branch"):
            names = {output: f"{output}_{name}" for call in calls for output in call.outputs if output}
            inner = tuple(
                model.Node(
                    call.op,
                    tuple(names.get(each, each) for each in call.inputs),
                    tuple(names.get(each, "") for each in call.outputs),
                    call.attributes,
                    "",
                    call.domain,
                )
                for call in calls
            )
            values = tuple(Value(names[each.name], each.element, each.shape) for each in results)
            branches.append(Attribute(name, body=Body(inner, values)))
        outputs = tuple(each.name for each in results)
        self.nodes.append(model.Node("If", (condition,), outputs, tuple(branches)))

    def _opsets(self, *domains: str) -> dict[str, int]:
        return {"": self.graph.opset} | {domain: self.versions.get(domain, 1) for domain in domains if domain}

    def finish(self) -> File:
        """An output that is an input of the model, or another output, becomes the result of an Identity: a file names
        each output once, and outputs are results of nodes."""
        outputs = []
        results = {name for node in self.nodes for name in node.outputs}
        for place, name in enumerate(self.graph.outputs):
            own = name
            if name not in results or name in self.graph.outputs[:place]:
                own = f"y{place}_out"
                self.nodes.append(model.Node("Identity", (name,), (own,)))
            outputs.append(_value(own, self.types[name]))
        opset = self.graph.opset
        file = OnnxModel(
            next((version for first, version in IR_OF_OPSET if opset >= first), IR_VERSION),
            {},
            tuple(self.inputs),
            tuple(outputs),
            tuple(self.nodes),
            self.initializers,
            tuple(self.functions),
        )
        file.opsets = self._opsets(*(node.domain for node in model.all_nodes(file)))
        return File(file, self.given)


def _given(node: Node, names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The names in a row, without the empty ones at the end, which only the form EMPTY has."""
    found = [name for each in names for name in each]
    while found and not found[-1] and node.form is not Form.EMPTY:
        found.pop()
    return tuple(found)


def attributes(attrs: Attrs, form: NodeForm) -> tuple[Attribute, ...]:
    """The attributes of the node. Those that are None are left out."""
    found = []
    for key, value in attrs.items():
        if value is None or key not in form.schema.attributes:  # constants, and attributes of the row alone
            continue
        if key in DTYPE_ATTRIBUTES:
            found.append(Attribute(key, NUMBER_OF[element(DType(str(value)))]))
        elif form.schema.attributes[key].kind == "tensor":
            found.append(Attribute(key, tensor=_one_number(value)))
        elif form.schema.attributes[key].kind in ("float", "floats"):
            found.append(Attribute(key, tuple(map(float, value)) if isinstance(value, tuple) else float(value)))  # type: ignore[arg-type]
        else:
            found.append(Attribute(key, value))  # type: ignore[arg-type]
    return tuple(found)


def _one_number(value: object) -> Tensor:
    """The tensor of one number that a pair (dtype, number) stands for."""
    assert isinstance(value, tuple)
    dtype, number = value
    return tensor(np.array([number], DType(str(dtype)).numpy))


def _outputs(node: Node, form: NodeForm) -> tuple[str, ...]:
    """The names of the node's outputs; empty for one that is not wanted, where a wanted one follows. An output that no
    file may leave out has a name that nothing reads."""
    wanted, names = node.attrs.get(OUTPUTS), iter(value.name for value in node.results)
    if not isinstance(wanted, tuple):
        return tuple(names)
    outputs = [
        next(names) if is_wanted else "" if each.optional else f"{_stem(node)}_{each.name}"
        for is_wanted, each in zip(wanted, form.schema.outputs, strict=True)
    ]
    while not outputs[-1]:
        outputs.pop()
    return tuple(outputs)


def _listed(array: Array) -> Attribute:
    kind = "int" if array.dtype == np.int64 else "float"
    if array.ndim == 0:
        return Attribute(f"value_{kind}", array.item())
    return Attribute(f"value_{kind}s", tuple(array.tolist()))


def _value(name: str, type: TensorType) -> Value:
    return Value(name, element(type.dtype), tuple(size if isinstance(size, int) else str(size) for size in type.shape))


def _stem(node: Node) -> str:
    """A name that no other node has."""
    return node.results[0].name
