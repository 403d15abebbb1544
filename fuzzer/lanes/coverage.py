"""Which keys of TVM's converter tables a case reaches. A process of its own, started by `fuzzer.coverage.worker`.

An importer turns each node of a graph into a key of its table and calls the converter that stands there. This does the
first half: exporters that die, and importers that refuse, do not keep anyone from knowing what a program consists of.
"""

from __future__ import annotations

import gc
import io
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import onnx
import torch
from multiprocess.connection import Connection
from tvm.relax.frontend.onnx import onnx_frontend
from tvm.relax.frontend.torch.exported_program_translator import ExportedProgramImporter
from tvm.relax.frontend.torch.fx_translator import TorchFXImporter

from fuzzer.coverage.question import Answer, Question, Table, Tables, Way
from fuzzer.isolate.processes import die_with_parent
from fuzzer.lanes.base import Bench
from fuzzer.lanes.warmup import remember_decompositions
from generators import case_file
from generators.graph import Case
from oracles.outcome import Stage

MAX_MESSAGE = 300


def tables() -> dict[Table, frozenset[str]]:
    """The keys of each table; layers of torch.nn by their short name."""
    found = {
        Table.EXPORT: ExportedProgramImporter().create_convert_map(),
        Table.FX: TorchFXImporter().create_convert_map(),
        Table.ONNX: onnx_frontend._get_convert_map(),
    }
    return {table: frozenset(map(_key, keys)) for table, keys in found.items()}


def _key(key: str | type) -> str:
    return key if isinstance(key, str) else f"nn.{key.__name__}"


def look(case: Case, question: Question) -> Answer:
    """The keys on one way, in a table or not; and the error that ended it, if one did."""
    seen: set[str] = set()
    error = ""
    try:
        with torch.no_grad():
            seen.update(_WAYS[question.way](case, question.opset))
    except Exception as raised:  # what an exporter refuses has no keys: that is an answer
        error = _told(raised)
    return Answer(tuple(sorted(seen)), error)


def _told(error: BaseException) -> str:
    """Exporters wrap what went wrong in pages of advice."""
    while error.__cause__ is not None:
        error = error.__cause__
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:MAX_MESSAGE]


def exported_keys(case: Case, opset: int) -> Iterator[str]:
    """What `from_exported_program` takes as it is where `run_ep_decomposition` is off."""
    yield from _targets(_exported(case).graph_module)


def decomposed_keys(case: Case, opset: int) -> Iterator[str]:
    yield from _targets(_exported(case).run_decompositions().graph_module)


def _targets(module: Any) -> Iterator[str]:
    """As `_translate_fx_graph` names them, in the branches of a `cond` too."""
    for node in module.graph.nodes:
        if node.op == "call_function":
            yield node.target.__name__
            if node.target is torch.ops.higher_order.cond:
                for branch in node.args[1:3]:
                    yield from _targets(getattr(module, branch.target))


def traced_keys(case: Case, opset: int) -> Iterator[str]:
    """As `TorchFXImporter.from_fx` names them."""
    module = torch.fx.symbolic_trace(_bench(case).model)
    layers = dict(module.named_modules())
    for node in module.graph.nodes:
        match node.op:
            case "call_function":
                yield node.target.__name__
            case "call_method":
                yield node.target
            case "call_module":
                yield _key(type(layers[node.target]))


def torchscript_keys(case: Case, opset: int) -> Iterator[str]:
    """What the exporter writes, before anyone folds constants."""
    bench = _bench(case)
    file: Any = io.BytesIO()
    axes = {name: {axis: dim for axis, dim in enumerate(dims) if dim} for name, dims in _symbols(case).items()}
    torch.onnx.export(
        bench.model,
        bench.torch_inputs(),
        file,
        dynamo=False,
        opset_version=opset,
        input_names=list(bench.inputs),
        dynamic_axes=axes,
    )
    yield from _operators(onnx.load_from_string(file.getvalue()).graph)


def dynamo_keys(case: Case, opset: int) -> Iterator[str]:
    program = torch.onnx.export(_exported(case), (), None, dynamo=True, opset_version=opset, verbose=False)
    assert program is not None
    yield from _operators(program.model_proto.graph)


def _operators(graph: onnx.GraphProto) -> Iterator[str]:
    """TVM asks for the type alone, not for its domain, and follows the branches of an `If`."""
    for node in graph.node:
        yield node.op_type
        if node.op_type == "If":
            for attribute in node.attribute:
                yield from _operators(attribute.g)


def _exported(case: Case) -> torch.export.ExportedProgram:
    bench = _bench(case)
    sizes = tuple([tuple([torch.export.Dim.AUTO if dim else None for dim in dims]) for dims in _symbols(case).values()])
    return torch.export.export(
        bench.model, bench.torch_inputs(), dynamic_shapes=(sizes if any(map(any, sizes)) else None)
    )


def _symbols(case: Case) -> dict[str, tuple[str, ...]]:
    """Each input's symbolic sizes by axis; empty text where the size is a number."""
    inputs = [item for item in case.graph.inputs if not item.role.is_owned]
    return {i.value.name: tuple(["" if isinstance(d, int) else str(d) for d in i.value.type.shape]) for i in inputs}


def _bench(case: Case) -> Bench:
    return Bench(case, _ignore)


def _ignore(stage: Stage) -> None:
    return


_WAYS: dict[Way, Callable[[Case, int], Iterator[str]]] = {
    Way.EXPORT: exported_keys,
    Way.DECOMPOSED: decomposed_keys,
    Way.FX: traced_keys,
    Way.ONNX: torchscript_keys,
    Way.DYNAMO: dynamo_keys,
}


def main() -> None:
    """Arguments: the socket, the supervisor's process number."""
    die_with_parent(int(sys.argv[2]))
    connection = Connection(int(sys.argv[1]))
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    remember_decompositions()
    gc.collect()
    gc.freeze()  # a decomposition takes half the time where collections do not look at all of torch
    connection.send_bytes(msgspec.json.encode(Tables({table: tuple(sorted(keys)) for table, keys in tables().items()})))
    while True:
        try:
            question, text, tensors = (connection.recv_bytes() for _ in range(3))
        except EOFError:
            os._exit(0)  # the supervisor has what it wants; torch and TVM need not tidy up
        case = case_file.decode(text, tensors, "question")
        connection.send_bytes(msgspec.json.encode(look(case, msgspec.json.decode(question, type=Question))))


if __name__ == "__main__":
    main()
