"""Describe an ONNX file as plain data: `python -m fuzzer.children.onnx_reader FILE PARENT`, which prints JSON.

The onnx package parses untrusted files in C++. It does so in this child process, under limits of memory and CPU time.
Shapes are inferred, and numbers that follow from shapes and small constants; nothing else is computed. Tensors that are
stored in other files are never opened.
"""

from __future__ import annotations

import math
import os
import resource
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
import onnx
from onnx import TensorProto, helper, inliner, numpy_helper, shape_inference

from fuzzer.children.onnx_known import KnownParts, TooManyNodes, constants
from fuzzer.children.onnx_open_sizes import OPEN_SIZE, close_sizes, made_from_sizes, open_sizes
from fuzzer.lanes.onnx.description import NoDescription, _node, _tensor
from fuzzer.seeds.onnx_graph import OnnxGraph, Refusal
from fuzzer.seeds.program import MAX_NODES
from fuzzer.system.processes import die_with_parent
from generators.onnx.model import ELEMENTS, Node, Tensor

MEMORY_BYTES = 8 << 30
CPU_SECONDS = 120
MAX_FILE = 2 << 30
MAX_CONSTANT = 1 << 16
"""The largest tensor, in bytes, whose numbers are part of the description."""
MOST_FUNCTIONS = 400
"""They may call each other so deep."""


class Unreadable(Exception):
    """The file cannot be described. The message is the line that the user sees."""


def loaded(path: Path) -> onnx.ModelProto:
    """The file, with its functions inlined. Raise `Unreadable` where it is no model that can be described."""
    if path.stat().st_size > MAX_FILE:
        raise Unreadable(f"is larger than {MAX_FILE >> 20} MiB")
    try:
        model = onnx.load(path, load_external_data=False)
    except Exception as error:  # protobuf's DecodeError has no type stub and no public module
        if type(error).__name__ != "DecodeError":
            raise
        raise Unreadable("is no ONNX file, or only the beginning of one") from None
    if not model.graph.node:
        raise Unreadable("has no nodes, or is no ONNX file")
    _check_external(model, path.parent)
    if model.functions:
        _check_functions(model)
        model = inliner.inline_local_functions(model)
    return model


def without_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model, with inputs in place of large initializers, and of those in other files."""
    _leave_out_weights(model.graph, {item.name for item in model.graph.initializer if _small(item) is not None})
    return model


def described(path: Path) -> OnnxGraph:
    until = time.process_time() + CPU_SECONDS / 3
    model = loaded(path)
    graph = model.graph
    owned = {item.name: item for item in graph.initializer} | {name: item for name, _, item in constants(graph.node)}
    small = {name for name, item in owned.items() if _small(item) is not None}
    _leave_out_weights(graph, small)
    sizes = open_sizes(graph, set(owned))
    with_open_sizes = _copied(model) if sizes else model
    close_sizes(graph, set(owned), OPEN_SIZE)
    given = dict(owned)
    parts = KnownParts(model, dict(owned))
    opsets = {each.domain: each.version for each in model.opset_import}
    opset = opsets.get("", opsets.get("ai.onnx", 0))
    try:
        parts.find(opset)
    except TooManyNodes:
        raise Unreadable(f"has more than {MAX_NODES} nodes when the branches of its If are inlined") from None
    from_sizes = made_from_sizes(parts, with_open_sizes, given, opset, until) if sizes else set()
    owned = parts.kept
    typed = parts.typed
    values = (*typed.input, *typed.output, *typed.value_info)
    types = {item.name: _type(item.type) for item in values if item.type.HasField("tensor_type")}
    types |= {name: (_element(item), tuple(item.dims)) for name, item in owned.items()}
    types |= {name: (_element_of(array), array.shape) for name, array in parts.computed.items()}
    return OnnxGraph(
        opset,
        tuple(item.name for item in graph.input if item.name not in owned),
        tuple(_plain(node) for node in graph.node if owned.keys().isdisjoint(node.output)),
        types,
        {name: tensor for name, item in owned.items() if (tensor := _small(item)) is not None},
        tuple(owned),
        tuple(item.name for item in graph.output),
        {name: attribute for name, attribute, _ in constants(graph.node)},
        {name: _tensor(numpy_helper.from_array(array)) for name, array in parts.computed.items()},
        tuple(sorted(parts.branched)),
        sizes,
        tuple(sorted(from_sizes)),
    )


def _copied(model: onnx.ModelProto) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    return copy


def _element_of(array: Any) -> str:
    return str(TensorProto.DataType.Name(helper.np_dtype_to_tensor_dtype(array.dtype)))


def _check_functions(model: Any) -> None:
    """Refuse a file that has more than `MAX_NODES` nodes when its functions are inlined: functions that call each other
    twice double with each of them."""
    functions = {(each.domain, each.name): each for each in model.functions}
    sizes: dict[tuple[str, str], int] = {}

    def inlined(nodes: Iterable[Any], callers: tuple[tuple[str, str], ...]) -> int:
        count = 0
        for node in nodes:
            key = (node.domain, node.op_type)
            if key in callers:
                raise Unreadable(f"its function {node.op_type!r} calls itself")
            if key in functions and key not in sizes:
                sizes[key] = inlined(functions[key].node, (*callers, key))
            count += sizes.get(key, 1)
            for attribute in node.attribute:
                count += sum(inlined(body.node, callers) for body in (attribute.g, *attribute.graphs))
        if count > MAX_NODES:
            raise Unreadable(f"has more than {MAX_NODES} nodes when its functions are inlined")
        return count

    if len(functions) > MOST_FUNCTIONS:
        raise Unreadable(f"has {len(functions)} functions, more than {MOST_FUNCTIONS}")
    inlined(model.graph.node, ())


def _check_external(model: Any, folder: Path) -> None:
    """Refuse a file whose external tensors lie outside of its own folder. Their files are not opened."""
    graphs = (model.graph, *model.functions)
    for item in (tensor for graph in graphs for tensor in tensors_of(graph)):
        for entry in item.external_data:
            if entry.key != "location":
                continue
            path = PurePosixPath(entry.value)
            if path.is_absolute() or ".." in path.parts or "\\" in entry.value:
                raise Unreadable(f"its tensor {item.name!r} is said to lie outside of its folder, in {entry.value!r}")
            if not (folder / path).resolve().is_relative_to(folder.resolve()):
                raise Unreadable(f"its tensor {item.name!r} lies in {entry.value!r}, a link out of its folder")


def tensors_of(graph: Any) -> Iterator[Any]:
    """Yield all tensors of a graph or function, including those in attributes of nodes."""
    if isinstance(graph, onnx.GraphProto):
        yield from graph.initializer
        yield from (part for sparse in graph.sparse_initializer for part in (sparse.values, sparse.indices))
    for node in graph.node:
        for attribute in node.attribute:
            yield from (attribute.t, *attribute.tensors)
            for sparse in (attribute.sparse_tensor, *attribute.sparse_tensors):
                yield from (sparse.values, sparse.indices)
            for body in (attribute.g, *attribute.graphs):
                yield from tensors_of(body)


def _small(item: Any) -> Tensor | None:
    if item.external_data or _element(item) not in ELEMENTS or item.ByteSize() > MAX_CONSTANT:
        return None
    try:
        return _tensor(item)
    except (ValueError, TypeError) as error:
        raise Unreadable(f"its tensor {item.name!r} is no tensor: {' '.join(str(error).split())}") from None


def _element(item: Any) -> str:
    element = _name_of(item.data_type)
    if element is None:
        raise Unreadable(f"its tensor {item.name!r} has the element type {item.data_type}, which there is not")
    return element


def _name_of(element: int) -> str | None:
    """The name of an element type; None where there is none with this number."""
    return str(TensorProto.DataType.Name(element)) if element in TensorProto.DataType.values() else None


def _leave_out_weights(graph: Any, kept: set[str]) -> None:
    """Make large tensors inputs, because shape inference needs only their types."""
    large = [item for item in graph.initializer if item.name not in kept]
    there = {item.name for item in graph.input}
    for item in large:
        if item.name not in there:
            graph.input.append(helper.make_tensor_value_info(item.name, item.data_type, list(item.dims)))
        graph.initializer.remove(item)


def _type(type: Any) -> tuple[str, tuple[int | None, ...]]:
    tensor = type.tensor_type
    element = _name_of(tensor.elem_type)
    if element is None:
        raise Unreadable(f"a value has the element type {tensor.elem_type}, which there is not")
    dims = tuple(dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim)
    known = tensor.HasField("shape")
    return element, dims if known else (None,)


def _plain(node: Any) -> Node:
    why = _why_opaque(node)
    if not why:
        try:
            return _node(node)
        except (NoDescription, ValueError, TypeError):
            why = "(attribute)"
    return Node(node.op_type, tuple(node.input), tuple(node.output), (), node.name, why)


def _why_opaque(node: Any) -> str:
    """The key of `OPAQUE` that says why a node cannot be described; "" where only `_node` can tell."""
    if any(attribute.HasField("g") or attribute.graphs for attribute in node.attribute):
        return "(graph)"
    if any(tensor.external_data for attribute in node.attribute for tensor in (attribute.t, *attribute.tensors)):
        return "(other file)"  # onnx would open the file
    numbers = (number for attribute in node.attribute for number in (attribute.f, *attribute.floats))
    return "" if all(map(math.isfinite, numbers)) else "(not finite)"


_REFUSALS = (
    *(shape_inference.InferenceError, onnx.checker.ValidationError),
    *(RuntimeError, ValueError),  # of its C++, which has no types of its own for everything that it refuses
    *(OSError, MemoryError),
)


def answer(path: Path) -> OnnxGraph | Refusal:
    try:
        return described(path)
    except Unreadable as refused:
        return Refusal(str(refused))
    except _REFUSALS as error:
        return Refusal(" ".join(str(error).split())[:300] or type(error).__name__)


def main() -> None:
    die_with_parent(int(sys.argv[2]))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # keeps output of libraries out of the answer
    answers.write(msgspec.json.encode(answer(Path(sys.argv[1]))))
    answers.close()


if __name__ == "__main__":
    main()
