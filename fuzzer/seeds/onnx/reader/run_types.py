"""Say which types the values of an ONNX file have in a run: `python -m fuzzer.seeds.onnx.reader.run_types FILE PARENT
VALUES`, which prints JSON. VALUES is a file with the numbers of inputs and weights.

onnxruntime runs the file in this child process, under limits of memory and CPU time. All values are outputs. Tensors
that are stored in other files are never opened: VALUES has numbers for them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
from onnx import helper, numpy_helper

from fuzzer.lanes.onnx.all_tensors import tensors_of
from fuzzer.lanes.onnx.held_ends import with_held_ends
from fuzzer.lanes.onnx.session import ERRORS, NO_KERNEL
from fuzzer.lanes.onnx.witnesses import by_interpreter, by_onnxruntime
from fuzzer.seeds.bounded_child import limit_child, limits_of
from fuzzer.seeds.onnx.graph import Refusal, RunTypes
from fuzzer.seeds.onnx.reader.reader import Unreadable, loaded, tensors_of_model, unchanged_nodes
from generators.graph import Array
from generators.onnx.model import ELEMENTS, Tensor, require_array
from generators.onnx.small_types import OF_NUMBER, in_small_type

_ELEMENTS = {dtype: element for element, dtype in ELEMENTS.items()}


def run_types(path: Path, values: Path) -> RunTypes:
    """The type of each value. Raise `Unreadable` where onnxruntime does not run the file."""
    model = loaded(path)
    graph = model.graph
    given = msgspec.msgpack.decode(values.read_bytes(), type=dict[str, Tensor])
    for name, tensor in given.items():
        require_array(tensor, name)
    _give(graph, given)
    if any(tensor.external_data for tensor in tensors_of(graph)):
        raise Unreadable("onnxruntime would open another file")
    names = [name for node in graph.node for name in node.output if name]
    small = _small_values(model)
    del graph.output[:], graph.value_info[:]
    graph.output.extend(small.get(name) or helper.make_empty_tensor_value_info(name) for name in names)
    inputs = {item.name for item in graph.input}
    model, feeds = with_held_ends(model, {name: tensor.array for name, tensor in given.items() if name in inputs})
    try:
        results = by_onnxruntime(model, feeds)
    except NO_KERNEL as why:
        results = _by_interpreter(model, feeds, why)
    except ERRORS as error:
        raise Unreadable(" ".join(str(error).split())) from None
    except RuntimeError as error:  # a result that numpy cannot hold
        raise Unreadable(" ".join(str(error).split())) from None
    return RunTypes({name: _type(result) for name, result in zip(names, results, strict=True)})


def _small_values(model: onnx.ModelProto) -> dict[str, onnx.ValueInfoProto]:
    """The values of small types, as far as they are inferred."""
    typed = onnx.shape_inference.infer_shapes(model).graph
    values = (*typed.output, *typed.value_info)
    return {item.name: item for item in values if item.type.tensor_type.elem_type in OF_NUMBER}


def _by_interpreter(model: onnx.ModelProto, feeds: Mapping[str, Array], why: Exception) -> tuple[Array, ...]:
    try:
        return by_interpreter(model, feeds)
    except Exception as error:  # it has no error of its own for what it does not run
        raise Unreadable(f"{why}; nor does the interpreter of the onnx package: {error}"[:300]) from None


def _give(graph: onnx.GraphProto, given: Mapping[str, Tensor]) -> None:
    """Replace the numbers of the model's tensors, those of nodes Constant too."""
    nodes = unchanged_nodes(graph) or list(graph.node)
    small = {name: OF_NUMBER.get(item.data_type) for name, item in tensors_of_model(graph).items()}
    kept = [node for node in nodes if node.op_type != "Constant" or node.output[0] not in given]
    made = {node.output[0] for node in nodes} - {node.output[0] for node in kept}
    owned = {item.name for item in graph.initializer} & given.keys()
    others = [item for item in graph.initializer if item.name not in owned]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(kept)
    graph.initializer.extend(others)
    for name in sorted(owned | made):
        array, own = given[name].array, small[name]
        graph.initializer.append(numpy_helper.from_array(in_small_type(array, own) if own else array, name))


def _type(result: Any) -> tuple[str, tuple[int, ...]]:
    """The element type and the sizes. What is no tensor of numbers has a name that is no element type."""
    if not isinstance(result, np.ndarray):
        return "sequence" if isinstance(result, list) else "no tensor", ()
    array: Array = result
    return _ELEMENTS.get(array.dtype, "STRING" if array.dtype.kind == "O" else str(array.dtype)), array.shape


def answer(path: Path, values: Path) -> RunTypes | Refusal:
    try:
        return run_types(path, values)
    except Unreadable as refused:
        return Refusal(str(refused))
    except MemoryError:
        return Refusal(limits_of(path, values).too_much_memory)


def main() -> None:
    path, values = Path(sys.argv[1]), Path(sys.argv[3])
    with limit_child(int(sys.argv[2]), limits_of(path, values)) as answers:
        answers.write(msgspec.json.encode(answer(path, values)))


if __name__ == "__main__":
    main()
