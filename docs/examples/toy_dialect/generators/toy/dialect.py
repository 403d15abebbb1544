"""The record of the dialect of the toy."""

from __future__ import annotations

from generators.dialect import Dialect, Words, function_of, object_of
from generators.graph import Graph, Invalid, Role


def check(graph: Graph) -> None:
    if graph.opset:
        raise Invalid("opset: only graphs of ONNX have one")


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
