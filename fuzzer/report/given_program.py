"""The source of a module that makes the calls of a given program of PyTorch (`generators.torch.given`).

    class Model(torch.nn.Module):
        def forward(self, x):
            sym_size_int = x.shape[0]
            view = torch.ops.aten.view.default(x, [sym_size_int, -1])
            return (view,)

It is made in pure Python of the JSON document. What the document says becomes a checked name or a literal.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from fuzzer.report.given_calls import Body, NoScript
from fuzzer.report.script_source import NOTHING, Source, joined, quoted, source
from fuzzer.seeds.torch.exported import DTYPES, Exported, Graph, Owned, Signature
from generators.graph import Case, Invalid
from generators.torch.given import check_given


@dataclass(frozen=True, slots=True)
class ProgramSource:
    """The class `Model`.

    owned    the argument of its constructor for each parameter and buffer that the case has, by the program's name
    inputs   the program's names of the tensors that forward takes, in order
    changes  whether it may change its inputs or its buffers
    program  the document
    """

    source: Source
    owned: dict[str, Source]
    inputs: tuple[str, ...]
    changes: bool
    program: Exported


def program_source(case: Case) -> ProgramSource:
    """The source of the given program of the case. Raise `NoScript` where it has something that cannot be written."""
    assert case.given is not None
    made = _program_source(case.given.model, frozenset(case.given.names.values()))
    if len(made.inputs) != len(case.inputs):
        raise NoScript("takes other inputs than its case")
    return made


@lru_cache(4)
def _program_source(model: bytes, known: frozenset[str]) -> ProgramSource:
    """`known`: the program's names of what the case has numbers for."""
    program = _document(model)
    graph, signature = program.graph_module.graph, program.graph_module.signature
    body = Body()
    if any(spec.constant_input is not None for spec in signature.input_specs):
        raise NoScript("takes a number or another value of Python beside its tensors")
    inputs = [
        spec.user_input.arg.as_tensor.name
        for spec in signature.input_specs
        if spec.user_input is not None and spec.user_input.arg.as_tensor is not None
    ]
    arguments = [body.add(each) for each in inputs]
    owned, setup = {}, []
    for each, trained in _owned(signature):
        if each.arg.name in known:
            owned[each.arg.name] = argument = body.add_own(each.arg.name)
            setup.append(_set(argument, trained=trained and _is_float(graph, each.arg.name)))
    body.write(graph.nodes)
    body.give(_results(signature))
    text = _class(list(owned.values()), setup, arguments, body.lines)
    return ProgramSource(text, owned, tuple(inputs), body.changes, program)


def _document(model: bytes) -> Exported:
    try:
        check_given(model)
        return msgspec.json.decode(model, type=Exported)
    except (Invalid, msgspec.DecodeError, RecursionError) as error:
        raise NoScript(f"is no document that can be read: {error}") from None


def _owned(signature: Signature) -> Iterable[tuple[Owned, bool]]:
    """What the program owns, and whether it is a parameter."""
    for spec in signature.input_specs:
        for each in (spec.parameter, spec.buffer, spec.tensor_constant):
            if each is not None:
                yield each, each is spec.parameter


def _is_float(graph: Graph, own: str) -> bool:
    meta = graph.tensor_values.get(own)
    return meta is not None and meta.dtype in DTYPES and DTYPES[meta.dtype].is_float


def _results(signature: Signature) -> list[str]:
    """The names of the tensors that the program returns."""
    found = []
    for spec in signature.output_specs:
        if spec.user_output is None:
            raise NoScript("gives new numbers of its buffers or inputs as results")
        if spec.user_output.arg.as_tensor is not None:
            found.append(spec.user_output.arg.as_tensor.name)
    return found


def _set(own: Source, *, trained: bool) -> Source:
    if trained:
        return source("self.{} = torch.nn.Parameter({})", own, own)
    return source("self.register_buffer({}, {})", quoted(own), own)


def _class(owned: list[Source], setup: list[Source], arguments: list[Source], body: list[Source]) -> Source:
    lines = [source("class Model(torch.nn.Module):")]
    if setup:
        lines += [source("    def __init__(self, {}):", joined(", ", owned)), source("        super().__init__()")]
        lines += [*(source("        {}", line) for line in setup), NOTHING]
    lines.append(source("    def forward({}):", joined(", ", [source("self"), *arguments])))
    return joined("\n", [*lines, *(source("        {}", line) for line in body)])
