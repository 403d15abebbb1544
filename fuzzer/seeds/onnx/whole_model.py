"""A model as one case: all of its nodes, in the sizes that it has, with the numbers of the user where they are known.
Sizes that the file leaves open are open.

Trained weights of floating point are only read where that is asked for. Otherwise they are drawn, as for seed cases,
the same ones each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from fuzzer.seeds.case_of_piece import case_with
from fuzzer.seeds.cut import complete
from fuzzer.seeds.onnx import file as onnx_file
from fuzzer.seeds.onnx.whole_graph import whole_file
from fuzzer.seeds.opened import Opened, left_open, names_in, opened_as_in_file
from fuzzer.seeds.own_weights import MOST_BYTES, WITH_OWN_WEIGHTS
from fuzzer.seeds.own_weights import read as weights_of
from fuzzer.seeds.resolved import Resolved
from fuzzer.seeds.sample import require_inputs
from fuzzer.system.terminal import number_of
from generators.case_file import MOST_PARTS
from generators.graph import Array, Case, Given, Graph, Invalid
from generators.onnx.schema import FIRST_KNOWN, newest_known_opset
from generators.onnx.small_types import OF_DTYPE, held, in_small_type

MOST_NODES = 5_000


@dataclass(frozen=True, slots=True)
class WholeModel:
    """A model of ONNX and its case, which has all nodes of the file.

    case    runs the file as it is, at the sizes of the inputs that are known, and at 2 where none are
    opened  the case of the graph and which of its sizes are open; None where the file leaves no size of it open
    """

    resolved: Resolved
    case: Case
    opened: Opened | None = None

    @property
    def line(self) -> str:
        """How much of the model has rows, for people."""
        mapped, steps = self.resolved.mapped, self.resolved.steps
        titles = Counter[str]()
        for (title, _), times in self.resolved.unlisted.items():
            titles[title] += times
        others = ", ".join(f"{title} ({number_of(times, 'time')})" for title, times in titles.most_common())
        rest = f"; as they are in the file: {others}" if others else ""
        return f"{self.resolved.name}: {mapped} of {steps} nodes have a row{rest}"

    @property
    def open_sizes(self) -> str:
        """Which sizes the file leaves open, their number, and whether lanes leave them open, in one sentence; "" where
        there are none."""
        there = left_open(self.resolved)
        return f"{self.resolved.name}: {self.opened.sentence(there)}" if self.opened and there else ""


def read(
    path: Path, inputs: Mapping[str, Array] = {}, sizes: Mapping[str, int] = {}, *, own_weights: bool = False
) -> WholeModel:
    """Read an .onnx file as one case of ONNX. `inputs` are numbers by the names of the file; those left out are drawn.
    `sizes` are numbers for its open sizes, by their names. With `own_weights`, all weights are those of the file.

    Raise `Invalid` with one line where the file cannot be read, where a case cannot have one of its nodes, where it has
    more than `MOST_NODES` nodes or `MOST_BYTES` bytes of inputs and weights, or where onnxruntime refuses it.
    """
    if path.suffix != ".onnx" or not path.is_file():
        raise Invalid(f"{path}: {'expected an .onnx file' if path.exists() else 'no such file'}")
    graph = onnx_file.read(path, inputs, sizes)
    require_inputs(path, inputs, graph.inputs)
    if not FIRST_KNOWN <= graph.opset <= newest_known_opset():
        raise Invalid(f"{path}: opset {graph.opset} is not within {FIRST_KNOWN} to {newest_known_opset()}")
    if why := onnx_file.refusal_of(path):
        raise Invalid(f"{path}: onnxruntime refuses the model: {why}; nothing of it is judged until that is corrected")
    given = {name: held(array) for name, array in inputs.items()}
    numbers = {**(weights_of(path) if own_weights else {}), **given}
    resolved = whole_file(graph, path, numbers)
    if not resolved.steps and not set(resolved.returned) <= resolved.roles.keys():
        raise Invalid(f"{path}: {resolved.why_no_nodes}")
    nodes, types, roles = resolved.nodes, resolved.types, resolved.roles
    piece = complete(nodes, types, roles, resolved.returned, resolved.dialect, resolved.opset, graph.inputs)
    if why := _too_large(piece.graph):
        raise Invalid(f"{path}: {why}; `fuzz import` cuts a model into cases with smaller sizes")
    origin = f"the model {resolved.name}{WITH_OWN_WEIGHTS if own_weights else ''}"
    small = {own: resolved.small[its] for own, its in {**piece.origins, **piece.made}.items() if its in resolved.small}
    case = _rounded(case_with(piece, {**resolved.constants, **numbers}, str(path), origin), small)
    found = opened_as_in_file(case, piece, resolved, names_in(resolved))
    as_it_is = Given(case.graph, graph.given, piece.origins, bool(graph.open), piece.made, small)
    return WholeModel(resolved, replace(case, given=as_it_is), found)


def _rounded(case: Case, small: Mapping[str, str]) -> Case:
    """The case with numbers that the small dtypes have, in the inputs that it holds in wider ones."""
    there = {name: OF_DTYPE[dtype] for name, dtype in small.items() if name in case.tensors}
    rounded = {name: held(in_small_type(case.tensors[name], each)) for name, each in there.items()}
    return replace(case, tensors={**case.tensors, **rounded})


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
