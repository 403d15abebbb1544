"""The keys of TVM's converter tables that a case reaches. `fuzzer.coverage.worker` starts this as a process.

An importer turns each node of a graph into a key of its table, and calls the converter of that key. This program only
computes the keys, so that they are known even where an exporter crashes or an importer refuses the program.
"""

from __future__ import annotations

import functools
import gc
import importlib
import io
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import msgspec
import onnx
import torch
from multiprocess.connection import Connection
from tvm.relax.frontend.onnx import onnx_frontend
from tvm.relax.frontend.torch.exported_program_translator import ExportedProgramImporter
from tvm.relax.frontend.torch.fx_translator import TorchFXImporter

from fuzzer.coverage.question import Answer, Question, Table, Tables, Way
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.torch.decompositions import remember_decompositions
from fuzzer.lanes.torch.prepared import model_of, tensors_of
from fuzzer.system import no_network
from fuzzer.system.processes import die_with_parent
from generators import case_file
from generators.graph import Case
from oracles.outcome import Stage

MAX_MESSAGE = 300


def tables() -> dict[Table, frozenset[str]]:
    """Return the keys of each table. Layers of torch.nn have their short names."""
    found = {
        Table.EXPORT: ExportedProgramImporter().create_convert_map(),
        Table.FX: TorchFXImporter().create_convert_map(),
        Table.ONNX: onnx_frontend._get_convert_map(),
    }
    return {table: frozenset(map(_key, keys)) for table, keys in found.items()}


def _key(key: str | type) -> str:
    return key if isinstance(key, str) else f"nn.{key.__name__}"


class Subject:
    """A case, and the exported program that most ways to an importer share. None of them changes it."""

    def __init__(self, case: Case) -> None:
        self.case = case

    @property
    def prepared(self) -> PreparedCase:
        return PreparedCase(self.case, _ignore)

    @cached_property
    def exported(self) -> torch.export.ExportedProgram:
        prepared, inputs = self.prepared, self.symbols.values()
        sizes = tuple([tuple([torch.export.Dim.AUTO if dim else None for dim in dims]) for dims in inputs])
        return torch.export.export(
            model_of(prepared), tensors_of(prepared), dynamic_shapes=(sizes if any(map(any, sizes)) else None)
        )

    @property
    def symbols(self) -> dict[str, tuple[str, ...]]:
        """The symbolic size of each input and axis; an empty text where the size is a number."""
        values = [item.value for item in self.case.graph.inputs if not item.role.is_owned]
        return {v.name: tuple(["" if isinstance(d, int) else str(d) for d in v.type.shape]) for v in values}


def look(subject: Subject, question: Question) -> Answer:
    """Return the keys on one way, whether or not a table has them, and the error that ended it, if there was one."""
    keys: set[str] = set()
    error = ""
    try:
        with torch.no_grad():
            keys.update(_WAYS[question.way](subject, question.opset))
    except Exception as raised:  # an exporter that fails yields no more keys
        error = _text_of(raised)
    return Answer(tuple(sorted(keys)), error)


def _text_of(error: BaseException) -> str:
    """Describe the first cause of an error: exporters wrap it in long advice."""
    while error.__cause__ is not None:
        error = error.__cause__
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:MAX_MESSAGE]


def exported_keys(subject: Subject, opset: int) -> Iterator[str]:
    """Yield the keys of the program that `from_exported_program` gets with `run_ep_decomposition=False`."""
    yield from _targets(subject.exported.graph_module)


def decomposed_keys(subject: Subject, opset: int) -> Iterator[str]:
    yield from _targets(subject.exported.run_decompositions().graph_module)


def _targets(module: Any) -> Iterator[str]:
    """Yield keys as `_translate_fx_graph` computes them, also those in the branches of a `cond`."""
    for node in module.graph.nodes:
        if node.op == "call_function":
            yield node.target.__name__
            if node.target is torch.ops.higher_order.cond:
                for branch in node.args[1:3]:
                    yield from _targets(getattr(module, branch.target))


def traced_keys(subject: Subject, opset: int) -> Iterator[str]:
    """Yield keys as `TorchFXImporter.from_fx` computes them."""
    module = torch.fx.symbolic_trace(model_of(subject.prepared))
    layers = dict(module.named_modules())
    for node in module.graph.nodes:
        match node.op:
            case "call_function":
                yield node.target.__name__
            case "call_method":
                yield node.target
            case "call_module":
                yield _key(type(layers[node.target]))


def torchscript_keys(subject: Subject, opset: int) -> Iterator[str]:
    """Yield the operators that the TorchScript exporter writes, without constant folding."""
    prepared = subject.prepared
    file: Any = io.BytesIO()
    axes = {name: {axis: dim for axis, dim in enumerate(dims) if dim} for name, dims in subject.symbols.items()}
    torch.onnx.export(
        model_of(prepared),
        tensors_of(prepared),
        file,
        dynamo=False,
        opset_version=opset,
        input_names=list(prepared.inputs),
        dynamic_axes=axes,
    )
    yield from _operators(onnx.load_from_string(file.getvalue()).graph)


def dynamo_keys(subject: Subject, opset: int) -> Iterator[str]:
    program = torch.onnx.export(subject.exported, (), None, dynamo=True, opset_version=opset, verbose=False)
    assert program is not None
    yield from _operators(program.model_proto.graph)


def _operators(graph: onnx.GraphProto) -> Iterator[str]:
    """Yield operator types without domains, also those in the branches of an `If`, as TVM looks them up."""
    for node in graph.node:
        yield node.op_type
        if node.op_type == "If":
            for attribute in node.attribute:
                yield from _operators(attribute.g)


def _ignore(stage: Stage) -> None:
    return


_WAYS: dict[Way, Callable[[Subject, int], Iterator[str]]] = {
    Way.EXPORT: exported_keys,
    Way.DECOMPOSED: decomposed_keys,
    Way.FX: traced_keys,
    Way.ONNX: torchscript_keys,
    Way.DYNAMO: dynamo_keys,
}


def _subject(text: bytes, tensors: bytes) -> Subject:
    return Subject(case_file.decode(text, tensors, "question"))


def remember_translations() -> None:
    """Cache the translations of the dynamo exporter. Parsing them at each export takes three quarters of its time."""
    module: Any = importlib.import_module("torch.onnx._internal.exporter._registration")
    module.ONNXRegistry.from_torchlib = staticmethod(functools.cache(module.ONNXRegistry.from_torchlib))


def main() -> None:
    """Arguments: the socket, the supervisor's process number."""
    die_with_parent(int(sys.argv[2]))
    no_network.enter()
    connection = Connection(int(sys.argv[1]))
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    remember_decompositions()
    remember_translations()
    gc.collect()
    gc.freeze()  # a decomposition takes half the time when collections skip torch's objects
    connection.send_bytes(msgspec.json.encode(Tables({table: tuple(sorted(keys)) for table, keys in tables().items()})))
    subject_of = functools.lru_cache(maxsize=1)(_subject)  # questions about one case follow one another
    while True:
        try:
            question, text, tensors = (connection.recv_bytes() for _ in range(3))
        except EOFError:
            os._exit(0)  # there are no more questions; skip the destructors of torch and TVM
        subject = subject_of(text, tensors)
        connection.send_bytes(msgspec.json.encode(look(subject, msgspec.json.decode(question, type=Question))))


if __name__ == "__main__":
    main()
