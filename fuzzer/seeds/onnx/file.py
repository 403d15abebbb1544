"""Read an .onnx file. Children with limits parse it (`fuzzer.seeds.onnx.reader.reader`) and ask onnxruntime about it
(`fuzzer.seeds.onnx.reader.refusal`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from fuzzer.seeds.bounded_child import answer_of
from fuzzer.seeds.bounds import TopologicalOrder, require_sizes
from fuzzer.seeds.onnx.graph import MAX_BYTES, OPAQUE, OnnxGraph, Refusal, RunTypes, WantedSizes, decode
from fuzzer.system import temporary
from generators.graph import Array, DType, Invalid, TensorType
from generators.onnx.model import ELEMENTS, Node
from generators.onnx.source import tensor
from generators.onnx.unlisted import captured

MODULE = "fuzzer.seeds.onnx.reader.reader"
REFUSAL_MODULE = "fuzzer.seeds.onnx.reader.refusal"
RUN_MODULE = "fuzzer.seeds.onnx.reader.run_types"


def read(path: Path, inputs: Mapping[str, Array] = {}, sizes: Mapping[str, int] = {}) -> OnnxGraph:
    """Read a file. Its open sizes have the numbers of `sizes`, by their names, and those of the inputs that are known,
    by name. Raise `Invalid` with one line that describes what is wrong and where."""
    if not inputs and not sizes:
        return decode(answer_of(MODULE, path, MAX_BYTES), str(path))
    with temporary.folder() as folder:
        wanted = folder / "wanted"
        wanted.write_bytes(
            msgspec.json.encode(WantedSizes({name: array.shape for name, array in inputs.items()}, dict(sizes)))
        )
        graph = decode(answer_of(MODULE, path, MAX_BYTES, wanted), str(path))
    there = sorted({name for names in graph.open.values() for name in names if name})
    if unknown := [name for name in sizes if name not in there]:
        raise Invalid(f"{path}: it has no open size {unknown[0]!r}; its open sizes are {', '.join(there) or 'none'}")
    return graph


def refusal_of(path: Path) -> str:
    """Why onnxruntime refuses a file as invalid; "" where it does not, or where its child gives no answer: it does not
    run the case then, which says more."""
    with suppress(Invalid, msgspec.DecodeError):
        return msgspec.json.decode(answer_of(REFUSAL_MODULE, path, MAX_BYTES), type=Refusal).refused
    return ""


def types_in_run(
    path: Path, values: Mapping[str, Array], drawn: Sequence[str] = ()
) -> dict[str, tuple[str, tuple[int, ...]]]:
    """The element type and the sizes of each value that a node of a file makes, where onnxruntime runs it with these
    numbers of its inputs and weights, of which those of the inputs `drawn` are drawn. Raise `Invalid` where it does
    not."""
    given = {name: tensor(array) for name, array in values.items()}
    with temporary.folder() as folder:
        file = folder / "values"
        file.write_bytes(msgspec.msgpack.encode(given))
        text = answer_of(RUN_MODULE, path, MAX_BYTES, file)
    try:
        return msgspec.json.decode(text, type=RunTypes).types
    except msgspec.ValidationError:
        refused = msgspec.json.decode(text, type=Refusal).refused
    raise Invalid(f"{path}: onnxruntime does not run it with these inputs: {refused}{were_drawn(drawn)}")


def were_drawn(inputs: Sequence[str]) -> str:
    """What a person may do where a model refuses inputs that were drawn; "" where none were."""
    if not inputs:
        return ""
    names = ", ".join(map(repr, inputs))
    return f"; {names} {'was' if len(inputs) == 1 else 'were'} drawn: give inputs that the model takes"


def types_of(graph: OnnxGraph, path: Path) -> dict[str, TensorType]:
    """The types that are known and supported. Raise `Invalid` where no model has a value of such sizes."""
    return {name: type for name, each in graph.types.items() if (type := _type(name, *each, path))}


def in_order(graph: OnnxGraph, path: Path, nodes: tuple[Node, ...]) -> Iterator[Node]:
    """Yield the nodes. Raise `Invalid` where one reads what no node before it makes."""
    order = TopologicalOrder((*graph.inputs, *graph.owned), len(nodes), str(path))
    for node in nodes:
        reads = (*filter(None, node.inputs), *captured(node))
        order.next(node.op, reads, tuple(name for name in node.outputs if name))
        yield node


def title_of(node: Node) -> str:
    """The operator of a node, after the name of its domain where that is not ONNX's own."""
    return node.op if node.domain in ("", "ai.onnx", *OPAQUE) else f"{node.domain}.{node.op}"


def _type(name: str, element: str, shape: tuple[int | None, ...], path: Path) -> TensorType | None:
    require_sizes(name, shape, str(path))
    dtype = dtype_of(element)
    if dtype is None or None in shape:
        return None
    return TensorType(dtype, tuple(size for size in shape if size is not None))


def dtype_of(element: str) -> DType | None:
    """The dtype of an element type of ONNX; None where a case has no tensors of it."""
    return DType.of(ELEMENTS.get(element))
