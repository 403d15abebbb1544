"""The record of the dialect of the toy."""

from __future__ import annotations

from collections.abc import Mapping

from generators.dialect import Dialect, Words, function_of, object_of
from generators.graph import Graph, Input, Invalid, Role, TensorType


def check(graph: Graph) -> None:
    if graph.opset:
        raise Invalid("opset: only graphs of ONNX have one")


def check_given(model: bytes) -> None:
    raise Invalid("given: a case of the toy has no given model")


def cut_given(
    model: bytes, inputs: Mapping[str, Input], outputs: Mapping[str, TensorType]
) -> tuple[bytes, tuple[str, ...]]:
    raise Invalid("given: a case of the toy has no given model")


DIALECT = Dialect(
    name="toy",
    title="Toy",
    words=Words(
        model="toy model",
        reference="PyTorch",
        run="PyTorch runs this model",
        results="PyTorch's",
        judges="PyTorch",
        eager="PyTorch",
        exporter="toy source",
        exporting="writing {ops}",
        exported="The toy has three operators: they should be written.",
    ),
    rows=object_of("generators.toy.rows:TABLE"),
    drawn=object_of("generators.toy.rows:OPS"),
    families=object_of("generators.toy.rows:FAMILIES"),
    draw=function_of("generators.toy.random_graph:draw_graph"),
    check=check,
    check_given=check_given,
    cut_given=cut_given,
    text=function_of("generators.toy.source:text"),
    called=lambda graph, node: node.op,
    source=function_of("generators.toy.source:render"),
    inputs=lambda case: case.inputs,
    network=function_of("generators.toy.random_graph:network"),
    has_layouts=False,
    is_counted=False,
    none_is_left_out=False,
    plain_percent=100,
    roles={Role.INPUT: "input", Role.PARAM: "constant", Role.BUFFER: "constant"},
)
