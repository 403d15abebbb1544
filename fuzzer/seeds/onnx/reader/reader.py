"""Describe an ONNX file as plain data: `python -m fuzzer.seeds.onnx.reader.reader FILE PARENT [WANTED]`, which prints
JSON. WANTED is a file of JSON: the numbers of open sizes.

The onnx package parses untrusted files in C++. It does so in this child process, under limits of memory and CPU time.
Shapes are inferred, and numbers that follow from shapes and small constants; nothing else is computed. Tensors that are
stored in other files are never opened.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
import onnx
from onnx import TensorProto, helper, inliner, numpy_helper, shape_inference

from fuzzer.lanes.onnx.all_tensors import tensors_of
from fuzzer.lanes.onnx.description import NoDescription, _node, _tensor
from fuzzer.lanes.onnx.given import without_numbers
from fuzzer.seeds.bounded_child import limit_child, limits_of
from fuzzer.seeds.bounds import MAX_NODES, why_no_sizes
from fuzzer.seeds.onnx.graph import OnnxGraph, Refusal, WantedSizes
from fuzzer.seeds.onnx.reader.bodies import has_bodies, with_outer_weights
from fuzzer.seeds.onnx.reader.known import KnownParts, TooManyNodes, constants
from fuzzer.seeds.onnx.reader.open_sizes import OPEN_SIZE, close_sizes, made_from_sizes, open_sizes, sizes_of
from fuzzer.seeds.onnx.reader.sizes_and_places import sizes_and_places
from generators.onnx.model import ELEMENTS, Node, Tensor
from generators.onnx.schema import newest_opset
from generators.onnx.small_types import SMALL_TYPES

MAX_FILE = 2 << 30
MAX_CONSTANT = 1 << 16
"""The largest tensor, in bytes, whose numbers are part of the description."""
MOST_FUNCTIONS = 400
"""They may call each other so deep."""


class Unreadable(Exception):
    """The file cannot be described. The message is the line that the user sees."""


def loaded(path: Path) -> onnx.ModelProto:
    """The file, with its functions inlined. Raise `Unreadable` where it is no model that can be described."""
    return _inlined(_read(path))


def _inlined(model: onnx.ModelProto) -> onnx.ModelProto:
    return inliner.inline_local_functions(model) if model.functions else model


def _read(path: Path) -> onnx.ModelProto:
    """The file as it is, with functions that may be inlined."""
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
    if sparse := model.graph.sparse_initializer:
        raise Unreadable(f"its tensor {sparse[0].values.name!r} is sparse, which is not supported")
    _check_external(model, path.parent)
    _open_unknown_sizes(model.graph)
    if model.functions:
        _check_functions(model)
    return model


def _open_unknown_sizes(graph: onnx.GraphProto) -> None:
    """Leave a size of -1 open, as which paddle2onnx writes a size that it does not know. Refuse other negative sizes,
    and those for which the inference of types would take all memory."""
    for item in (*graph.input, *graph.output, *graph.value_info):
        for dim in item.type.tensor_type.shape.dim:
            if dim.dim_value < -1:
                raise Unreadable(f"{item.name!r} has the size {dim.dim_value}")
            if dim.dim_value == -1:
                dim.Clear()
        sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in item.type.tensor_type.shape.dim]
        if why := why_no_sizes(sizes):
            raise Unreadable(f"{item.name} has {why}")


def without_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model, with inputs in place of large initializers, and of those in other files."""
    _leave_out_weights(model.graph, {item.name for item in model.graph.initializer if _small(item) is not None})
    return model


def described(path: Path, wanted: WantedSizes = WantedSizes()) -> OnnxGraph:
    """Describe a file. Open sizes get the numbers that are wanted, where there are some."""
    until = time.process_time() + limits_of(path).cpu_seconds / 3
    file = _read(path)
    model = _inlined(file)
    graph = model.graph
    as_given = _given(model if _have_weights(file.functions) else file)
    unchanged = unchanged_nodes(graph)
    owned = tensors_of_model(graph)
    small = {name for name, item in owned.items() if _small(item) is not None}
    _leave_out_weights(graph, small)
    sizes = open_sizes(graph, set(owned))
    with_open_sizes = _copied(model) if sizes else model
    close_sizes(graph, set(owned), OPEN_SIZE, sizes_of(sizes, wanted))
    given = dict(owned)
    parts = KnownParts(model, dict(owned))
    opsets = {each.domain: each.version for each in model.opset_import}
    opset = opsets.get("", opsets.get("ai.onnx", 0)) or newest_opset()  # a file of other domains alone need not say it
    try:
        parts.find(opset)
    except TooManyNodes:
        raise Unreadable(f"has more than {MAX_NODES} nodes when the branches of its If are inlined") from None
    from_sizes = made_from_sizes(parts, with_open_sizes, given, opset, until) if sizes else set()
    owned = parts.kept
    typed = parts.typed
    values = (*typed.input, *typed.output, *typed.value_info)
    types = {item.name: _type(item.type) for item in values if item.type.WhichOneof("value")}
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
        tuple(_plain(node) for node in unchanged if owned.keys().isdisjoint(node.output)),
        {domain: version for domain, version in opsets.items() if domain not in ("", "ai.onnx")},
        as_given,
        tuple(sorted(sizes_and_places(file.graph) & given.keys())),
    )


def _given(model: onnx.ModelProto) -> bytes:
    """The file as it is, without the numbers of tensors of floats and of large ones, which a case has."""
    as_it_is = _copied(model)
    if unchanged := unchanged_nodes(as_it_is.graph):
        del as_it_is.graph.node[:]
        as_it_is.graph.node.extend(unchanged)
    weights = {name for name, item in tensors_of_model(as_it_is.graph).items() if is_weight(item)}
    return without_numbers(as_it_is, weights - sizes_and_places(as_it_is.graph))


def _have_weights(functions: Iterable[onnx.FunctionProto]) -> bool:
    """Whether a tensor of a function is drawn or too large: the case has no name for it, so that its file must have the
    nodes of the functions in their place."""
    return any(is_weight(item) for function in functions for item in tensors_of(function))


def tensors_of_model(graph: onnx.GraphProto) -> dict[str, TensorProto]:
    """The initializers, and the results of nodes Constant."""
    return {item.name: item for item in graph.initializer} | {name: item for name, _, item in constants(graph.node)}


def unchanged_nodes(graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    """The nodes as they are, where some contain graphs. The weights of these become tensors of the model."""
    if not has_bodies(graph):
        return []
    nodes = onnx.GraphProto(node=graph.node)
    for name, item in with_outer_weights(nodes, is_weight).items():
        item.name = name
        graph.initializer.append(item)
    return list(nodes.node)


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


def is_weight(item: TensorProto) -> bool:
    """Whether a tensor of a graph inside of a node is drawn or too large to be part of the node, and so becomes a
    tensor of the model."""
    numbers = math.prod(item.dims)
    floats = _element(item) in ("FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16")
    return bool(item.external_data) or item.ByteSize() > MAX_CONSTANT or (floats and numbers > 1)


def _small(item: Any) -> Tensor | None:
    if item.external_data or _element(item) not in (*ELEMENTS, *SMALL_TYPES) or item.ByteSize() > MAX_CONSTANT:
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
    """The element type and the sizes; for a value that is no tensor the word for it, such as SEQUENCE."""
    if not type.HasField("tensor_type"):
        return type.WhichOneof("value").removesuffix("_type").upper(), ()
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
            why = "(graph)" if has_bodies(onnx.GraphProto(node=[node])) else "(attribute)"
    return Node(node.op_type, tuple(node.input), tuple(node.output), (), node.name, why)


def _why_opaque(node: Any) -> str:
    """The key of `OPAQUE` that says why a node cannot be described; "" where only `_node` can tell."""
    graph = onnx.GraphProto(node=[node])
    if any(tensor.external_data for tensor in tensors_of(graph)):
        return "(other file)"  # onnx would open the file
    numbers = (number for each in _all_attributes(graph) for number in (each.f, *each.floats))
    return "" if all(map(math.isfinite, numbers)) else "(not finite)"


def _all_attributes(graph: Any) -> Iterator[Any]:
    """The attributes of all nodes of a graph, and of graphs inside of it."""
    for node in graph.node:
        for attribute in node.attribute:
            yield attribute
            for body in (attribute.g, *attribute.graphs):
                yield from _all_attributes(body)


_REFUSALS = (
    *(shape_inference.InferenceError, onnx.checker.ValidationError),
    *(RuntimeError, ValueError),  # of its C++, which has no types of its own for everything that it refuses
    OSError,
)


def answer(path: Path, wanted: Path | None = None) -> OnnxGraph | Refusal:
    """The description. `wanted` is a file with `WantedSizes`."""
    try:
        sizes = msgspec.json.decode(wanted.read_bytes(), type=WantedSizes) if wanted else WantedSizes()
        return described(path, sizes)
    except Unreadable as refused:
        return Refusal(str(refused))
    except MemoryError:
        return Refusal(limits_of(path).too_much_memory)
    except _REFUSALS as error:
        return Refusal(" ".join(str(error).split())[:300] or type(error).__name__)


def main() -> None:
    path = Path(sys.argv[1])
    with limit_child(int(sys.argv[2]), limits_of(path)) as answers:
        answers.write(msgspec.json.encode(answer(path, *map(Path, sys.argv[3:]))))


if __name__ == "__main__":
    main()
