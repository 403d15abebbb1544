"""A model as one case: all of its nodes, in the sizes that it has, with the numbers of the user where they are known.
Sizes that the file leaves open are open.

Trained weights of floating point are not read, as for seed cases: they are drawn, the same ones each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fuzzer.seeds import onnx_file
from fuzzer.seeds.cut import Piece, whole
from fuzzer.seeds.domains import draw_case
from fuzzer.seeds.onnx_calls import in_rows_of_onnx
from fuzzer.seeds.opened import Opened, left_open, names_in, opened_as_in_file
from fuzzer.seeds.resolve import Resolved
from fuzzer.system.terminal import number_of
from generators.case_file import MOST_PARTS
from generators.check import check
from generators.choice import NumpySource
from generators.domain import ANY
from generators.graph import Array, Case, Graph, Invalid
from generators.values import holds

MOST_NODES = 5_000
MOST_BYTES = 512 << 20
"""The most that the inputs and weights of a model may take: a run of lanes sends them to a process."""


@dataclass(frozen=True, slots=True)
class WholeModel:
    """A model of ONNX and its case. What a node without a row computes is an input of the case.

    opened  the case and which of its sizes are open; None where the file leaves no size of it open
    """

    resolved: Resolved
    case: Case
    opened: Opened | None = None

    @property
    def line(self) -> str:
        """How much of the model the case has, for people."""
        mapped, steps = self.resolved.mapped, self.resolved.steps
        lacking = self.resolved.lacking.most_common()
        why = "; ".join(f"{title} ({number_of(times, 'time')}): {why}" for (title, why), times in lacking)
        return f"{self.resolved.name}: {mapped} of {steps} nodes have a row{f'; {why}' if why else ''}"

    @property
    def left_out(self) -> str:
        """How many nodes the case does not have, for people; "" where it has all."""
        count = self.resolved.lacking.total()
        titles = dict.fromkeys(title for (title, _), _ in self.resolved.lacking.most_common())
        nodes = f"{count} of {self.resolved.steps} nodes of the file"
        return f"left out: {nodes}, without a row: {', '.join(titles)}" if count else ""

    @property
    def open_sizes(self) -> str:
        """Which sizes the file leaves open, their number, and whether lanes leave them open, in one sentence; "" where
        there are none."""
        there = left_open(self.resolved)
        return f"{self.resolved.name}: {self.opened.sentence(there)}" if self.opened and there else ""


def read(path: Path, inputs: Mapping[str, Array] = {}) -> WholeModel:
    """Read an .onnx file as one case of ONNX. `inputs` are numbers by the names of the file; those left out are drawn.

    Raise `Invalid` with one line where the file cannot be read, where no node has a row, where it has more than
    `MOST_NODES` nodes or `MOST_BYTES` bytes of inputs and weights, or where onnxruntime refuses it as invalid.
    """
    if path.suffix != ".onnx" or not path.is_file():
        raise Invalid(f"{path}: {'expected an .onnx file' if path.exists() else 'no such file'}")
    graph = onnx_file.read(path)
    require_inputs(path, inputs, graph.inputs)
    resolved = in_rows_of_onnx(graph, path, inputs)
    if why := resolved.why_no_nodes:
        raise Invalid(f"{path}: {why}")
    piece = whole(resolved.nodes, resolved.types, resolved.roles, resolved.returned, resolved.opset)
    if why := _too_large(piece.graph):
        raise Invalid(f"{path}: {why}; `fuzz import` cuts a model into cases with smaller sizes")
    if why := onnx_file.refusal_of(path):
        raise Invalid(f"{path}: onnxruntime refuses the model: {why}; nothing of it is judged until that is corrected")
    case = case_with(piece, {**resolved.constants, **inputs}, str(path), f"the model {resolved.name}")
    found = opened_as_in_file(case, piece, resolved, names_in(resolved))
    return WholeModel(resolved, found.case if found else case, found)


def _too_large(graph: Graph) -> str:
    """Why a model is no case; "" where it can be one."""
    inputs = [item.value.type for item in graph.inputs]
    size = sum(type.numel * type.dtype.numpy.itemsize for type in inputs)
    parts = max(len(inputs), sum(len(node.results) for node in graph.nodes))
    if len(graph.nodes) > MOST_NODES:
        return f"{len(graph.nodes):,} nodes are more than {MOST_NODES:,}"
    if parts > MOST_PARTS:
        return f"{parts:,} tensors or results are more than {MOST_PARTS:,}"
    return f"{size >> 20} MiB of inputs and weights are more than {MOST_BYTES >> 20}" if size > MOST_BYTES else ""


def require_inputs(path: Path, given: Mapping[str, Array], there: tuple[str, ...] | frozenset[str]) -> None:
    """Raise `Invalid` where one of the given names is no input of the model."""
    if unknown := [name for name in given if name not in there]:
        raise Invalid(f"{path}: it has no input {unknown[0]!r}; its inputs are {', '.join(sorted(there))}")


def case_with(piece: Piece, values: Mapping[str, Array], where: str, origin: str) -> Case:
    """The case of a piece. `values` are known numbers by the names of the file. Other inputs are drawn, the same ones
    each time. Raise `Invalid` where a known value has another type than the model needs."""
    known = {own: np.asarray(values[name], order="C") for own, name in piece.origins.items() if name in values}
    drawn = draw_case(NumpySource(0), piece.graph, {})
    types = piece.graph.types
    for own, array in known.items():
        wanted = types[own]
        if array.shape != wanted.sizes or array.dtype != wanted.dtype.numpy:
            raise Invalid(
                f"{where}: {piece.origins[own]} is {array.dtype}{list(array.shape)}, and the model needs {wanted}"
            )
    case = Case(_with_domains(drawn.graph, known), {**drawn.tensors, **known}, origin=origin)
    check(case)
    return case


def _with_domains(graph: Graph, known: Mapping[str, Array]) -> Graph:
    """The graph without the domains that the known values do not hold: the model defines a result for them too."""
    inputs = [
        item
        if item.value.name not in known or holds(known[item.value.name], item.domain)
        else replace(item, domain=ANY)
        for item in graph.inputs
    ]
    return replace(graph, inputs=tuple(inputs))
